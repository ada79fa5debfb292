//! What things are: values, parsed once. Nothing here reads a disk, a clock or the environment, waits, or decides.

mod id;
mod identity;
mod path;
mod text;

pub use id::{
    AgentId, ApproverId, Code, GrantId, InvalidGrantId, InvalidId, InvalidRequestId, OwnerId, RequestId, RunId,
};
pub use identity::FileIdentity;
pub use path::{InvalidPath, SanitizedPath, sanitize};
pub use text::{InvalidReason, Reason, Shown};
