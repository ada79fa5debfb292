//! The effect of each key.

use std::time::Duration;

use bestow::{
    control::Approval,
    event::Timestamp,
    grant::Scope,
    request::RequestId,
    text::{Escaped, Reason, parse_duration_or_bare},
};
use tokio::time::Instant;

use super::{
    entry::{EntryState, ScopeKey},
    field::{Field, FieldKind},
    inbox::{Inbox, Link, Page},
    keys::{Key, Step},
    words,
};

/// The moment of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) instant: Instant,
    pub(super) wall: Timestamp,
}

/// The consequence of a key outside the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Quit,
    Answer(Verdict),
}

/// An answer to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) request: RequestId,
    pub(super) approval: Approval,
    pub(super) scope: Option<Scope>,
    pub(super) feedback: Option<Reason>,
}

impl Inbox {
    /// Carries out a key.
    pub(super) fn press(&mut self, key: Key, now: Now) -> Effect {
        self.message = None;
        if let Some(field) = self.field.take() {
            return self.press_in_field(field, key, now);
        }
        if let Some(step) = Step::of(&key) {
            self.step(step);
            return Effect::Nothing;
        }
        let is_list = self.page == Page::List;
        match key {
            Key::Interrupt => return Effect::Quit,
            Key::Char('q') if is_list => return Effect::Quit,
            Key::Char('q') | Key::Escape => self.show(Page::List),
            Key::Enter if is_list && self.selected().is_some() => self.show(Page::Card),
            Key::Enter => self.show(Page::List),
            Key::Char('?') => self.show(if self.page == Page::Help { Page::List } else { Page::Help }),
            Key::Char(' ') | Key::PageDown => self.scroll = self.scroll.saturating_add(self.page_lines),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(self.page_lines),
            Key::Char(c) if self.page != Page::Help => return self.press_about_request(c, now),
            Key::Char(_) | Key::Backspace | Key::Clear | Key::Paste(_) => {}
            Key::Up | Key::Down | Key::First | Key::Last => {}
        }
        Effect::Nothing
    }

    fn press_about_request(&mut self, key: char, now: Now) -> Effect {
        match key {
            'a' => return self.allow(now),
            'd' => self.ask(FieldKind::Denial, now),
            other => self.choose(other, now),
        }
        Effect::Nothing
    }

    fn show(&mut self, page: Page) {
        (self.page, self.scroll) = (page, 0);
    }

    /// Moves the cursor in the list, and scrolls elsewhere.
    fn step(&mut self, step: Step) {
        let (place, last) = (self.place(), self.entries.len().saturating_sub(1));
        match (step, self.page) {
            (Step::Next, Page::List) => self.go_to(place.map_or(0, |place| (place + 1).min(last))),
            (Step::Previous, Page::List) => self.go_to(place.map_or(last, |place| place.saturating_sub(1))),
            (Step::First, Page::List) => self.go_to(0),
            (Step::Last, Page::List) => self.go_to(last),
            (Step::Next, Page::Card | Page::Help) => self.scroll = self.scroll.saturating_add(1),
            (Step::Previous, Page::Card | Page::Help) => self.scroll = self.scroll.saturating_sub(1),
            (Step::First, Page::Card | Page::Help) => self.scroll = 0,
            (Step::Last, Page::Card | Page::Help) => self.scroll = usize::MAX,
        }
    }

    /// Returns the reason why the request under the cursor cannot be answered now.
    fn obstacle(&self, now: Now) -> Option<String> {
        let Some(entry) = self.selected() else { return Some("No request is selected.".to_owned()) };
        match &entry.state {
            EntryState::Ended(how) => return Some(format!("[{}] has ended: {how}", entry.waiting.code)),
            EntryState::Answering => return Some("The answer is on its way.".to_owned()),
            EntryState::Waiting => {}
        }
        if self.link != Link::Live {
            return Some("The engine does not run. No request can be answered until it runs again.".to_owned());
        }
        let is_new = !self.is_ready(now.instant);
        is_new.then(|| "This request has only just appeared here. Read it, then press the key again.".to_owned())
    }

