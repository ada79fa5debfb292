//! The habit of noting the head: when an engine begins, on a timer, and at its end.

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{HeadNote, JournalError, hash_chain::Head, queue::Queue};
use crate::model::SanitizedPath;

/// The notes of the head that an engine makes.
#[derive(Clone)]
pub struct HeadNotes {
    notes: Vec<HeadNote>,
    every: Duration,
    report: Arc<Report>,
}

/// A receiver of the first failure at a place, and of the first note after it.
type Report = dyn Fn(&HeadNote, Result<Head, JournalError>) + Send + Sync;

impl fmt::Debug for HeadNotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadNotes").field("notes", &self.notes).field("every", &self.every).finish_non_exhaustive()
    }
}

impl HeadNotes {
    /// Creates notes that are written when the engine begins, after each `every` in which an event was stored, and at
    /// the end.
    ///
    /// `report` receives each place with a new failure, and with the first head that was noted after it. It is called
    /// on a thread of its own. The engine goes on after a failure, and the next note tries again.
    pub fn new(
        notes: impl IntoIterator<Item = HeadNote>,
        every: Duration,
        report: impl Fn(&HeadNote, Result<Head, JournalError>) + Send + Sync + 'static,
    ) -> HeadNotes {
        HeadNotes { notes: notes.into_iter().collect(), every, report: Arc::new(report) }
    }

    /// Returns the real paths of the notes that are files.
    pub(crate) fn real_files(&self) -> Result<Vec<SanitizedPath>, JournalError> {
        self.notes.iter().filter_map(|note| note.real_file().transpose()).collect()
    }

    /// Iterates over the places.
    pub fn places(&self) -> impl Iterator<Item = &HeadNote> {
        self.notes.iter()
    }
}

/// The thread that notes the head.
#[derive(Debug)]
pub(super) struct Noter {
    ending: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

impl Noter {
    /// Starts to note the head of the journal with this queue.
    pub(super) fn start(notes: HeadNotes, queue: Arc<Queue>) -> std::io::Result<Noter> {
        let ending: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let ends = Arc::clone(&ending);
        let run = move || {
            let mut places: Vec<_> = notes.notes.iter().map(Noted::nothing).collect();
            loop {
                let is_last = *ends.0.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(head) = queue.head() {
                    places.iter_mut().for_each(|place| place.note(head, &*notes.report));
                }
                if is_last {
                    return;
                }
                let waiting = ends.0.lock().unwrap_or_else(PoisonError::into_inner);
                let goes_on = |is_ending: &mut bool| !*is_ending;
                drop(ends.1.wait_timeout_while(waiting, notes.every, goes_on));
            }
        };
        let thread = thread::Builder::new().name("bestow-head".to_owned()).spawn(run)?;
        Ok(Noter { ending, thread })
    }

    /// Notes the last head, and ends the thread.
    pub(super) fn end(self) {
        *self.ending.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ending.1.notify_all();
        // The report may drop the last handle of the journal on the thread itself.
        if self.thread.thread().id() != thread::current().id() {
            // The runtime has already reported a panic of the report.
            let _ = self.thread.join();
        }
    }
}

/// One place, and what was noted there.
struct Noted<'n> {
    note: &'n HeadNote,
    last: Option<Head>,
    failure: Option<JournalError>,
}

impl<'n> Noted<'n> {
    fn nothing(note: &'n HeadNote) -> Noted<'n> {
        Noted { note, last: None, failure: None }
    }

    fn note(&mut self, head: Head, report: &Report) {
        if self.last == Some(head) {
            return;
        }
        match self.note.write(head) {
            Ok(()) => {
                self.last = Some(head);
                if self.failure.take().is_some() {
                    report(self.note, Ok(head));
                }
            }
            Err(why) => {
                if self.failure.replace(why.clone()).as_ref() != Some(&why) {
                    report(self.note, Err(why));
                }
            }
        }
    }
}
