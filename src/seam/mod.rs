//! What the host provides: small traits, each with the implementation that is wanted nearly always and one for tests.

mod clock;
mod hook;
mod paths;

pub use clock::{Clock, ClockUnreadable, ManualClock, SystemClock};
pub use hook::{Hook, HookAnswer, HookFailure, Proposal};
pub use paths::{AsWritten, DiskPaths, PathFailure, Paths, Real};
