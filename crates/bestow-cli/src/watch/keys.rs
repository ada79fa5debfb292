//! Keys and pasted text, as the screen understands them.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// One thing that a person did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    /// Empties the field.
    Clear,
    Up,
    Down,
    First,
    Last,
    PageUp,
    PageDown,
    /// Control-C.
    Interrupt,
    /// Text from the clipboard. It is never a key.
    Paste(String),
}

/// Returns the key of an event, if it is one.
pub(super) fn key(event: Event) -> Option<Key> {
    match event {
        Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press | KeyEventKind::Repeat, .. }) => {
            of_code(code, modifiers)
        }
        Event::Paste(text) => Some(Key::Paste(text)),
        Event::Key(_) | Event::Resize(..) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}

/// The keys that are no characters.
const NAMED: [(KeyCode, Key); 9] = [
    (KeyCode::Enter, Key::Enter),
    (KeyCode::Esc, Key::Escape),
    (KeyCode::Backspace, Key::Backspace),
    (KeyCode::Up, Key::Up),
    (KeyCode::Down, Key::Down),
    (KeyCode::Home, Key::First),
    (KeyCode::End, Key::Last),
    (KeyCode::PageUp, Key::PageUp),
    (KeyCode::PageDown, Key::PageDown),
];

/// The keys that are pressed together with Control.
const CONTROL: [(KeyCode, Key); 2] = [(KeyCode::Char('c'), Key::Interrupt), (KeyCode::Char('u'), Key::Clear)];

fn of_code(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    let among = |keys: &[(KeyCode, Key)]| keys.iter().find(|(of, _)| *of == code).map(|(_, key)| key.clone());
    if modifiers == KeyModifiers::CONTROL {
        return among(&CONTROL);
    }
    // A key with another modifier was meant for something else.
    if modifiers.intersects(!KeyModifiers::SHIFT) {
        return None;
    }
    if let KeyCode::Char(c) = code { Some(Key::Char(c)) } else { among(&NAMED) }
}

/// A step through a list or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    Previous,
    First,
    Last,
}

impl Step {
    /// Returns the step of a key, if it is one for steps.
    pub(super) fn of(key: &Key) -> Option<Step> {
        const STEPS: [(Key, Step); 8] = [
            (Key::Char('j'), Step::Next),
            (Key::Down, Step::Next),
            (Key::Char('k'), Step::Previous),
            (Key::Up, Step::Previous),
            (Key::Char('g'), Step::First),
            (Key::First, Step::First),
            (Key::Char('G'), Step::Last),
            (Key::Last, Step::Last),
        ];
        STEPS.iter().find(|(of, _)| of == key).map(|(_, step)| *step)
    }
}
