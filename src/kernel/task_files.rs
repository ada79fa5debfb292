//! Files of tasks: those that an agent could write once are no tasks, until a person saved them since.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{FileVersion, SanitizedPath, SensitiveName, TaskId};

use super::{State, written::WrittenOnce};

/// The rights to write that had ended at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteEnds {
    written: WrittenOnce,
    sensitive: Arc<[SensitiveName]>,
}

impl WriteEnds {
    /// The number of those that were rights to write one of `paths`.
    pub(crate) fn of(&self, paths: &[SanitizedPath]) -> u64 {
        ends_of(&self.written, &self.sensitive, paths)
    }
}

fn ends_of(written: &WrittenOnce, sensitive: &[SensitiveName], paths: &[SanitizedPath]) -> u64 {
    paths.iter().map(|path| written.ends(path, sensitive)).fold(0, u64::saturating_add)
}

/// The last judgement about the file of a task, where an agent could write it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Judged {
    /// The file as it was then.
    version: FileVersion,
    /// The number of rights to write it that had ended before the file was looked at.
    ends: u64,
    /// Whether it was taken for a person's.
    is_trusted: bool,
}

impl State {
    /// The rights to write that have ended so far.
    pub(crate) fn write_ends(&self) -> WriteEnds {
        WriteEnds { written: self.written_once.clone(), sensitive: Arc::clone(&self.settings.sensitive) }
    }

    /// Returns true if what stands in the file of `task`, one of whose `paths` it is, may be an agent's: since the file was
    /// judged last, a right to write it has ended and the file has changed; or it was refused, and did not change.
    pub(crate) fn may_be_an_agents(&self, task: &TaskId, paths: &[SanitizedPath], version: FileVersion) -> bool {
        let ended = self.ends_of(paths);
        match self.task_files.get(task) {
            Some(judged) if judged.version == version => !judged.is_trusted,
            Some(judged) => judged.ends < ended,
            None => 0 < ended,
        }
    }

    /// Returns true if this judgement is to be remembered: an agent could write the file once, and it is not known yet.
    pub(crate) fn is_new_judgement(
        &self,
        task: &TaskId,
        paths: &[SanitizedPath],
        version: FileVersion,
        is_trusted: bool,
    ) -> bool {
        let ended = self.ends_of(paths);
        match self.task_files.get(task) {
            Some(judged) => (judged.version, judged.is_trusted) != (version, is_trusted) || judged.ends < ended,
            None => !is_trusted || 0 < ended,
        }
    }

    fn ends_of(&self, paths: &[SanitizedPath]) -> u64 {
        ends_of(&self.written_once, &self.settings.sensitive, paths)
    }

    pub(super) fn judge_task_file(&mut self, task: &TaskId, version: FileVersion, ends: u64, is_trusted: bool) {
        self.task_files.insert(task.clone(), Judged { version, ends, is_trusted });
    }
}
