//! Writes down what is remembered, one thing after another, so that nothing older is written over something newer.

use std::collections::BTreeMap;

use tokio::sync::{mpsc, oneshot};

use super::files::{self, Memory};
use crate::{
    engine::WeakEngine,
    model::{SanitizedPath, TaskEvent, TaskId},
};

enum Page {
    Memory(SanitizedPath, Option<TaskId>, Memory),
    Mark(oneshot::Sender<()>),
}

/// How many pages are looked at together: of those about one task, only the last is written.
const TOGETHER: usize = 64;

/// Writes on a thread of its own, and to the end when nobody needs it any more.
#[derive(Debug)]
pub(super) struct Scribe {
    pages: mpsc::UnboundedSender<Page>,
}

impl Scribe {
    pub(super) fn start(engine: WeakEngine) -> Scribe {
        let (pages, mut theirs) = mpsc::unbounded_channel();
        tokio::task::spawn_blocking(move || {
            let (mut together, mut trouble) = (Vec::new(), None);
            while 0 < theirs.blocking_recv_many(&mut together, TOGETHER) {
                let (mut last, mut marks) = (BTreeMap::new(), Vec::new());
                for page in together.drain(..) {
                    match page {
                        Page::Memory(dir, id, memory) => drop(last.insert((dir, id), memory)),
                        Page::Mark(mark) => marks.push(mark),
                    }
                }
                // Where nothing was to be written, nothing is known of the trouble.
                let mut failed = if last.is_empty() { trouble.clone() } else { None };
                for ((dir, id), memory) in last {
                    failed = files::remember(&dir, id.as_ref(), &memory).err().or(failed);
                }
                tell(&engine, &mut trouble, failed);
                // Whoever waited may have gone.
                for mark in marks {
                    let _: Result<(), ()> = mark.send(());
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

/// Once for each trouble, not for each page.
fn tell(engine: &WeakEngine, before: &mut Option<String>, failed: Option<String>) {
    if let Some(why) = &failed
        && before.as_ref() != Some(why)
        && let Some(engine) = engine.upgrade()
    {
        let why = format!("what ran could not be written down, and would run again after a restart: {why}");
        // Fails only if the engine ends.
        let _ = engine.tell_task(TaskEvent::Trouble { why: why.into() });
    }
    *before = failed;
}
