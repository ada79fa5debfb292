#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod acp;
mod call;
mod failure;
pub mod hooks;
mod id;

pub use call::{Answer, Call, Caller, Sessions, Subagent, Unanswered};
pub use failure::Failure;
pub use id::{InvalidHostId, SessionId, SubagentId};
