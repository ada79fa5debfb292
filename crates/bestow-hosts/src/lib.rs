#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod acp;
mod answer;
mod book;
mod call;
mod failure;
pub mod hooks;
mod id;
mod judge;
mod member;
mod passing_on;
mod place;
mod sessions;
mod waits;

pub use answer::{answered, approver_remark, somebody_is_there};
pub use call::{Answer, Call, Caller, Sessions, Subagent, Unanswered};
pub use failure::Failure;
pub use id::{InvalidHostId, SessionId, SubagentId};
pub use judge::{Desk, Judged, judged};
pub use member::Member;
pub use sessions::OwnSessions;
pub use waits::Withdrawal;
