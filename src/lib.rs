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
pub use edge::config::{Always, KeepError, Kept, KeptAtFirst};
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
    Agent, Approver, Attendance, Authorization, Confinement, Connection, Engine, Error, FileFailure, Files, Heard,
    Holding, Mail, Mailbox, NoEvent, Rehearsal, Resolved, Subscription, Ticket, ToPerson,
};
pub use kernel::{
    Check, ExecScope, Explanation, ModeAbove, PermissionState, Refusal, Stage, StatedPolicies, StatedRight, StatedRule,
    StatedViolation, Step, Support, UseStep,
};
#[doc(hidden)]
pub use model::sensitive_examples;
pub use model::{
    Access, Action, ActionFacts, Actor, AgentId, AgentPolicy, Answer, ApproverId, Ask, BaseRight, CallId, CatchUp,
    Cause, Code, CommandPattern, CommandShape, Decider, Decision, DecisionId, DecisionSource, Destructive, Details,
    Digest, Doing, Effect, Ended, Envelope, Event, Field, FileIdentity, FileVersion, GateOutcome, Grant, GrantId,
    Guard, HeldChange, Hold, HookCall, HookName, Ids, Interaction, InvalidDecisionId, InvalidDigest, InvalidEnvelope,
    InvalidField, InvalidGlob, InvalidGrantId, InvalidId, InvalidLimit, InvalidMode, InvalidName, InvalidOperation,
    InvalidPath, InvalidPattern, InvalidPermission, InvalidPermissions, InvalidProcessId, InvalidReason,
    InvalidRequestId, InvalidRulingId, InvalidScope, InvalidSensitiveName, InvalidTaskId, InvalidText,
    InvalidTimestamp, InvalidTool, InvalidToolPath, InvalidVerdict, InvalidViolationId, Kind, LeftOut, Limit, Limits,
    Means, Mode, Name, OnMissing, OnNoUser, Operation, OrText, Origin, Outcome, OutputStream, OwnerId, PathGlob,
    PathPolicy, Pending, Permission, PermissionSet, Permissions, Place, Policies, Policy, PolicyPatch, Process,
    ProcessEvent, ProcessExit, ProcessId, Profile, Reach, Reads, Reason, Recorded, Reference, Reply, Request,
    RequestId, Resolution, Right, Route, Rule, RuleCwd, RuleRef, Ruled, Ruling, RulingId, RunId, RuntimeId,
    SandboxFacts, SandboxViolation, SanitizedPath, Scope, SensitiveName, Settings, Shown, Skip, Source, StopCause,
    Subject, TaskEnd, TaskEvent, TaskId, TaskKind, TaskSettings, Timestamp, Tool, ToolName, ToolPath, Tools, UseFacts,
    UseOrigin, Verdict, ViolationId, Want, Widening, sanitize,
};
pub use model::{Anchor, Floor};
pub use seam::{
    AsWritten, Batch, Clock, ClockUnreadable, DiskPaths, Hook, HookAnswer, HookFailure, ManualClock, MemoryStore,
    PathFailure, Paths, Progress, Proposal, Real, Store, StoreError, StoreFault, Stored, SystemClock, Taken,
};

/// Compiles the recipes of `docs/cookbook.md`.
#[cfg(all(doctest, feature = "config", feature = "sandbox", feature = "schedule", feature = "stdio"))]
#[doc = include_str!("../docs/cookbook.md")]
mod cookbook {}
