//! The effect of each key.

use std::{collections::BTreeSet, time::Duration};

use bestow::{
    Permission,
    action::Operation,
    control::Approval,
    event::Timestamp,
    grant::Scope,
    request::RequestId,
    text::{Escaped, Reason, parse_duration_or_bare},
};
use tokio::time::Instant;

use super::{
    entry::{Change, Entry, EntryState, Read, ScopeKey},
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
    Answer(Vec<Verdict>),
    /// Judges another command in place of the requested one.
    Judge(RequestId, String),
}

/// An answer to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) request: RequestId,
    pub(super) approval: Approval,
    pub(super) scope: Option<Scope>,
    pub(super) feedback: Option<Reason>,
    pub(super) permissions: Option<Vec<Permission>>,
    pub(super) instead: Option<String>,
}

impl Verdict {
    /// Returns the answer that only says yes or no.
    fn plain(request: RequestId, approval: Approval, scope: Option<Scope>) -> Verdict {
        Verdict { request, approval, scope, feedback: None, permissions: None, instead: None }
    }
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
            Key::Escape if self.is_picking() => self.entries.iter_mut().for_each(|entry| entry.is_picked = false),
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
            'a' | 'd' if self.is_picking() => return self.answer_picked(key == 'a', now),
            'x' => self.pick(now),
            _ if self.is_picking() => {}
            'a' => return self.allow(now),
            'd' => self.ask(FieldKind::Denial, now),
            'w' => self.ask(FieldKind::Words, now),
            'p' => self.ask_for_part(now),
            'e' => self.ask_for_change(now),
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
        if let Some(change) = &entry.change
            && !matches!(change.judged, Some(Ok(_)))
        {
            self.message = Some("The other command cannot be allowed before it was judged.".to_owned());
            return Effect::Nothing;
        }
        let verdict = Verdict {
            feedback: entry.words.clone(),
            permissions: entry.permissions(),
            instead: entry.change.as_ref().map(|change| change.command.clone()),
            ..Verdict::plain(entry.id(), Approval::Approve, Some(entry.scope))
        };
        self.answer(verdict)
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
        Effect::Answer(vec![verdict])
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

/// The additions of a person to an approval.
impl Inbox {
    fn ask_for_part(&mut self, now: Now) {
        match self.selected().map(|entry| entry.request().widest_first().len()) {
            Some(0 | 1) => self.message = Some("This request asks for no list of permissions.".to_owned()),
            _ => self.ask(FieldKind::Part, now),
        }
    }

    fn ask_for_change(&mut self, now: Now) {
        let is_command = |entry: &Entry| {
            let action = entry.request().action.as_ref().filter(|action| action.operation == Operation::Command);
            action.is_some_and(|action| !action.cut) && entry.request().asks_about_action() && !entry.is_destructive()
        };
        match self.selected().is_none_or(is_command) {
            true => self.ask(FieldKind::Change, now),
            false => self.message = Some("Only a command can be changed here.".to_owned()),
        }
    }

    /// Notes the text of a field at the request. Returns what is wrong with the text.
    fn note(&mut self, field: &Field, text: &str) -> Result<Effect, String> {
        let Some(entry) = self.entry_mut(field.request) else { return Ok(Effect::Nothing) };
        match field.kind {
            FieldKind::Words => {
                entry.words =
                    if text.is_empty() { None } else { Some(text.parse::<Reason>().map_err(|why| format!("{why}."))?) };
            }
            FieldKind::Part => entry.part = part(text, entry.request().widest_first().len())?,
            FieldKind::Change | FieldKind::Denial | FieldKind::Confirmation | FieldKind::Until => {
                let is_same = entry.request().action.as_ref().is_some_and(|action| &*action.resource == text);
                let command = text.to_owned();
                entry.change = (!is_same).then(|| Change { command: command.clone(), judged: None });
                entry.read = Read::default();
                return Ok(if is_same { Effect::Nothing } else { Effect::Judge(field.request, command) });
            }
        }
        Ok(Effect::Nothing)
    }

    /// Takes the judgement of another command.
    pub(super) fn judged(&mut self, request: RequestId, command: &str, judged: Result<String, String>) {
        let Some(entry) = self.entry_mut(request) else { return };
        if let Some(change) = entry.change.as_mut().filter(|change| change.command == command) {
            change.judged = Some(judged);
            entry.read = Read::default();
        }
    }
}

/// Several requests at once: each for one use, and only those that were on the screen as a whole.
impl Inbox {
    pub(super) fn is_picking(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_picked && entry.is_waiting())
    }

    fn pick(&mut self, now: Now) {
        if let Some(why) = self.obstacle(now) {
            self.message = Some(why);
            return;
        }
        let Some(entry) = self.selected_mut() else { return };
        if entry.is_picked || entry.can_be_picked() {
            entry.is_picked = !entry.is_picked;
        } else {
            let why = "It cannot be one of several: it is destructive, changed, or was not shown as a whole.";
            self.message = Some(why.to_owned());
        }
    }

    fn answer_picked(&mut self, is_approval: bool, now: Now) -> Effect {
        if self.link != Link::Live || !self.is_ready(now.instant) {
            self.message = self.obstacle(now);
            return Effect::Nothing;
        }
        let (approval, scope) =
            if is_approval { (Approval::Approve, Some(Scope::Once)) } else { (Approval::Deny, None) };
        let mut verdicts = Vec::new();
        for entry in &mut self.entries {
            if std::mem::take(&mut entry.is_picked) && entry.can_be_picked() {
                entry.state = EntryState::Answering;
                verdicts.push(Verdict::plain(entry.id(), approval, scope));
            }
        }
        Effect::Answer(verdicts)
    }
}

/// Returns the places that numbers name. No number names all of them.
fn part(text: &str, all: usize) -> Result<Option<BTreeSet<usize>>, String> {
    let numbers = text.split([' ', ',']).filter(|word| !word.is_empty());
    let place = |word: &str| match word.parse::<usize>() {
        Ok(number) if (1..=all).contains(&number) => Ok(number - 1),
        _ => Err(format!("`{}` is no number from 1 to {all}.", Escaped(word))),
    };
    let places = numbers.map(place).collect::<Result<BTreeSet<_>, _>>()?;
    Ok((!places.is_empty() && places.len() < all).then_some(places))
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
                Ok(self.answer(Verdict { feedback, ..Verdict::plain(field.request, Approval::Deny, None) }))
            }
            FieldKind::Confirmation if text.eq_ignore_ascii_case(&field.code) => {
                let feedback = self.entry_mut(field.request).and_then(|entry| entry.words.clone());
                let plain = Verdict::plain(field.request, Approval::Approve, Some(Scope::Once));
                Ok(self.answer(Verdict { feedback, ..plain }))
            }
            FieldKind::Words | FieldKind::Part | FieldKind::Change => self.note(field, text),
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
