//! The requests on the screen, and the cursor.
//!
//! The order of the requests never changes. The cursor is at a request, not at a line of the screen. It moves by itself
//! only after an answer of this person, or from a request that has ended to one that comes. A key cannot answer a
//! request that came under the cursor less than a second ago.

use bestow::{
    control::{RequestNews, WaitingRequest},
    event::HeldChange,
    request::{RequestId, Resolution},
};
use tokio::time::Instant;

use super::{
    entry::{Entry, EntryState, TIME_TO_SEE},
    field::Field,
};

/// The most ended requests that stay on the screen while no key is pressed.
const ENDED: usize = 100;

/// The content of the screen.
#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) entries: Vec<Entry>,
    pub(super) held_back: Option<HeldChange>,
    pub(super) link: Link,
    pub(super) message: Option<String>,
    pub(super) field: Option<Field>,
    pub(super) page: Page,
    /// The first shown line of the card or the help.
    pub(super) scroll: usize,
    /// The number of lines that a page has.
    pub(super) page_lines: usize,
    cursor: Option<RequestId>,
    focus: Focus,
}

/// The connection to the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// No attempt has ended yet.
    Connecting,
    Live,
    Lost(String),
}

/// The page on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// The list, and the request under the cursor.
    List,
    /// The request under the cursor alone.
    Card,
    Help,
}

/// The origin of the cursor's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    ByPerson,
    /// The cursor moved by itself. The time is that since which it is seen there.
    ByItself(Option<Instant>),
}

impl Inbox {
    pub(super) fn new() -> Inbox {
        Inbox {
            entries: Vec::new(),
            held_back: None,
            link: Link::Connecting,
            message: None,
            field: None,
            page: Page::List,
            scroll: 0,
            page_lines: 1,
            cursor: None,
            focus: Focus::ByPerson,
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.entries.iter().filter(|entry| !entry.has_ended()).count()
    }

    /// Returns the place of the cursor in the list.
    pub(super) fn place(&self) -> Option<usize> {
        self.entries.iter().position(|entry| Some(entry.id()) == self.cursor)
    }

    pub(super) fn selected(&self) -> Option<&Entry> {
        self.place().and_then(|place| self.entries.get(place))
    }

    pub(super) fn selected_mut(&mut self) -> Option<&mut Entry> {
        self.place().and_then(|place| self.entries.get_mut(place))
    }

    pub(super) fn entry_mut(&mut self, id: RequestId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id() == id)
    }
}

/// A report of the engine.
impl Inbox {
    pub(super) fn found(&mut self) {
        if matches!(self.link, Link::Lost(_)) {
            self.message = Some("The engine runs again.".to_owned());
        }
        self.link = Link::Live;
    }

    pub(super) fn lost(&mut self, why: String) {
        self.link = Link::Lost(why);
    }

    pub(super) fn hear(&mut self, news: RequestNews) {
        match news {
            RequestNews::Waiting(waiting) => self.came(*waiting),
            RequestNews::Moved { id, route, .. } => {
                if let Some(entry) = self.entry_mut(id) {
                    entry.waiting.route = route;
                }
            }
            RequestNews::Ended { id, resolution, .. } => self.ended(id, resolution.as_deref()),
            RequestNews::HeldBack { held_back } => self.held_back = held_back,
            // News of a later version.
            _ => {}
        }
    }

    fn came(&mut self, waiting: WaitingRequest) {
        let id = waiting.request.id;
        if let Some(entry) = self.entry_mut(id) {
            entry.waiting = waiting;
            return;
        }
        let is_idle = self.selected().is_none_or(Entry::has_ended) && self.waiting() == 0;
        self.entries.push(Entry::new(waiting));
        if is_idle {
            self.select(id, Focus::ByItself(None));
        }
    }

    fn ended(&mut self, id: RequestId, resolution: Option<&Resolution>) {
        let Some(entry) = self.entry_mut(id) else { return };
        let own = entry.state == EntryState::Answering;
        entry.end(resolution, own);
        let EntryState::Ended(how) = entry.state.clone() else { return };
        let code = entry.waiting.code.clone();
        if self.field.as_ref().is_some_and(|field| field.request == id) {
            self.field = None;
            self.message = Some(format!("[{code}] has ended meanwhile: {how}"));
        }
        if own && self.cursor == Some(id) {
            self.message = Some(format!("[{code}] {how}"));
            self.go_on();
        }
        let ended = self.entries.iter().filter(|entry| entry.has_ended()).count();
        if ENDED < ended {
            self.sweep(None);
        }
    }

    /// Moves the cursor to the next request that waits, if there is one.
    fn go_on(&mut self) {
        let place = self.place().unwrap_or(0);
        let after = self.entries.iter().skip(place).chain(self.entries.iter().take(place));
        if let Some(next) = after.into_iter().find(|entry| entry.is_waiting()).map(Entry::id) {
            self.select(next, Focus::ByItself(None));
        }
    }

    /// Reports that an answer was not accepted. The request waits, unless the engine reported its end.
    pub(super) fn not_answered(&mut self, id: RequestId, why: String) {
        self.message = Some(why);
        if let Some(entry) = self.entry_mut(id)
            && entry.state == EntryState::Answering
        {
            entry.state = EntryState::Waiting;
        }
    }
}

/// The cursor.
impl Inbox {
    /// Moves the cursor. Requests that have ended leave the list now, except the one that the cursor leaves.
    fn select(&mut self, id: RequestId, focus: Focus) {
        let left = self.cursor.replace(id);
        self.focus = focus;
        self.scroll = 0;
        if focus != Focus::ByPerson {
            self.page = Page::List;
        }
        self.sweep(left);
    }

    fn sweep(&mut self, left: Option<RequestId>) {
        let cursor = self.cursor;
        self.entries.retain(|entry| !entry.has_ended() || Some(entry.id()) == cursor || Some(entry.id()) == left);
    }

    pub(super) fn go_to(&mut self, place: usize) {
        if let Some(id) = self.entries.get(place).map(Entry::id)
            && self.cursor != Some(id)
        {
            self.select(id, Focus::ByPerson);
        }
    }

    /// Notes that everything was drawn.
    pub(super) fn seen(&mut self, now: Instant) {
        for entry in &mut self.entries {
            entry.seen_since.get_or_insert(now);
        }
        if self.focus == Focus::ByItself(None) {
            self.focus = Focus::ByItself(Some(now));
        }
    }

    /// Returns the time from which a key can answer the request under the cursor. None if it is not seen yet.
    pub(super) fn ready_at(&self) -> Option<Instant> {
        let seen = self.selected()?.seen_since?;
        let since = match self.focus {
            Focus::ByPerson => seen,
            Focus::ByItself(focused) => seen.max(focused?),
        };
        Some(since + TIME_TO_SEE)
    }

    pub(super) fn is_ready(&self, now: Instant) -> bool {
        self.ready_at().is_some_and(|ready| ready <= now)
    }
}
