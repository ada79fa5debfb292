#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod command;
mod edge;
mod engine;
pub mod fs;
mod kernel;
mod model;
mod seam;

#[cfg(any(feature = "config", feature = "journal"))]
pub use edge::OpenError;
#[cfg(feature = "sandbox")]
pub use edge::sandbox;
#[cfg(feature = "stdio")]
pub use edge::stdio;
#[cfg(feature = "config")]
pub use edge::{
    PolicyChange,
    config::{ConfigError, PolicyFile, PolicyText, Position, Problem},
    watch::Change,
};
#[cfg(feature = "journal")]
pub use edge::{control, journal};
pub use engine::{
    Agent, Approver, Attendance, Authorization, Connection, Engine, Error, FileFailure, Files, Heard, Holding, Mail,
    Mailbox, NoEvent, Resolved, Subscription, Ticket, ToPerson,
};
pub use kernel::{Check, ExecScope, Explanation, Refusal, Stage, Step, Support};
pub use model::{
    Access, Action, ActionFacts, Actor, AgentId, AgentPolicy, Answer, ApproverId, Ask, BaseRight, CallId, Code,
    CommandPattern, CommandShape, Decider, Decision, DecisionId, DecisionSource, Destructive, Digest, Ended, Event,
    FileIdentity, Grant, GrantId, Hold, Interaction, InvalidDecisionId, InvalidDigest, InvalidGlob, InvalidGrantId,
    InvalidId, InvalidName, InvalidOperation, InvalidPath, InvalidPattern, InvalidPermission, InvalidPermissions,
    InvalidReason, InvalidRequestId, InvalidRulingId, InvalidScope, InvalidSensitiveName, InvalidTimestamp,
    InvalidVerdict, Kind, LeftOut, Means, Mode, Name, OnNoUser, Operation, Origin, Outcome, OwnerId, PathGlob, Pending,
    Permission, PermissionSet, Permissions, Place, Policy, Profile, Reach, Reads, Reason, Recorded, Reply, Request,
    RequestId, Resolution, Right, Route, Rule, RuleRef, Ruled, Ruling, RulingId, RunId, SandboxFacts, SandboxViolation,
    SanitizedPath, Scope, SensitiveName, Settings, Shown, Source, Spoken, SpokenPart, Subject, Timestamp, ToolName,
    Verdict, Want, Widening, sanitize,
};
pub use seam::{
    AsWritten, Batch, Clock, ClockUnreadable, DiskPaths, ManualClock, MemoryStore, PathFailure, Paths, Progress, Real,
    Store, StoreError, StoreFault, Stored, SystemClock, Taken,
};
