//! One request on the screen.

use std::{collections::BTreeSet, time::Duration};

use bestow::{
    Permission,
    command::Tier,
    control::WaitingRequest,
    event::Timestamp,
    grant::Scope,
    request::{Request, RequestId, Resolution},
    text::Reason,
};
use tokio::time::Instant;

use super::leads;

/// The time for which a request is on the screen before a key can answer it.
pub(super) const TIME_TO_SEE: Duration = Duration::from_secs(1);

/// A request on the screen.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) waiting: WaitingRequest,
    pub(super) state: EntryState,
    /// The scope that an approval would have.
    pub(super) scope: Scope,
    /// The words to the agent that go with an approval.
    pub(super) words: Option<Reason>,
    /// The places of the permissions that an approval gives, in the order of the screen. `None` gives all of them.
    pub(super) part: Option<BTreeSet<usize>>,
    /// The command to allow instead.
    pub(super) change: Option<Change>,
    /// True if it is one of several that are answered together.
    pub(super) is_picked: bool,
    /// The place to which the path of each permission leads now.
    pub(super) leads: Vec<Option<String>>,
    /// The time since which it is on the screen.
    pub(super) seen_since: Option<Instant>,
    pub(super) read: Read,
}

/// Another command in place of the requested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) command: String,
    /// The judgement of the engine, or its refusal. `None` until the engine has answered.
    pub(super) judged: Option<Result<String, String>>,
}

/// The state of a request on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    Waiting,
    /// An answer of this person is on its way.
    Answering,
    /// It has ended, as the text says.
    Ended(String),
}

/// The part of a request that was on the screen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read {
    width: u16,
    lines: usize,
    is_whole: bool,
}

impl Read {
    /// Notes that the lines from `from` to `to` of all `lines` lines were shown, at this width.
    pub(super) fn show(&mut self, width: u16, from: usize, to: usize, lines: usize) {
        if self.width != width {
            *self = Read { width, lines: 0, is_whole: self.is_whole };
        }
        if from <= self.lines {
            self.lines = self.lines.max(to);
        }
        self.is_whole |= self.lines >= lines;
    }

    pub(super) fn is_whole(self) -> bool {
        self.is_whole
    }
}

impl Entry {
    pub(super) fn new(waiting: WaitingRequest) -> Entry {
        let scope = first_scope(&waiting.request);
        let leads = waiting.request.widest_first().iter().map(|permission| leads::of(permission)).collect();
        Entry {
            waiting,
            state: EntryState::Waiting,
            scope,
            words: None,
            part: None,
            change: None,
            is_picked: false,
            leads,
            seen_since: None,
            read: Read::default(),
        }
    }

    pub(super) fn id(&self) -> RequestId {
        self.waiting.request.id
    }

    pub(super) fn request(&self) -> &Request {
        &self.waiting.request
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.state == EntryState::Waiting
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, EntryState::Ended(_))
    }

    /// Returns the permissions that an approval gives, if not all of them.
    pub(super) fn permissions(&self) -> Option<Vec<Permission>> {
        let part = self.part.as_ref()?;
        let all = self.request().widest_first();
        Some(part.iter().filter_map(|place| all.get(*place)).map(|permission| (*permission).clone()).collect())
    }

    /// Returns true if an answer to several requests can include this one: all of it was on the screen, and an approval
    /// for one use needs nothing typed.
    pub(super) fn can_be_picked(&self) -> bool {
        self.is_waiting() && self.read.is_whole() && !self.is_destructive() && self.change.is_none()
    }

    /// Returns true if an approval needs a typed confirmation.
    pub(super) fn is_destructive(&self) -> bool {
        let action = self.request().action.as_ref();
        action.is_some_and(|action| action.tier == Tier::Destructive || action.destructive.is_some())
    }

    /// Ends the request. `own` is true if the answer came from here.
    pub(super) fn end(&mut self, resolution: Option<&Resolution>, own: bool) {
        let Some(how) = resolution else {
            self.state = EntryState::Ended("it has ended while the engine was not reached".to_owned());
            return;
        };
        let scope = how.scope.map(|scope| format!(" ({})", super::words::scope(scope))).unwrap_or_default();
        let whose = if own { "by you".to_owned() } else { how.decider.to_string() };
        let said = how.feedback.as_ref().map(|feedback| format!(": {feedback}")).unwrap_or_default();
        self.state = EntryState::Ended(format!("{}{scope} {whose}{said}", how.outcome));
    }

    /// Returns the scope behind a key from `1` to `4`, if an approval may have it. The scope `until` has no time yet:
    /// the latest possible time stands for it.
    pub(super) fn scope_of(&self, key: ScopeKey) -> Option<Scope> {
        let scope = match key {
            ScopeKey::Once => Scope::Once,
            ScopeKey::Session => Scope::Session,
            ScopeKey::Until => Scope::Until(self.latest()),
            ScopeKey::Always => Scope::Always,
        };
        let can_last = scope == Scope::Once || !self.is_destructive();
        (can_last && self.request().accepts_scope(scope)).then_some(scope)
    }

    fn latest(&self) -> Timestamp {
        match self.request().scope {
            Some(Scope::Until(end)) => end,
            _ => self.request().deadline,
        }
    }

    /// Returns the reason why an approval may not have the scope of this key.
    pub(super) fn why_not(&self, key: ScopeKey) -> &'static str {
        let request = self.request();
        if self.is_destructive() {
            return "a destructive action is allowed once only";
        }
        if request.is_once_only() {
            return "the request does not show everything, so it is allowed once only";
        }
        match (key, request.scope) {
            (_, Some(_)) => "the agent asks for less than that",
            (_, None) => "this command has no form that could be allowed for that long",
        }
    }
}

/// The scope that a key selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKey {
    Once,
    Session,
    Until,
    Always,
}

impl ScopeKey {
    pub(super) const ALL: [(char, ScopeKey); 4] =
        [('1', ScopeKey::Once), ('2', ScopeKey::Session), ('3', ScopeKey::Until), ('4', ScopeKey::Always)];

    /// Returns the scope that a key selects.
    pub(super) fn of(key: char) -> Option<ScopeKey> {
        ScopeKey::ALL.into_iter().find(|(of, _)| *of == key).map(|(_, scope)| scope)
    }

    /// Returns true if `scope` is of this kind.
    pub(super) fn is(self, scope: Scope) -> bool {
        matches!(
            (self, scope),
            (ScopeKey::Once, Scope::Once)
                | (ScopeKey::Session, Scope::Session)
                | (ScopeKey::Until, Scope::Until(_))
                | (ScopeKey::Always, Scope::Always)
        )
    }
}

/// Returns the scope that is selected at first: one use for an action, and the run for permissions, if the agent does
/// not ask for less.
fn first_scope(request: &Request) -> Scope {
    let is_for_run = request.action.is_none() && request.accepts_scope(Scope::Session);
    if is_for_run { Scope::Session } else { Scope::Once }
}
