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
    /// The words to the agent whose request is allowed.
    Words,
    /// The numbers of the permissions that are given.
    Part,
    /// The command to allow instead.
    Change,
}

impl Field {
    pub(super) fn about(entry: &Entry, kind: FieldKind) -> Field {
        Field { request: entry.id(), code: entry.waiting.code.clone(), kind, text: before(entry, kind) }
    }

    /// Returns the question.
    pub(super) fn question(&self) -> String {
        let code = &self.code;
        match self.kind {
            FieldKind::Denial => format!("Deny [{code}]. Words to the agent, or nothing:"),
            FieldKind::Confirmation => format!("This cannot be undone. Type {code} to allow it once:"),
            FieldKind::Words => format!("Words to the agent if [{code}] is allowed, or nothing:"),
            FieldKind::Part => format!("Which permissions of [{code}]? Numbers as in 1 3, or nothing for all:"),
            FieldKind::Change => "The command to allow instead:".to_owned(),
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

/// Returns the text that is in a field at first.
fn before(entry: &Entry, kind: FieldKind) -> String {
    match kind {
        FieldKind::Words => entry.words.as_ref().map(ToString::to_string).unwrap_or_default(),
        FieldKind::Change => match (&entry.change, &entry.request().action) {
            (Some(change), _) => change.command.clone(),
            (None, Some(action)) => action.resource.to_string(),
            (None, None) => String::new(),
        },
        FieldKind::Denial | FieldKind::Confirmation | FieldKind::Until | FieldKind::Part => String::new(),
    }
}
