//! The judgement of a task file.

use serde::{Deserialize, Serialize};

use crate::model::FileVersion;

/// The last judgement of a task file that an agent could write earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Judged {
    /// The version of the file at that time.
    pub(super) version: FileVersion,
    /// The number of permissions to write the file that had ended before it was read.
    pub(super) ends: u64,
    /// True if the content was attributed to a person.
    pub(super) is_trusted: bool,
}
