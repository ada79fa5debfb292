//! Files of tasks: those that an agent could write once are no tasks, until a person saved them since.

use serde::{Deserialize, Serialize};

use crate::model::{FileVersion, SanitizedPath, TaskId};

use super::State;

/// The last judgement about the file of a task, where an agent could write it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Judged {
    /// The file as it was then.
    version: FileVersion,
    /// The number of rights to write that had ended before the file was looked at.
    ends: u64,
    /// Whether it was taken for a person's.
    is_trusted: bool,
}

impl State {
    /// The number of rights to write that have ended so far.
    pub(crate) fn write_ends(&self) -> u64 {
        self.written_once.ends()
    }

    /// Returns true if what stands in the file of `task`, one of whose `paths` it is, may be an agent's: since the file was
    /// judged last, a right to write it has ended and the file has changed; or it was refused, and did not change.
    pub(crate) fn may_be_an_agents(&self, task: &TaskId, paths: &[SanitizedPath], version: FileVersion) -> bool {
        let ended = self.last_end(paths);
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
        let ended = self.last_end(paths);
        match self.task_files.get(task) {
            Some(judged) => (judged.version, judged.is_trusted) != (version, is_trusted) || judged.ends < ended,
            None => !is_trusted || 0 < ended,
        }
    }

    /// The number of the last end of a right to write one of `paths`; zero if there was none.
    fn last_end(&self, paths: &[SanitizedPath]) -> u64 {
        let ends = paths.iter().map(|path| self.written_once.last_end(path, &self.settings.sensitive));
        ends.max().unwrap_or_default()
    }

    pub(super) fn judge_task_file(&mut self, task: &TaskId, version: FileVersion, ends: u64, is_trusted: bool) {
        self.task_files.insert(task.clone(), Judged { version, ends, is_trusted });
    }
}
