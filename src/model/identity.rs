//! Which object a path led to, so that another one put in its place is noticed.

use serde::{Deserialize, Serialize};

/// What a file system calls one object: its device and inode.
///
/// Two paths with the same identity lead to the same object; a path whose identity changed leads to another
/// one than it did. An inode may be used again after the object is deleted, so an identity is proof of
/// difference, and of sameness only together with the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "two numbers, as stat(2) names them")]
pub struct FileIdentity {
    /// The device, `st_dev`.
    pub dev: u64,
    /// The inode on it, `st_ino`.
    pub ino: u64,
}
