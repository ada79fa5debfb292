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
#[cfg(feature = "schedule")]
pub use edge::schedule;
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
    Agent, Approver, Attendance, Connection, Engine, Error, FileFailure, Files, Heard, Holding, Mail, Mailbox, NoEvent,
    Resolved, Subscription, Ticket, ToPerson,
};
pub use kernel::{Check, ExecScope, Refusal, Support};
pub use model::{
    Access, Actor, AgentId, AgentPolicy, Answer, ApproverId, Ask, BaseRight, CatchUp, Code, Decider, Ended, Event,
    FileIdentity, GateOutcome, Grant, GrantId, Hold, Interaction, InvalidGrantId, InvalidId, InvalidName, InvalidPath,
    InvalidPermission, InvalidPermissions, InvalidReason, InvalidRequestId, InvalidScope, InvalidTaskId,
    InvalidTimestamp, Kind, LeftOut, Means, Mode, Name, OnMissing, OnNoUser, Origin, Outcome, OwnerId, Pending,
    Permission, PermissionSet, Permissions, Place, Policy, Profile, Reads, Reason, Recorded, Reply, Request, RequestId,
    Resolution, Right, Route, RunId, SandboxFacts, SandboxViolation, SanitizedPath, Scope, Settings, Shown, Skip,
    Source, TaskEnd, TaskEvent, TaskId, TaskKind, TaskSettings, Timestamp, Want, Widening, sanitize,
};
pub use seam::{AsWritten, Clock, ClockUnreadable, DiskPaths, ManualClock, PathFailure, Paths, Real, SystemClock};
