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
#[cfg(feature = "config")]
mod node;
mod ports;
#[cfg(feature = "sandbox")]
pub mod process;
pub mod prompt;
#[cfg(all(test, feature = "property-tests"))]
mod property_cases;
#[cfg(any(feature = "config", feature = "stdio"))]
mod quote;
#[cfg(feature = "sandbox")]
pub mod sandbox;
#[cfg(feature = "schedule")]
pub mod schedule;
mod sha256;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(any(feature = "config", feature = "stdio"))]
mod suggest;
#[cfg(feature = "config")]
mod table;
#[cfg(feature = "config")]
mod watch;

/// The attribute macro for implementations of [`host::Hook`] and the other traits with async methods.
pub use async_trait::async_trait;
/// The classifier of command lines and tool calls.
pub use bestow_command as command;
#[cfg(feature = "config")]
pub use config::PolicyFile;
pub use engine::{Agent, Approver, Engine, Error, InitialGrants};
pub use model::{
    Action, AgentId, Answer, Effect, Event, Kind, Outcome, Permission, PermissionRequest, Policy, Profile, Settings,
};

/// Actions, their uses, and what the engine returns for them.
pub mod action {
    pub use crate::engine::{Authorization, Confinement, Resolved};
    pub use crate::kernel::ExecScope;
    pub use crate::model::{
        Action, ActionFacts, CallId, CommandFingerprint, CommandPattern, CommandShape, Destructive, Details, Digest,
        InvalidDigest, InvalidOperation, InvalidPattern, LazyDigest, Operation, UseFacts, UseOrigin,
    };
}

/// Agents: their handles, modes, runs, inboxes and files.
pub mod agent {
    pub use crate::engine::{Agent, FileFailure, Files, Inbox, InitialGrants, Notification};
    pub use crate::model::{AgentId, AgentOrigin, BotCommand, InvalidId, InvalidMode, Kind, Mode, Profile, RunId};
}

/// Decisions, explanations, and decisions that people have saved.
pub mod decision {
    pub use crate::kernel::{
        Check, CredentialRefusal, Explanation, ModeAbove, PermissionState, ProvenanceStep, Refusal, Stage,
        StatedPermission, StatedPolicies, StatedRule, StatedViolation, Step, UseStep,
    };
    pub use crate::model::{
        Decider, Decision, DecisionFields, DecisionId, DecisionSource, Effect, InvalidDecisionId,
        InvalidSavedDecisionId, InvalidVerdict, Ruled, SavedDecision, SavedDecisionId, Subject, Verdict,
    };
}

/// Events, their envelope, and the values that they report.
pub mod event {
    pub use crate::engine::{NoEvent, Subscription};
    pub use crate::model::{
        BlockedAccess, CatchUp, Cause, CommandId, CredentialChange, CredentialEvent, CredentialHolder, CredentialOrder,
        Domain, Envelope, Event, FileVersion, GateOutcome, HeldChange, HookCall, Ids, InvalidCommandId, InvalidDomain,
        InvalidEnvelope, InvalidProcessId, InvalidTaskId, InvalidTimestamp, InvalidViolationId, KeyedWrite, OnMissing,
        OutputStream, Process, ProcessEvent, ProcessExit, ProcessId, Recorded, RecordedCredential, Reference,
        RuntimeId, SandboxFacts, SandboxViolation, Skip, StopCause, TaskEnd, TaskEvent, TaskId, TaskKind, Timestamp,
        ViolationId, WriteKey, camel_case,
    };
}

/// Permissions, grants, and where a permission comes from.
pub mod grant {
    pub use crate::model::{
        Access, Actor, Ended, Grant, GrantId, Hold, InvalidGrantId, InvalidPermission, InvalidPermissions,
        InvalidScope, Means, Origin, Permission, PermissionRef, PermissionSet, Permissions, PinnedPermission, Place,
        Reads, Revocation, Scope,
    };
}

/// The services that the host program provides: clock, disk paths, store and hooks.
pub mod host {
    pub use crate::fs::{Ignoring, TrackedFiles};
    pub use crate::model::HookName;
    pub use crate::ports::{
        AsWritten, Batch, Clock, ClockUnreadable, DiskPaths, Hook, HookAnswer, HookFailure, ManualClock, MemoryStore,
        PathFailure, Paths, Progress, Proposal, Real, Store, StoreError, StoreFault, Stored, StoredState, SystemClock,
        Taken,
    };
}

/// Paths, patterns of paths, and the objects at a path.
pub mod path {
    pub use crate::model::{
        Anchor, FileIdentity, InvalidGlob, InvalidPath, InvalidToolPath, PathGlob, Reach, SanitizedPath, ToolPath,
        sanitize,
    };
}

/// Policies, their rules and settings, and the file that a person writes them into.
pub mod policy {
    #[cfg(any(feature = "config", feature = "journal"))]
    pub use crate::compose::OpenError;
    #[cfg(feature = "config")]
    pub use crate::compose::PolicyChange;
    #[cfg(feature = "config")]
    pub use crate::config::{ConfigError, PolicyFile, PolicyText, Position, Problem};
    #[cfg(feature = "edit")]
    pub use crate::config::{LineEdit, PermanentDecision, PersistError, Written, WrittenAtStart};
    pub use crate::engine::DryRun;
    pub use crate::model::{
        AgentPolicy, Floor, Interaction, InvalidLimit, InvalidSensitiveName, LeftOut, Limit, Limits, OnNoUser, Policy,
        PolicyPermission, Rule, RuleCwd, RuleRef, SensitiveName, Settings, TaskSettings, Widening,
    };
    #[cfg(feature = "config")]
    pub use crate::watch::Change;
}

/// Requests for permission, and their answers.
pub mod request {
    pub use crate::engine::Ticket;
    pub use crate::model::{
        Answer, Code, InvalidRequestId, Lasting, Outcome, Pending, PermissionRequest, Reply, Request, RequestId,
        Resolution, Route,
    };
}

/// Text from outside: names, reasons, and values that a caller may give as text.
pub mod text {
    pub use crate::model::{Escaped, InvalidName, InvalidReason, InvalidText, Name, OrText, Reason};
    #[doc(hidden)]
    pub use crate::model::{InvalidDuration, is_shown_whole, parse_duration_or_bare};
    #[doc(hidden)]
    #[cfg(any(feature = "config", feature = "stdio"))]
    pub use crate::suggest::closest as closest_word;
    pub use bestow_command::StrictJson;
}

/// Declarations of tools, and the policies for the tools of a run.
pub mod tool {
    pub use bestow_command::is_session_tool;

    pub use crate::model::{
        CodingAgent, Field, InvalidField, InvalidTool, InvalidToolName, PathPolicy, PolicyPatch, Tool, ToolName,
        ToolPolicies, ToolPolicy, Tools,
    };
}

/// People: who answers, for whom, and over which connection.
pub mod user {
    pub use crate::engine::{Approver, ApproverSession, Connection, Delivery, Prompt};
    pub use crate::model::{ApproverId, OwnerId};
}

/// Compiles the recipes of `docs/cookbook.md`.
#[cfg(all(doctest, feature = "config", feature = "sandbox", feature = "schedule", feature = "stdio"))]
#[doc = include_str!("../docs/cookbook.md")]
mod cookbook {}
