//! The facts about sessions in the lines of both sides: their directories, their subagents, and their tool calls.

use std::{borrow::Cow, collections::HashMap, path::PathBuf};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{
    calls::{Calls, Known},
    envelope::{Envelope, Key},
    tool_call::ToolCall,
};

/// The most sessions, subagents included. Later ones are not known, so their requests are refused.
const MOST_SESSIONS: usize = 4096;

/// The longest id of a session, in bytes. The engine takes no longer one.
const LONGEST_ID: usize = 64;

/// The most sessions above a subagent.
const DEEPEST: usize = 16;

/// The most requests for a session that wait for their answers.
const MOST_OPENING: usize = 256;

/// The sessions of one agent.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: HashMap<String, Session>,
    /// The sessions that the editor asks for, by the ids of its requests.
    opening: HashMap<Key, Opening>,
    calls: Calls,
}

#[derive(Debug)]
struct Session {
    cwd: PathBuf,
    /// The number of requests that wait and would change the directory. Until then, it is not known.
    moving: u32,
    /// The session that has this one as a subagent.
    parent: Option<String>,
    /// True from the cancellation of a turn until the next prompt.
    is_cancelled: bool,
}

/// A session that the editor asks for.
#[derive(Debug)]
struct Opening {
    cwd: PathBuf,
    of: OpeningOf,
}

/// The session that a request opens.
#[derive(Debug)]
enum OpeningOf {
    /// The session gets its id with the answer.
    New,
    /// The session was not known before.
    Unknown(String),
    /// The session is known, in another directory.
    Known(String),
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
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    update: Option<&'a RawValue>,
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

/// The part of an update that says which call it is about.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    tool_call_id: String,
    status: Option<String>,
}

/// A part of the content of a call (version 2).
#[derive(Deserialize)]
struct Chunk {
    content: Value,
}

/// The side of the editor.
impl Sessions {
    /// Notes a message of the editor.
    pub(super) fn of_editor(&mut self, message: &Envelope<'_>) -> Option<News> {
        let method = message.method.as_deref()?.strip_prefix("session/")?;
        let OfEditor { session_id, cwd } = serde_json::from_str(message.params?.get()).ok()?;
        let cwd = cwd.filter(|cwd| cwd.is_absolute());
        let session = session_id.map(Cow::into_owned);
        match (method, session, cwd) {
            // The new session gets its id with the answer. A fork leaves its source as it is.
            ("new" | "fork", _, Some(cwd)) => {
                self.open(message.key()?, Opening { cwd, of: OpeningOf::New });
                None
            }
            ("load" | "resume", Some(session), Some(cwd)) => {
                self.reopen(message.key()?, session, cwd);
                None
            }
            ("cancel", Some(session), _) => {
                self.each_below(&session, |session| session.is_cancelled = true);
                Some(News::Cancelled(session))
            }
            ("prompt", Some(session), _) => {
                self.each_below(&session, |session| session.is_cancelled = false);
                None
            }
            ("close", Some(session), _) => Some(News::Closed(session)),
            _ => None,
        }
    }

    /// Returns false if there is no room. The answer then changes nothing.
    fn open(&mut self, request: Key, opening: Opening) -> bool {
        let has_room = self.opening.len() < MOST_OPENING && !self.opening.contains_key(&request);
        if has_room {
            self.opening.insert(request, opening);
        }
        has_room
    }

    /// Opens a session that exists. Its directory changes only if the agent agrees.
    fn reopen(&mut self, request: Key, session: String, cwd: PathBuf) {
        match self.known.get(&session) {
            Some(known) if known.cwd == cwd && known.moving == 0 => {}
            Some(_) => {
                let opening = Opening { cwd, of: OpeningOf::Known(session.clone()) };
                if self.open(request, opening)
                    && let Some(known) = self.known.get_mut(&session)
                {
                    known.moving += 1;
                }
            }
            None => {
                // The agent may ask before it answers.
                if self.open(request, Opening { cwd: cwd.clone(), of: OpeningOf::Unknown(session.clone()) }) {
                    self.begin(&session, cwd, None);
                }
            }
        }
    }

    /// Notes the answer of the agent to a request for a session. Without a result, the agent refused.
    fn opened(&mut self, opening: Opening, result: Option<&RawValue>) {
        match (opening.of, result) {
            (OpeningOf::Known(session), result) => {
                if let Some(known) = self.known.get_mut(&session) {
                    known.moving = known.moving.saturating_sub(1);
                    if result.is_some() {
                        known.cwd = opening.cwd;
                    }
                }
            }
            (OpeningOf::Unknown(session), None) => drop(self.known.remove(&session)),
            (OpeningOf::New, Some(result)) => {
                if let Ok(Opened { session_id }) = serde_json::from_str(result.get()) {
                    self.begin(&session_id, opening.cwd, None);
                }
            }
            (OpeningOf::Unknown(_), Some(_)) | (OpeningOf::New, None) => {}
        }
    }

