//! The question at the bottom of the screen, and the text that a person types into it.

use bestow::request::RequestId;

use super::{entry::Entry, keys::Key};

/// The most characters of a field. A remark to an agent may have as many.
const LONGEST: usize = 4096;

/// A question about one request, with the text that is typed so far.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) request: RequestId,
    pub(super) code: String,
    pub(super) kind: FieldKind,
    pub(super) text: String,
}

/// The meaning of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// The words to the agent whose request is denied.
    Denial,
    /// The code of a destructive request that is allowed.
    Confirmation,
    /// The end of an approval.
    Until,
}

impl Field {
    pub(super) fn about(entry: &Entry, kind: FieldKind) -> Field {
        Field { request: entry.id(), code: entry.waiting.code.clone(), kind, text: String::new() }
    }

    /// Returns the question.
    pub(super) fn question(&self) -> String {
        let code = &self.code;
        match self.kind {
            FieldKind::Denial => format!("Deny [{code}]. Words to the agent, or nothing:"),
            FieldKind::Confirmation => format!("This cannot be undone. Type {code} to allow it once:"),
            FieldKind::Until => format!("Allow [{code}] until when? As in 30m, 4h or 2030-01-31T18:00:00Z:"),
        }
    }

    /// Changes the text by a key.
    pub(super) fn edit(&mut self, key: Key) {
        match key {
            Key::Char(c) => self.push(c),
            // A pasted line break is no answer.
            Key::Paste(text) => text.chars().for_each(|c| self.push(if c.is_control() { ' ' } else { c })),
            Key::Backspace => drop(self.text.pop()),
            Key::Clear => self.text.clear(),
            Key::Enter
            | Key::Escape
            | Key::Interrupt
            | Key::Up
            | Key::Down
            | Key::First
            | Key::Last
            | Key::PageUp
            | Key::PageDown => {}
        }
    }

    fn push(&mut self, c: char) {
        if self.text.chars().nth(LONGEST - 1).is_none() {
            self.text.push(c);
        }
    }
}
