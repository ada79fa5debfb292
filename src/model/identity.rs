//! Which object a path led to, so that another one put in its place is noticed.

use serde::{Deserialize, Serialize};

use super::SanitizedPath;

/// A file system's name for one object: its device and inode, and the moment of its birth.
///
/// Two paths with the same identity lead to the same object; a path whose identity changed leads to another one than it
/// did. An inode is used again soon after its object is deleted, so what tells the two apart is the moment of birth. Where
/// a file system does not tell that, an identity is proof of difference, and of sameness only together with the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileIdentity {
    /// The device, `st_dev`.
    pub dev: u64,
    /// The inode on it, `st_ino`.
    pub ino: u64,
    /// The moment of its birth (`stx_btime`): seconds and nanoseconds since 1970. None if the file system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub born: Option<(u64, u32)>,
}

impl FileIdentity {
    /// An object of which nobody tells when it was made.
    pub const fn new(dev: u64, ino: u64) -> FileIdentity {
        FileIdentity { dev, ino, born: None }
    }

    /// Adds the moment of its birth.
    #[must_use]
    pub const fn born(self, seconds: u64, nanoseconds: u32) -> FileIdentity {
        FileIdentity { born: Some((seconds, nanoseconds)), ..self }
    }

    /// True if `now` is this object, as far as it was told when this identity was noted.
    pub fn is_met_by(self, now: FileIdentity) -> bool {
        self.is_inode(now.dev, now.ino) && (self.born.is_none() || self.born == now.born)
    }

    /// True if this is that inode, whenever it was made.
    pub fn is_inode(self, dev: u64, ino: u64) -> bool {
        (self.dev, self.ino) == (dev, ino)
    }
}

/// The deepest directory that was there on the way of a path when a right to it was given, and which one it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Anchor {
    /// Its path, without links.
    pub path: SanitizedPath,
    /// The object.
    pub identity: FileIdentity,
}

impl Anchor {
    /// A directory that stands at `path`.
    pub fn new(path: SanitizedPath, identity: FileIdentity) -> Anchor {
        Anchor { path, identity }
    }
}
