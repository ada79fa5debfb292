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

/// The attribute macro for implementations of [`Hook`] and the other traits with async methods.
pub use async_trait::async_trait;
#[cfg(any(feature = "config", feature = "journal"))]
pub use edge::OpenError;
#[cfg(feature = "edit")]
pub use edge::config::{PermanentDecision, PersistError, Written, WrittenAtStart};
pub use edge::prompt;
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
#[cfg(feature = "sandbox")]
pub use edge::{process, sandbox};
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
    InvalidSensitiveName, InvalidTaskId, InvalidTimestamp, InvalidTool, InvalidToolPath, InvalidVerdict,
    InvalidViolationId, Kind, LeftOut, Limit, Limits, Means, Mode, Name, OnMissing, OnNoUser, Operation, Origin,
    Outcome, OutputStream, OwnerId, PathGlob, PathPolicy, Pending, Permission, PermissionRef, PermissionRequest,
    PermissionSet, Permissions, Place, Policy, PolicyPatch, Process, ProcessEvent, ProcessExit, ProcessId, Profile,
    Reach, Reads, Reason, Recorded, Reference, Reply, Request, RequestId, Resolution, Right, Route, Rule, RuleCwd,
    RuleRef, Ruled, RunId, RuntimeId, SandboxFacts, SandboxViolation, SanitizedPath, SavedDecision, SavedDecisionId,
    Scope, SensitiveName, Settings, Skip, StopCause, Subject, TaskEnd, TaskEvent, TaskId, TaskKind, TaskSettings,
    Timestamp, Tool, ToolName, ToolPath, ToolPolicies, ToolPolicy, Tools, UseFacts, UseOrigin, Verdict, ViolationId,
    Widening, sanitize,
};
pub use model::{Anchor, Floor};
pub use seam::{
    AsWritten, Batch, Clock, ClockUnreadable, DiskPaths, Hook, HookAnswer, HookFailure, ManualClock, MemoryStore,
    PathFailure, Paths, Progress, Proposal, Real, Store, StoreError, StoreFault, Stored, SystemClock, Taken,
};