    fn allow(&mut self, now: Now) -> Effect {
        if let Some(why) = self.obstacle(now) {
            self.message = Some(why);
            return Effect::Nothing;
        }
        let Some(entry) = self.selected() else { return Effect::Nothing };
        if !entry.read.is_whole() {
            let why =
                "Not all of this request was on the screen. Page through it with the space bar, then press a again.";
            self.message = Some(why.to_owned());
            return Effect::Nothing;
        }
        if entry.is_destructive() {
            self.field = Some(Field::about(entry, FieldKind::Confirmation));
            return Effect::Nothing;
        }
        let (request, scope) = (entry.id(), Some(entry.scope));
        self.answer(Verdict { request, approval: Approval::Approve, scope, feedback: None })
    }

    /// Opens a field for the request under the cursor.
    fn ask(&mut self, kind: FieldKind, now: Now) {
        match self.obstacle(now) {
            Some(why) => self.message = Some(why),
            None => self.field = self.selected().map(|entry| Field::about(entry, kind)),
        }
    }

    fn answer(&mut self, verdict: Verdict) -> Effect {
        let Some(entry) = self.entry_mut(verdict.request) else { return Effect::Nothing };
        entry.state = EntryState::Answering;
        Effect::Answer(verdict)
    }

    fn choose(&mut self, c: char, now: Now) {
        let (Some(key), Some(entry)) = (ScopeKey::of(c), self.selected_mut()) else { return };
        match entry.scope_of(key) {
            None => self.message = Some(format!("Not possible: {}.", entry.why_not(key))),
            Some(_) if key == ScopeKey::Until => self.ask(FieldKind::Until, now),
            Some(scope) => entry.scope = scope,
        }
    }
}

/// The keys while a field is open.
impl Inbox {
    fn press_in_field(&mut self, mut field: Field, key: Key, now: Now) -> Effect {
        if matches!(key, Key::Escape | Key::Interrupt) {
            return Effect::Nothing;
        }
        if key != Key::Enter {
            field.edit(key);
            self.field = Some(field);
            return Effect::Nothing;
        }
        if self.link != Link::Live {
            self.message = Some("The engine does not run. The answer was not sent.".to_owned());
            self.field = Some(field);
            return Effect::Nothing;
        }
        match self.submit(&field, now) {
            Ok(effect) => effect,
            Err(why) => {
                self.message = Some(why);
                self.field = Some(field);
                Effect::Nothing
            }
        }
    }

    /// Carries out what a field asks for, or returns what is wrong with its text.
    fn submit(&mut self, field: &Field, now: Now) -> Result<Effect, String> {
        let text = field.text.trim();
        match field.kind {
            FieldKind::Denial => {
                let feedback = if text.is_empty() { Ok(None) } else { text.parse().map(Some) };
                let feedback = feedback.map_err(|why| format!("Not sent: {why}."))?;
                let (request, approval) = (field.request, Approval::Deny);
                Ok(self.answer(Verdict { request, approval, scope: None, feedback }))
            }
            FieldKind::Confirmation if text.eq_ignore_ascii_case(&field.code) => {
                let (request, approval, scope) = (field.request, Approval::Approve, Some(Scope::Once));
                Ok(self.answer(Verdict { request, approval, scope, feedback: None }))
            }
            FieldKind::Confirmation => Err(format!("That is not {}. The request still waits.", field.code)),
            FieldKind::Until => {
                let end = moment(text, now.wall)?;
                let Some(entry) = self.entry_mut(field.request) else { return Ok(Effect::Nothing) };
                if !entry.request().accepts_scope(Scope::Until(end)) {
                    return Err("The agent asks for less than that.".to_owned());
                }
                entry.scope = Scope::Until(end);
                self.message = Some(format!("Press a to allow it for {}.", words::span(now.wall.until(end))));
                Ok(Effect::Nothing)
            }
        }
    }
}

/// Returns the moment that a person means: a duration from now, or a moment that is still to come.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let end = match text.parse() {
        Ok(end) => end,
        Err(_) => match parse_duration_or_bare(text, Duration::from_secs) {
            Ok(duration) => now.after(duration),
            Err(_) => return Err(format!("`{}` is no time. Write 30m, 4h or 2030-01-31T18:00:00Z.", Escaped(text))),
        },
    };
    if now < end { Ok(end) } else { Err("That time has passed.".to_owned()) }
}
