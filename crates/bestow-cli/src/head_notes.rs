//! The notes of the head of the trail that `bestow serve` makes.

use std::sync::{Arc, Mutex, PoisonError};

use bestow::journal::{Head, HeadNote, HeadNotes, JournalError};

use crate::{args::NoteArgs, exit::Exit};

/// The places where the last note failed. Each failure is a warning on standard error, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unnoted(Arc<Mutex<Vec<JournalError>>>);

impl Unnoted {
    /// Returns the notes that the options name; none if they name no place.
    pub(crate) fn notes(&self, args: &NoteArgs) -> Option<HeadNotes> {
        let file = args.note_head.clone().map(HeadNote::File);
        let command = args.note_head_command.clone().map(HeadNote::Command);
        let places: Vec<_> = file.into_iter().chain(command).collect();
        let unnoted = self.clone();
        let report = move |note: &HeadNote, noted| unnoted.hear(note, noted);
        (!places.is_empty()).then(|| HeadNotes::new(places, args.note_head_every, report))
    }

    fn hear(&self, place: &HeadNote, noted: Result<Head, JournalError>) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|why| !matches!(why, JournalError::NotNoted { note, .. } if note == place));
        match noted {
            Ok(head) => eprintln!("bestow: the head of the trail is noted {place} again: {head}"),
            Err(why) => {
                eprintln!("bestow: {why}; the next note tries again");
                failures.push(why);
            }
        }
    }

    /// Returns the outcome of a server whose engine has ended.
    pub(crate) fn exit(&self) -> Exit {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.first() {
            Some(why) => Exit::failed(format!("at the end, {why}")),
            None => Exit::Done,
        }
    }
}
