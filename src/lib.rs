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
    Agent, Approver, Attendance, Connection, Engine, Error, FileFailure, Files, Heard, Holding, Mail, Mailbox, NoEvent,
    Resolved, Subscription, Ticket, ToPerson,
};
pub use kernel::{Check, ExecScope, Refusal, Support};
pub use model::{
    Access, Actor, AgentId, AgentPolicy, Answer, ApproverId, Ask, BaseRight, Code, Decider, Ended, Event, FileIdentity,
    Grant, GrantId, Hold, Interaction, InvalidGrantId, InvalidId, InvalidName, InvalidPath, InvalidPermission,
    InvalidPermissions, InvalidReason, InvalidRequestId, InvalidScope, InvalidTimestamp, Kind, LeftOut, Means, Mode,
    Name, OnNoUser, Origin, Outcome, OwnerId, Pending, Permission, PermissionSet, Permissions, Place, Policy, Profile,
    Reads, Reason, Recorded, Reply, Request, RequestId, Resolution, Right, Route, RunId, SandboxFacts,
    SandboxViolation, SanitizedPath, Scope, Settings, Shown, Source, Timestamp, Want, Widening, sanitize,
};
pub use seam::{
    AsWritten, Batch, Clock, ClockUnreadable, DiskPaths, ManualClock, MemoryStore, PathFailure, Paths, Progress, Real,
    Store, StoreError, StoreFault, Stored, SystemClock, Taken,
};
