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

/// Stands before the implementations of [`Hook`] and the other seams.
pub use async_trait::async_trait;
#[cfg(any(feature = "config", feature = "journal"))]
pub use edge::OpenError;
#[cfg(feature = "edit")]
pub use edge::config::{Always, KeepError, Kept, KeptAtFirst};
#[cfg(feature = "sandbox")]
pub use edge::sandbox;
#[cfg(feature = "schedule")]
pub use edge::schedule;
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
    Mailbox, NoEvent, Rehearsal, Resolved, Subscription, Ticket, ToPerson,
};
pub use kernel::{Check, ExecScope, Explanation, Refusal, Stage, Step, Support, UseStep};
pub use model::{
    Access, Action, ActionFacts, Actor, AgentId, AgentPolicy, Answer, ApproverId, Ask, BaseRight, CallId, CatchUp,
    Cause, Code, CommandPattern, CommandShape, Decider, Decision, DecisionId, DecisionSource, Destructive, Digest,
    Doing, Ended, Envelope, Event, Field, FileIdentity, GateOutcome, Grant, GrantId, Guard, HeldChange, Hold, HookCall,
    HookName, Ids, Interaction, InvalidDecisionId, InvalidDigest, InvalidEnvelope, InvalidField, InvalidGlob,
    InvalidGrantId, InvalidId, InvalidName, InvalidOperation, InvalidPath, InvalidPattern, InvalidPermission,
    InvalidPermissions, InvalidReason, InvalidRequestId, InvalidRulingId, InvalidScope, InvalidSensitiveName,
    InvalidTaskId, InvalidTimestamp, InvalidTool, InvalidToolPath, InvalidVerdict, Kind, LeftOut, Means, Mode, Name,
    OnMissing, OnNoUser, Operation, Origin, Outcome, OwnerId, PathGlob, PathPolicy, Pending, Permission, PermissionSet,
    Permissions, Place, Policies, Policy, PolicyPatch, Profile, Reach, Reads, Reason, Recorded, Reference, Reply,
    Request, RequestId, Resolution, Right, Route, Rule, RuleCwd, RuleRef, Ruled, Ruling, RulingId, RunId, RuntimeId,
    SandboxFacts, SandboxViolation, SanitizedPath, Scope, SensitiveName, Settings, Shown, Skip, Source, Subject,
    TaskEnd, TaskEvent, TaskId, TaskKind, TaskSettings, Timestamp, Tool, ToolName, ToolPath, Tools, UseFacts,
    UseOrigin, Verdict, Want, Widening, sanitize,
};
pub use seam::{
    AsWritten, Batch, Clock, ClockUnreadable, DiskPaths, Hook, HookAnswer, HookFailure, ManualClock, MemoryStore,
    PathFailure, Paths, Progress, Proposal, Real, Store, StoreError, StoreFault, Stored, SystemClock, Taken,
};
