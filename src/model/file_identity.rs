//! Identities of files. They reveal that another object replaced the one at a path.

use serde::{Deserialize, Serialize};

use super::SanitizedPath;

/// The identity of one object on a file system: its device, its inode, and its creation time.
///
/// Two paths with one identity lead to one object. If the identity of a path changed, the path leads to another object.
/// An inode number is reused soon after its object is deleted. The creation time then distinguishes both objects. Some
/// file systems do not record the creation time. There, different identities prove different objects. Equal identities
/// prove one object only together with an equal path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileIdentity {
    /// The device, `st_dev`.
    pub dev: u64,
    /// The inode number on this device, `st_ino`.
    pub ino: u64,
    /// The creation time (`stx_btime`): seconds and nanoseconds since 1970. None if the file system does not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub born: Option<(u64, u32)>,
}

impl FileIdentity {
    /// Creates an identity without a creation time.
    pub const fn new(dev: u64, ino: u64) -> FileIdentity {
        FileIdentity { dev, ino, born: None }
    }

    /// Adds the creation time.
    #[must_use]
    pub const fn born(self, seconds: u64, nanoseconds: u32) -> FileIdentity {
        FileIdentity { born: Some((seconds, nanoseconds)), ..self }
    }

    /// Returns true if `now` is this object, as far as the recorded facts show.
    pub fn is_met_by(self, now: FileIdentity) -> bool {
        self.is_inode(now.dev, now.ino) && (self.born.is_none() || self.born == now.born)
    }

    /// Returns true if this is the given inode, independent of its creation time.
    pub fn is_inode(self, dev: u64, ino: u64) -> bool {
        (self.dev, self.ino) == (dev, ino)
    }
}

/// The deepest existing directory above a path at the time of the grant, and its identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Anchor {
    /// The canonical path of the directory.
    pub path: SanitizedPath,
    /// The identity of the directory.
    pub identity: FileIdentity,
}

impl Anchor {
    /// Creates an anchor for the directory at `path`.
    pub fn new(path: SanitizedPath, identity: FileIdentity) -> Anchor {
        Anchor { path, identity }
    }
}
