//! The content of a policy file.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use super::{Baseline, file_location::PolicyLocation};

/// The content of a policy file when it was read, not parsed yet.
///
/// Two texts are equal if they hold the same bytes and were found at the same real location through the same links:
/// when a link is changed to another directory, the same relative paths name other files.
#[derive(Clone)]
pub struct PolicyText {
    pub(super) file: Arc<str>,
    pub(super) home: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    pub(super) ground: PolicyLocation,
    /// The baseline of the first parse.
    pub(super) meant: OnceLock<Baseline>,
}

impl PartialEq for PolicyText {
    fn eq(&self, other: &PolicyText) -> bool {
        let (one, two) = (&self.ground.trail, &other.ground.trail);
        self.bytes == other.bytes && one.real == two.real && one.links == two.links
    }
}

impl Eq for PolicyText {}

impl fmt::Debug for PolicyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyText({}, {} bytes)", self.file, self.bytes.len())
    }
}

impl PolicyText {
    /// Returns the text, for people.
    pub(crate) fn as_text(&self) -> Arc<str> {
        String::from_utf8_lossy(&self.bytes).into()
    }
}
