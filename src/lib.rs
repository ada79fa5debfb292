#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod compose;
#[cfg(feature = "config")]
mod config;
#[cfg(feature = "journal")]
pub mod control;
mod engine;
pub mod fs;
#[cfg(feature = "journal")]
pub mod journal;
mod kernel;
mod model;
mod ports;
#[cfg(feature = "sandbox")]
pub mod process;
pub mod prompt;
#[cfg(feature = "sandbox")]
pub mod sandbox;
#[cfg(feature = "schedule")]
pub mod schedule;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(feature = "config")]
mod watch;

/// The attribute macro for implementations of [`Hook`] and the other traits with async methods.
pub use async_trait::async_trait;
/// The classifier of command lines and tool calls.
pub use bestow_command as command;
#[cfg(any(feature = "config", feature = "journal"))]
pub use compose::OpenError;
#[cfg(feature = "config")]
pub use compose::PolicyChange;
#[cfg(feature = "config")]
pub use config::{ConfigError, PolicyFile, PolicyText, Position, Problem};
#[cfg(feature = "edit")]
pub use config::{PermanentDecision, PersistError, Written, WrittenAtStart};
pub use engine::{
    Agent, Approver, ApproverSession, Authorization, Confinement, Connection, Delivery, DryRun, Engine, Error,
    FileFailure, Files, Inbox, InitialGrants, NoEvent, Notification, Prompt, Resolved, Subscription, Ticket,
};
pub use kernel::{
    Check, ExecScope, Explanation, ModeAbove, PermissionState, ProvenanceStep, Refusal, Stage, StatedPolicies,
    StatedRight, StatedRule, StatedViolation, Step, UseStep,
};
#[doc(hidden)]
pub use model::sensitive_examples;
pub use model::{
    Access, Action, ActionFacts, Actor, AgentId, AgentOrigin, AgentPolicy, Answer, ApproverId, BaseRight, CallId,
    CatchUp, Cause, Code, CommandFingerprint, CommandPattern, CommandShape, Decider, Decision, DecisionId,
    DecisionSource, Destructive, Details, Digest, Effect, Ended, Envelope, Escaped, Event, Field, FileIdentity,
    FileVersion, GateOutcome, Grant, GrantId, HeldChange, Hold, HookCall, HookName, Ids, Interaction,
    InvalidDecisionId, InvalidDigest, InvalidEnvelope, InvalidField, InvalidGlob, InvalidGrantId, InvalidId,
    InvalidLimit, InvalidMode, InvalidName, InvalidOperation, InvalidPath, InvalidPattern, InvalidPermission,
    InvalidPermissions, InvalidProcessId, InvalidReason, InvalidRequestId, InvalidSavedDecisionId, InvalidScope,
    InvalidSensitiveName, InvalidTaskId, InvalidText, InvalidTimestamp, InvalidTool, InvalidToolName, InvalidToolPath,
    InvalidVerdict, InvalidViolationId, Kind, LeftOut, Limit, Limits, Means, Mode, Name, OnMissing, OnNoUser,
    Operation, OrText, Origin, Outcome, OutputStream, OwnerId, PathGlob, PathPolicy, Pending, Permission,
    PermissionRef, PermissionRequest, PermissionSet, Permissions, Place, Policy, PolicyPatch, Process, ProcessEvent,
    ProcessExit, ProcessId, Profile, Reach, Reads, Reason, Recorded, Reference, Reply, Request, RequestId, Resolution,
    Right, Route, Rule, RuleCwd, RuleRef, Ruled, RunId, RuntimeId, SandboxFacts, SandboxViolation, SanitizedPath,
    SavedDecision, SavedDecisionId, Scope, SensitiveName, Settings, Skip, StopCause, Subject, TaskEnd, TaskEvent,
    TaskId, TaskKind, TaskSettings, Timestamp, Tool, ToolName, ToolPath, ToolPolicies, ToolPolicy, Tools, UseFacts,
    UseOrigin, Verdict, ViolationId, Widening, sanitize,
};
pub use model::{Anchor, Floor};
pub use ports::{
    AsWritten, Batch, Clock, ClockUnreadable, DiskPaths, Hook, HookAnswer, HookFailure, ManualClock, MemoryStore,
    PathFailure, Paths, Progress, Proposal, Real, Store, StoreError, StoreFault, Stored, SystemClock, Taken,
};

/// Compiles the recipes of `docs/cookbook.md`.
#[cfg(all(doctest, feature = "config", feature = "sandbox", feature = "schedule", feature = "stdio"))]
#[doc = include_str!("../docs/cookbook.md")]
mod cookbook {}
#[cfg(feature = "config")]
pub use watch::Change;
