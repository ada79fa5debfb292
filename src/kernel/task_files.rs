//! The trust in task files. A task in a file that an agent could write is ignored until a person saves the file again.

use std::sync::Arc;

use crate::model::{FileVersion, SanitizedPath, SensitiveName, TaskId};

use super::{State, judged::Judged, written::WrittenOnce};

/// The write permissions that had ended at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteEnds {
    written: WrittenOnce,
    sensitive: Arc<[SensitiveName]>,
}

impl WriteEnds {
    /// Returns the number of ended permissions to write one of `paths`.
    pub(crate) fn of(&self, paths: &[SanitizedPath]) -> u64 {
        ends_of(&self.written, &self.sensitive, paths)
    }
}

fn ends_of(written: &WrittenOnce, sensitive: &[SensitiveName], paths: &[SanitizedPath]) -> u64 {
    paths.iter().map(|path| written.ends(path, sensitive)).fold(0, u64::saturating_add)
}

impl State {
    /// Returns the write permissions that have ended so far.
    pub(crate) fn write_ends(&self) -> WriteEnds {
        WriteEnds { written: self.written_once.clone(), sensitive: Arc::clone(&self.settings.sensitive) }
    }

    /// Returns true if an agent may have written the file of `task`, which is reached by `paths`. This is the case if a
    /// write permission ended and the file changed since the last judgement, or if the file was rejected and has not
    /// changed.
    pub(crate) fn may_be_an_agents(&self, task: &TaskId, paths: &[SanitizedPath], version: FileVersion) -> bool {
        let ended = self.ends_of(paths);
        match self.task_files.get(task) {
            Some(judged) if judged.version == version => !judged.is_trusted,
            Some(judged) => judged.ends < ended,
            None => 0 < ended,
        }
    }

    /// Returns true if this judgement is new and has to be recorded. Only files that an agent could write are recorded.
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
