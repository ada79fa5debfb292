//! The news about the requests of one engine, across its restarts.

use std::{
    collections::BTreeSet,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::mpsc::channel,
    time::Duration,
};

use bestow::{
    control::{self, Line, Replies, Reply, RequestNews},
    request::RequestId,
    user::ApproverId,
};

use crate::state;

/// The time between two attempts to reach an engine.
const PAUSE: Duration = Duration::from_millis(250);

/// A blocking stream of news about the requests that wait on a state directory.
#[derive(Debug)]
pub(crate) struct Feed {
    state: PathBuf,
    /// The person who reads it, with the secret of a surface, if that person can answer here.
    reader: Option<(ApproverId, Option<String>)>,
    /// The open connection.
    replies: Option<Replies>,
    /// The requests that were reported as waiting, and not as ended.
    waiting: BTreeSet<RequestId>,
    /// True if the loss of the engine was reported.
    is_lost: bool,
}

/// One piece of news of a [`Feed`].
#[derive(Debug)]
pub(crate) enum Fed {
    /// The engine was reached: everything that waits now, and the ends that were missed.
    Current(Vec<RequestNews>),
    /// Changes since then.
    Changed(Vec<RequestNews>),
    /// The engine is not reached, for this reason. The next call tries again until it is.
    Lost(String),
    /// The engine refuses to answer this process. There is no further news.
    Refused(String),
}

impl Feed {
    pub(crate) fn of(state: &Path) -> Feed {
        Feed { state: state.to_owned(), reader: None, replies: None, waiting: BTreeSet::new(), is_lost: false }
    }

    /// Returns the feed of a person who can answer the requests, and so counts as present.
    pub(crate) fn of_person(state: &Path, by: ApproverId, token: Option<String>) -> Feed {
        Feed { reader: Some((by, token)), ..Feed::of(state) }
    }

    /// Waits for the next news.
    pub(crate) fn next(&mut self) -> Fed {
        loop {
            let is_first = self.replies.is_none();
            let why = match self.reply() {
                Ok(Reply::Done(lines)) => match news(&lines) {
                    Ok(news) => return self.told(news, is_first),
                    Err(why) => why,
                },
                Ok(Reply::Refused(why)) => return Fed::Refused(why),
                Ok(Reply::Failed(why)) => why,
                Ok(_) => "the answer has an unknown form, perhaps of another version".to_owned(),
                Err(why) => why,
            };
            self.replies = None;
            if !self.is_lost {
                self.is_lost = true;
                return Fed::Lost(why);
            }
            pause();
        }
    }

    /// Returns the next reply, over a new connection if none is open.
    fn reply(&mut self) -> Result<Reply, String> {
        if self.replies.is_none() {
            let known: Vec<_> = self.waiting.iter().copied().collect();
            let followed = match &self.reader {
                Some((by, token)) => control::attend(&self.state, &known, by, token.as_deref()),
                None => control::follow(&self.state, &known),
            };
            self.replies = followed.map_err(|why| self.unreached(&why))?;
        }
        let Some(replies) = &mut self.replies else {
            return Err(format!("no engine runs on `{}`", self.state.display()));
        };
        let reply = replies.next().unwrap_or_else(|| Err(ErrorKind::UnexpectedEof.into()));
        reply.map_err(|why| {
            let has_ended = why.kind() == ErrorKind::UnexpectedEof;
            if has_ended { "the engine has ended".to_owned() } else { self.unreached(&why) }
        })
    }

    fn unreached(&self, why: &std::io::Error) -> String {
        let who = if why.kind() == ErrorKind::PermissionDenied { state::owner(&self.state) } else { String::new() };
        format!("the engine on `{}` cannot be reached: {why}{who}", self.state.display())
    }

    fn told(&mut self, mut news: Vec<RequestNews>, is_first: bool) -> Fed {
        self.is_lost = false;
        let before = if is_first { std::mem::take(&mut self.waiting) } else { BTreeSet::new() };
        let mut mentioned = BTreeSet::new();
        for one in &news {
            match one {
                RequestNews::Waiting(waiting) => {
                    mentioned.insert(waiting.request.id);
                    self.waiting.insert(waiting.request.id);
                }
                RequestNews::Ended { id, .. } => {
                    mentioned.insert(*id);
                    self.waiting.remove(id);
                }
                RequestNews::Moved { .. } | RequestNews::HeldBack { .. } | _ => {}
            }
        }
        if !is_first {
            return Fed::Changed(news);
        }
        // An order has a limited length, so the engine may not have been asked about all of them.
        let silent = before.difference(&mentioned);
        news.extend(silent.map(|id| RequestNews::Ended { code: id.code().to_string(), id: *id, resolution: None }));
        Fed::Current(news)
    }
}

fn news(lines: &[Line]) -> Result<Vec<RequestNews>, String> {
    let read = |line: &Line| serde_json::from_value(line.json.clone());
    let all: Result<_, _> = lines.iter().map(read).collect();
    all.map_err(|why| format!("the answer has an unknown form, perhaps of another version: {why}"))
}

/// Waits a moment. The engine may be about to start.
fn pause() {
    let (_never, nothing) = channel::<()>();
    let _ = nothing.recv_timeout(PAUSE);
}