    /// Notes a session. The first that is said about its place counts: a session never becomes another one's subagent.
    fn begin(&mut self, id: &str, cwd: PathBuf, parent: Option<String>) {
        let has_room = self.known.len() < MOST_SESSIONS && id.len() <= LONGEST_ID;
        match self.known.get_mut(id) {
            Some(known) if known.parent == parent => known.cwd = cwd,
            None if has_room => {
                self.known.insert(id.to_owned(), Session { cwd, moving: 0, parent, is_cancelled: false });
            }
            Some(_) | None => {}
        }
    }
}

/// The side of the agent.
impl Sessions {
    /// Notes a message of the agent.
    ///
    /// # Errors
    ///
    /// The reason why it is not clear what the message says about a call. The editor might understand it otherwise.
    pub(super) fn of_agent(&mut self, message: &Envelope<'_>) -> Result<(), &'static str> {
        if message.is_response() {
            if let Some(opening) = message.key().and_then(|key| self.opening.remove(&key)) {
                self.opened(opening, message.result.filter(|_| !message.is_error()));
            }
        } else if message.method.as_deref() == Some("session/update")
            && let Some(params) = message.params
        {
            let Ok(OfAgent { session_id, update }) = serde_json::from_str(params.get()) else {
                self.lost();
                return Err("the session or the update occurs twice, or is none");
            };
            if let (Some(session), Some(update)) = (session_id, update) {
                self.updated(&session, update);
            }
        }
        Ok(())
    }

    /// Notes that the agent may have told something about any call.
    pub(super) fn lost(&mut self) {
        self.calls.blur_all(None);
    }

    fn updated(&mut self, session: &str, update: &RawValue) {
        let Ok(Update { session_update }) = serde_json::from_str(update.get()) else {
            return self.calls.blur_all(Some(session));
        };
        match &*session_update {
            kind @ ("tool_call" | "tool_call_update" | "tool_call_content_chunk") => self.told(session, kind, update),
            "subagent_update" => {
                let above = self.known.get(session).map(|session| session.cwd.clone());
                let is_deep = DEEPEST <= self.above(session).count();
                if let (Some(child), Some(above), false) = (read::<Child>(update), above, is_deep) {
                    let cwd = child.cwd.filter(|cwd| cwd.is_absolute()).unwrap_or(above);
                    self.begin(&child.session_id, cwd, Some(session.to_owned()));
                }
            }
            _ => {}
        }
    }

    /// Notes the facts about a call. If they are not understood, what was told before does not count either.
    fn told(&mut self, session: &str, kind: &str, update: &RawValue) {
        let Ok(About { tool_call_id, status }) = serde_json::from_str(update.get()) else {
            return self.calls.blur_all(Some(session));
        };
        let call = match kind {
            "tool_call_content_chunk" => read(update).map(|Chunk { content }| ToolCall {
                tool_call_id: Some(tool_call_id.clone()),
                more_content: vec![content],
                ..ToolCall::default()
            }),
            _ => read::<ToolCall>(update),
        };
        match call {
            _ if matches!(status.as_deref(), Some("completed" | "failed")) => self.calls.end(session, &tool_call_id),
            None => self.calls.blur(session, &tool_call_id),
            Some(call) if kind == "tool_call" => self.calls.begin(session, call),
            Some(call) => self.calls.update(session, call),
        }
    }

    /// Notes the facts about a call in a request for permission. They hold for later requests, too.
    pub(super) fn asked(&mut self, session: &str, call: &ToolCall) {
        self.calls.update(session, call.clone());
    }

    /// Returns what the agent told about a call.
    pub(super) fn call(&self, session: &str, id: Option<&str>) -> Known {
        id.map_or(Known::Nothing, |id| self.calls.get(session, id))
    }
}

/// The relations of sessions.
impl Sessions {
    /// Finds a session. Returns none if nobody has begun it, or if its directory is not known.
    pub(super) fn find(&self, id: &str) -> Option<Found> {
        let session = self.known.get(id).filter(|session| session.moving == 0)?;
        let root = self.above(id).last().map_or_else(|| id.to_owned(), str::to_owned);
        let (cwd, is_cancelled) = (session.cwd.clone(), session.is_cancelled);
        Some(Found { root, is_subagent: session.parent.is_some(), cwd, is_cancelled })
    }

    /// Returns true if a session is this one or below it.
    pub(super) fn is_below(&self, id: &str, top: &str) -> bool {
        id == top || self.above(id).any(|above| above == top)
    }

    /// Iterates over the sessions above one, the nearest first. A session above is older, so there are no circles.
    fn above<'s>(&'s self, id: &str) -> impl Iterator<Item = &'s str> {
        let parent = |id: &str| self.known.get(id)?.parent.as_deref();
        std::iter::successors(parent(id), move |id| parent(id)).take(DEEPEST)
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

/// Reads a value in which no key occurs twice: its meaning would depend on the reader.
fn read<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    let bestow::text::StrictJson(value) = bestow::text::StrictJson::read(raw.get().as_bytes()).ok()?;
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests;
