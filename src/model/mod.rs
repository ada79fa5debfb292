//! What things are: values, parsed once. Nothing here reads a disk, a clock or the environment, waits, or decides.

mod agent;
mod event;
mod grant;
mod id;
mod identity;
mod path;
mod permission;
mod policy;
mod request;
mod sandbox;
mod secret;
mod sensitive;
mod set;
mod text;
mod time;

pub use agent::{Kind, Mode, Profile, Source};
pub use event::{Event, Recorded};
pub use grant::{Actor, Ended, Grant, Hold, InvalidScope, Means, Origin, Place, Right, Scope};
pub use id::{
    AgentId, ApproverId, Code, GrantId, InvalidGrantId, InvalidId, InvalidRequestId, OwnerId, RequestId, RunId,
};
pub use identity::FileIdentity;
pub use path::{InvalidPath, SanitizedPath, sanitize};
pub use permission::{Access, InvalidPermission, InvalidPermissions, Permission, Permissions, Want};
pub use policy::{AgentPolicy, BaseRight, Interaction, LeftOut, OnNoUser, Policy, Settings, Widening};
pub(crate) use request::Allowed;
pub use request::{Answer, Ask, Decider, Outcome, Pending, Reply, Request, Resolution, Route};
pub use sandbox::{SandboxFacts, SandboxViolation};
pub(crate) use sensitive::sensitive_part;
pub use set::{PermissionSet, Reads};
pub use text::{InvalidName, InvalidReason, Name, Reason, Shown};
pub use time::{InvalidTimestamp, Timestamp};
