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

#[cfg(feature = "sandbox")]
pub use edge::sandbox;
#[cfg(feature = "stdio")]
pub use edge::stdio;
#[cfg(feature = "config")]
pub use edge::{
    PolicyChange,
    config::{ConfigError, PolicyFile, PolicyText, Position, Problem},
    open::OpenError,
    watch::Change,
};
pub use engine::{
    Agent, Approver, Attendance, Authorization, Connection, Engine, Error, FileFailure, Files, Heard, Holding, Mail,
    Mailbox, NoEvent, Rehearsal, Resolved, Subscription, Ticket, ToPerson,
};
pub use kernel::{Check, ExecScope, Explanation, Refusal, Stage, Step, Support};
pub use model::{
    Access, Action, ActionFacts, Actor, AgentId, AgentPolicy, Answer, ApproverId, Ask, BaseRight, CallId, Cause, Code,
    CommandPattern, CommandShape, Decider, Decision, DecisionId, DecisionSource, Destructive, Digest, Ended, Envelope,
    Event, FileIdentity, Grant, GrantId, Guard, Hold, HookCall, HookName, Ids, Interaction, InvalidDecisionId,
    InvalidDigest, InvalidEnvelope, InvalidGlob, InvalidGrantId, InvalidId, InvalidName, InvalidOperation, InvalidPath,
    InvalidPattern, InvalidPermission, InvalidPermissions, InvalidReason, InvalidRequestId, InvalidRulingId,
    InvalidScope, InvalidSensitiveName, InvalidTimestamp, InvalidVerdict, Kind, LeftOut, Means, Mode, Name, OnNoUser,
    Operation, Origin, Outcome, OwnerId, PathGlob, PathPolicy, Pending, Permission, PermissionSet, Permissions, Place,
    Policies, Policy, PolicyPatch, Profile, Reach, Reads, Reason, Recorded, Reference, Reply, Request, RequestId,
    Resolution, Right, Route, Rule, RuleRef, Ruled, Ruling, RulingId, RunId, RuntimeId, SandboxFacts, SandboxViolation,
    SanitizedPath, Scope, SensitiveName, Settings, Shown, Source, Spoken, SpokenPart, Subject, Timestamp, ToolName,
    Verdict, Want, Widening, sanitize,
};
pub use seam::{
    AsWritten, Clock, ClockUnreadable, DiskPaths, Hook, HookAnswer, HookFailure, ManualClock, PathFailure, Paths,
    Proposal, Real, SystemClock,
};
