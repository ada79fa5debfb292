//! Writes down what is remembered, one thing after another, so that nothing older is written over something newer.

use tokio::sync::{mpsc, oneshot};

use super::files::{self, Memory};
use crate::model::{SanitizedPath, TaskId};

enum Page {
    Memory(SanitizedPath, Option<TaskId>, Memory),
    Mark(oneshot::Sender<()>),
}

/// Writes on a thread of its own, and to the end when nobody needs it any more.
#[derive(Debug)]
pub(super) struct Scribe {
    pages: mpsc::UnboundedSender<Page>,
}

impl Scribe {
    pub(super) fn start() -> Scribe {
        let (pages, mut theirs) = mpsc::unbounded_channel();
        tokio::task::spawn_blocking(move || {
            while let Some(page) = theirs.blocking_recv() {
                match page {
                    // What cannot be written is known until the engine ends; then it counts as never run.
                    Page::Memory(dir, id, memory) => drop(files::remember(&dir, id.as_ref(), &memory)),
                    Page::Mark(mark) => drop(mark.send(())),
                }
            }
        });
        Scribe { pages }
    }

    pub(super) fn write(&self, dir: SanitizedPath, id: Option<TaskId>, memory: Memory) {
        // It is there as long as this is.
        let _ = self.pages.send(Page::Memory(dir, id, memory));
    }

    /// Done when everything so far is written.
    pub(super) fn written(&self) -> oneshot::Receiver<()> {
        let (mark, done) = oneshot::channel();
        let _ = self.pages.send(Page::Mark(mark));
        done
    }
}
