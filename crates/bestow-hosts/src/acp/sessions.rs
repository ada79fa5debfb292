//! The facts about sessions in the lines of both sides: their directories, their subagents, and their tool calls.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    path::PathBuf,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{
    envelope::{Envelope, Key},
    tool_call::ToolCall,
};

/// The most sessions, subagents included. Later ones are not known, so their requests are refused.
const MOST_SESSIONS: usize = 4096;

/// The most tool calls that are remembered, and the most bytes of one. A request for permission may repeat less.
const MOST_CALLS: usize = 1024;
const LONGEST_CALL: usize = 256 << 10;

/// The most requests for a new session that wait for their answers.
const MOST_OPENING: usize = 256;

/// The sessions of one agent.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: HashMap<String, Session>,
    /// The directories of the sessions that the editor asks for, by the ids of its requests.
    opening: HashMap<Key, PathBuf>,
    calls: HashMap<(String, String), ToolCall>,
    /// The remembered calls, the oldest first.
    order: VecDeque<(String, String)>,
}

#[derive(Debug)]
struct Session {
    cwd: PathBuf,
    /// The session that has this one as a subagent.
    parent: Option<String>,
    /// True from the cancellation of a turn until the next prompt.
    is_cancelled: bool,
}

/// The place of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The session that the editor began.
    pub(super) root: String,
    /// True if the session is a subagent of it.
    pub(super) is_subagent: bool,
    pub(super) cwd: PathBuf,
    pub(super) is_cancelled: bool,
}

/// A message of the editor that concerns requests for permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The turn of this session is cancelled.
    Cancelled(String),
    /// This session is closed.
    Closed(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfEditor<'a> {
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    cwd: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfAgent<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    update: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Child {
    session_id: String,
    cwd: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    session_id: String,
}

impl Sessions {
    /// Notes a message of the editor.
    pub(super) fn of_editor(&mut self, message: &Envelope<'_>) -> Option<News> {
        let method = message.method.as_deref()?.strip_prefix("session/")?;
        let OfEditor { session_id, cwd } = serde_json::from_str(message.params?.get()).ok()?;
        if let Some(cwd) = cwd.filter(|cwd| cwd.is_absolute()) {
            if let Some(session) = &session_id {
                self.begin(session, cwd.clone(), None);
            }
            if let Some(key) = message.key().filter(|_| self.opening.len() < MOST_OPENING) {
                self.opening.insert(key, cwd);
            }
        }
        let session = session_id?.into_owned();
        match method {
            "cancel" => {
                self.each_below(&session, |session| session.is_cancelled = true);
                Some(News::Cancelled(session))
            }
            "prompt" => {
                self.each_below(&session, |session| session.is_cancelled = false);
                None
            }
            "close" => Some(News::Closed(session)),
            _ => None,
        }
    }

    /// Notes a message of the agent.
    pub(super) fn of_agent(&mut self, message: &Envelope<'_>) {
        if message.is_response() {
            let opening = message.key().and_then(|key| self.opening.remove(&key));
            if let (Some(cwd), Some(result)) = (opening, message.result)
                && let Ok(Opened { session_id }) = serde_json::from_str(result.get())
            {
                self.begin(&session_id, cwd, None);
            }
        } else if message.method.as_deref() == Some("session/update")
            && let Some(params) = message.params
            && let Ok(OfAgent { session_id, update }) = serde_json::from_str(params.get())
        {
            self.updated(&session_id, update);
        }
    }

    fn updated(&mut self, session: &str, update: &RawValue) {
        let Ok(Update { session_update }) = serde_json::from_str(update.get()) else { return };
        match &*session_update {
            "tool_call" | "tool_call_update" if update.get().len() <= LONGEST_CALL => {
                if let Some(call) = read::<ToolCall>(update) {
                    self.told(session, call);
                }
            }
            "subagent_update" => {
                let above = self.known.get(session).map(|session| session.cwd.clone());
                if let (Some(child), Some(above)) = (read::<Child>(update), above) {
                    let cwd = child.cwd.filter(|cwd| cwd.is_absolute()).unwrap_or(above);
                    self.begin(&child.session_id, cwd, Some(session.to_owned()));
                }
            }
            _ => {}
        }
    }

    /// Notes a session. The first that is said about its place counts: a session never becomes another one's subagent.
    fn begin(&mut self, id: &str, cwd: PathBuf, parent: Option<String>) {
        let has_room = self.known.len() < MOST_SESSIONS;
        match self.known.get_mut(id) {
            Some(known) if known.parent == parent => known.cwd = cwd,
            None if has_room => {
                self.known.insert(id.to_owned(), Session { cwd, parent, is_cancelled: false });
            }
            Some(_) | None => {}
        }
    }

    fn told(&mut self, session: &str, call: ToolCall) {
        let Some(id) = call.tool_call_id.clone() else { return };
        let key = (session.to_owned(), id);
        let before = self.calls.remove(&key);
        if before.is_none() {
            self.order.push_back(key.clone());
        }
        self.calls.insert(key, before.unwrap_or_default().updated(call));
        while self.order.len() > MOST_CALLS {
            if let Some(oldest) = self.order.pop_front() {
                self.calls.remove(&oldest);
            }
        }
    }

    /// Returns what the agent told about a call before.
    pub(super) fn call(&self, session: &str, id: Option<&str>) -> Option<ToolCall> {
        self.calls.get(&(session.to_owned(), id?.to_owned())).cloned()
    }

    /// Finds a session. Returns none if nobody has begun it.
    pub(super) fn find(&self, id: &str) -> Option<Found> {
        let session = self.known.get(id)?;
        let root = self.above(id).last().map_or_else(|| id.to_owned(), str::to_owned);
        let is_cancelled = session.is_cancelled;
        Some(Found { root, is_subagent: session.parent.is_some(), cwd: session.cwd.clone(), is_cancelled })
    }

    /// Returns true if a session is this one or below it.
    pub(super) fn is_below(&self, id: &str, top: &str) -> bool {
        id == top || self.above(id).any(|above| above == top)
    }

    /// Iterates over the sessions above one, the nearest first. A session above is older, so there are no circles.
    fn above<'s>(&'s self, id: &str) -> impl Iterator<Item = &'s str> {
        let parent = |id: &str| self.known.get(id)?.parent.as_deref();
        std::iter::successors(parent(id), move |id| parent(id)).take(MOST_SESSIONS)
    }

    fn each_below(&mut self, top: &str, mut change: impl FnMut(&mut Session)) {
        let below: Vec<String> = self.known.keys().filter(|id| self.is_below(id, top)).cloned().collect();
        below.iter().for_each(|id| {
            if let Some(session) = self.known.get_mut(id) {
                change(session);
            }
        });
    }
}

fn read<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    // A key that occurs twice has a meaning that depends on the reader.
    let bestow::text::StrictJson(value) = serde_json::from_str(raw.get()).ok()?;
    let value: Value = value;
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests;
