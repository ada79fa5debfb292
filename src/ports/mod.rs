//! The interfaces to the host: small traits. Each has a default implementation, and one for tests.

mod clock;
#[cfg(feature = "journal")]
mod disk;
mod hook;
mod machine;
mod paths;
mod store;

pub use clock::{Clock, ClockUnreadable, ManualClock, SystemClock};
#[cfg(feature = "journal")]
pub use disk::{Disk, DiskFile, RealDisk};
pub use hook::{Hook, HookAnswer, HookFailure, Proposal};
#[cfg(feature = "sandbox")]
pub(crate) use machine::homes;
pub use paths::{AsWritten, DiskPaths, PathFailure, Paths, Real};
pub use store::{Batch, MemoryStore, Progress, Store, StoreError, StoreFault, Stored, StoredState, Taken};
