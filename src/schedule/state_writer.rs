//! The writer of task states. It writes them one after another, so that an older state never replaces a newer one.

use std::collections::BTreeMap;

use tokio::sync::{mpsc, oneshot};

use super::files::{self, Memory};
use crate::{
    engine::WeakEngine,
    model::{SanitizedPath, TaskEvent, TaskId},
};

enum Job {
    Memory(SanitizedPath, Option<TaskId>, Memory),
    Mark(oneshot::Sender<()>),
}

/// The most messages that are handled together. Of several states of one task, only the last is written.
const TOGETHER: usize = 64;

/// The handle of the writer. The writer runs on its own thread, and finishes its queue after the handle is dropped.
#[derive(Debug)]
pub(super) struct StateWriter {
    pages: mpsc::UnboundedSender<Job>,
}

impl StateWriter {
    pub(super) fn start(engine: WeakEngine) -> StateWriter {
        let (pages, mut theirs) = mpsc::unbounded_channel();
        tokio::task::spawn_blocking(move || {
            let (mut together, mut trouble) = (Vec::new(), None);
            while 0 < theirs.blocking_recv_many(&mut together, TOGETHER) {
                let (mut last, mut marks) = (BTreeMap::new(), Vec::new());
                for page in together.drain(..) {
                    match page {
                        Job::Memory(dir, id, memory) => drop(last.insert((dir, id), memory)),
                        Job::Mark(mark) => marks.push(mark),
                    }
                }
                // If no state was written, an earlier error may still be there.
                let mut failed = if last.is_empty() { trouble.clone() } else { None };
                for ((dir, id), memory) in last {
                    failed = files::remember(&dir, id.as_ref(), &memory).err().or(failed);
                }
                tell(&engine, &mut trouble, failed);
                // The receiver may be gone.
                for mark in marks {
                    let _: Result<(), ()> = mark.send(());
                }
            }
        });
        StateWriter { pages }
    }

    pub(super) fn write(&self, dir: SanitizedPath, id: Option<TaskId>, memory: Memory) {
        // The thread lives as long as this handle.
        let _ = self.pages.send(Job::Memory(dir, id, memory));
    }

    /// Returns a receiver that resolves when everything queued so far is written.
    pub(super) fn written(&self) -> oneshot::Receiver<()> {
        let (mark, done) = oneshot::channel();
        let _ = self.pages.send(Job::Mark(mark));
        done
    }
}

/// Reports each new error once, and not for every state.
fn tell(engine: &WeakEngine, before: &mut Option<String>, failed: Option<String>) {
    if let Some(why) = &failed
        && before.as_ref() != Some(why)
        && let Some(engine) = engine.upgrade()
    {
        let why = format!("the record of the runs could not be stored, so tasks may run again after a restart: {why}");
        // This fails only if the engine ends.
        let _ = engine.tell_task(TaskEvent::Trouble { why: why.into() });
    }
    *before = failed;
}
