//! The wrapper between an editor and an agent: lines in both directions, and the answers of an engine.

use std::{
    collections::{BTreeSet, HashSet},
    fmt, io,
    sync::{Arc, Mutex as Lock, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{Mutex, oneshot},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    envelope::{Envelope, Key, Said, names, names_permission},
    held::{Held, Place, Refused, Stop},
    judge::{CANCELLED, Case, Verdict},
    lines::{Found, Lines},
    options::WrapOptions,
    permission::{Asked, Choice, Subject},
    reply,
    sessions::{News, Sessions as Known},
};
use crate::Sessions;

/// The longest line, in bytes. A longer one is not copied: nobody has read it whole.
const LONGEST: usize = 64 << 20;

/// The longest request for permission, in bytes.
const LONGEST_REQUEST: usize = 16 << 20;

/// The part of the methods of sessions that they share.
const OF_SESSIONS: &str = "session/";

/// The most requests of the agent to the editor that wait for an answer.
const MOST_ASKED: usize = 4096;

/// The most lines of the agent that are being answered. Then no further one is read.
const MOST_ANSWERED: usize = 512;

/// The time in which the last line of an agent is written, and that in which its sessions are ended.
const ENDING: Duration = Duration::from_secs(2);

/// A receiver of remarks for people, without a line end.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// The reason why a wrapper ended before its agent did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// The editor does not read any more.
    #[error("the editor does not read any more: {0}")]
    Editor(io::Error),
    /// The output of the agent cannot be read.
    #[error("the output of the agent cannot be read: {0}")]
    Agent(io::Error),
}

type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// A wrapper between an editor and an agent.
///
/// Every message is copied byte for byte in both directions, except the requests of the agent for permission. The
/// engine behind `sessions` answers them. A line that readers could understand in different ways is not copied.
pub struct Wrapper {
    sessions: Arc<dyn Sessions>,
    options: WrapOptions,
    log: Log,
}

impl fmt::Debug for Wrapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wrapper").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Wrapper {
    /// Creates a wrapper whose remarks are not shown.
    pub fn new(sessions: Arc<dyn Sessions>, options: WrapOptions) -> Wrapper {
        Wrapper { sessions, options, log: Arc::new(|_| ()) }
    }

    /// Sets the receiver of remarks.
    #[must_use]
    pub fn logging(self, log: Log) -> Wrapper {
        Wrapper { log, ..self }
    }

    /// Copies lines until the output of the agent ends, or `stop`. When the editor says no more, the input of the agent
    /// is closed.
    ///
    /// # Errors
    ///
    /// One of the sides cannot be read or written. The agent is to be ended then.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves requests in the engine, which end with their sessions.
    pub async fn run(
        self,
        (editor_says, to_editor): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        (agent_says, to_agent): (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin + 'static),
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), Broken> {
        let shared = Arc::new(Shared {
            sessions: self.sessions,
            options: self.options,
            log: self.log,
            to_editor: Mutex::new(Box::new(to_editor)),
            to_agent: Mutex::new(Some(Box::new(to_agent))),
            table: Lock::new(Table::new()),
        });
        let mut of_editor = JoinSet::new();
        of_editor.spawn(Arc::clone(&shared).hear_editor(editor_says));
        let (stopped, stopping) = oneshot::channel();
        let stop = async {
            stop.await;
            // What was read is written, if the editor reads it.
            let _ = stopped.send(());
            sleep(ENDING).await;
        };
        let ended = tokio::select! {
            ended = Arc::clone(&shared).hear_agent(agent_says, stopping) => ended,
            () = stop => Ok(()),
        };
        drop(of_editor);
        shared.end_sessions().await;
        ended
    }
}

/// The state that the tasks of one wrapper share.
struct Shared {
    sessions: Arc<dyn Sessions>,
    options: WrapOptions,
    log: Log,
    to_editor: Mutex<Writer>,
    /// None when the editor says no more.
    to_agent: Mutex<Option<Writer>>,
    table: Lock<Table>,
}

struct Table {
    known: Known,
    held: Held,
    /// The requests of the agent that the editor has got and not answered.
    asked: HashSet<Key>,
    /// The sessions that the engine knows.
    begun: BTreeSet<String>,
}

impl Table {
    fn new() -> Table {
        Table { known: Known::default(), held: Held::new(), asked: HashSet::new(), begun: BTreeSet::new() }
    }
}

/// A request for permission that waits.
struct Request {
    id: Box<RawValue>,
    key: Key,
    place: Place,
    stopped: oneshot::Receiver<Stop>,
    case: Case,
    /// The request as the agent wrote it.
    line: Vec<u8>,
}

/// The side of the agent.
impl Shared {
    async fn hear_agent(
        self: Arc<Shared>,
        agent_says: impl AsyncRead + Unpin,
        mut stopping: oneshot::Receiver<()>,
    ) -> Result<(), Broken> {
        let mut lines = Lines::new(agent_says, LONGEST);
        let mut tasks = JoinSet::new();
        loop {
            let found = tokio::select! {
                found = lines.next() => found.map_err(Broken::Agent)?,
                Ok(()) = &mut stopping => return self.agent_said(&lines.line, &mut tasks).await,
            };
            match found {
                Found::End => return Ok(()),
                Found::Line => self.agent_said(&lines.line, &mut tasks).await?,
                Found::Beginning => {
                    let beginning = Envelope::read_beginning(&lines.line);
                    self.agent_was_unclear(&beginning, &format!("a line has at most {LONGEST} bytes"), &mut tasks);
                    lines.pass_over_rest().await.map_err(Broken::Agent)?;
                }
            }
            while tasks.try_join_next().is_some() {}
            while MOST_ANSWERED <= tasks.len() {
                tasks.join_next().await;
            }
        }
    }

    async fn agent_said(self: &Arc<Shared>, line: &[u8], tasks: &mut JoinSet<()>) -> Result<(), Broken> {
        match Said::read(line) {
            Said::Message(message) if message.is_permission => self.permission(&message, line, tasks),
            Said::Message(message) if self.cancels_own(&message) => {}
            Said::Message(message) => match self.note(&message) {
                Ok(()) => self.to_editor(line).await?,
                Err(why) => self.refuse(message.id.map(ToOwned::to_owned), why, tasks),
            },
            Said::Text => self.to_editor(line).await?,
            Said::Unclear(_) if !names(line, OF_SESSIONS) && !names(line, "jsonrpc") => {
                (self.log)("a line of the agent was left out: it is not one clear message");
            }
            Said::Unclear(message) => {
                let named = if names_permission(line) { " names session/request_permission and" } else { "" };
                let why = format!("the line{named} is not one clear message");
                self.agent_was_unclear(&message, &why, tasks);
            }
        }
        Ok(())
    }

    /// Handles a line of the agent that is not copied. It may have told something about a call.
    fn agent_was_unclear(self: &Arc<Shared>, message: &Envelope<'_>, why: &str, tasks: &mut JoinSet<()>) {
        self.table().known.lost();
        let id = message.key().and(message.id).map(ToOwned::to_owned);
        match id {
            // The editor waits for this answer.
            Some(id) if message.is_response() => {
                (self.log)(&format!("an answer of the agent was left out: {why}"));
                let line = reply::error(Some(&id), reply::INVALID_REQUEST, why);
                let shared = Arc::clone(self);
                tasks.spawn(async move { drop(shared.to_editor(line.as_bytes()).await) });
            }
            id => self.refuse(id, why, tasks),
        }
    }

    /// Notes a message of the agent to the editor.
    fn note(&self, message: &Envelope<'_>) -> Result<(), &'static str> {
        let mut table = self.table();
        if let Some(key) = message.key().filter(|_| message.method.is_some()) {
            if MOST_ASKED <= table.asked.len() {
                return Err("too many requests wait for the editor");
            }
            if table.held.has(&key) {
                return Err("a request for permission that waits has this id");
            }
            table.asked.insert(key);
        }
        table.known.of_agent(message)
    }

    /// Handles a request for permission: the engine is asked in a task of its own.
    fn permission(self: &Arc<Shared>, message: &Envelope<'_>, line: &[u8], tasks: &mut JoinSet<()>) {
        match self.request(message, line) {
            Ok(request) => drop(tasks.spawn(Arc::clone(self).answer(request))),
            Err(why) => self.refuse(message.id.map(ToOwned::to_owned), &why, tasks),
        }
    }

    fn request(&self, message: &Envelope<'_>, line: &[u8]) -> Result<Request, String> {
        if LONGEST_REQUEST < line.len() {
            return Err(format!("a request for permission has at most {LONGEST_REQUEST} bytes"));
        }
        let (id, key) =
            message.id.zip(message.key()).ok_or("a request for permission has an `id`: a number or a text")?;
        let asked = Asked::read(message.params)?;
        let mut table = self.table();
        let found = table.known.find(&asked.session);
        let known = table.known.call(&asked.session, asked.call_id());
        if let Subject::Call(call) = &asked.subject {
            table.known.asked(&asked.session, call);
        }
        if table.asked.contains(&key) {
            return Err("a request that the editor has not answered yet has this id".to_owned());
        }
        let (place, stopped) =
            table.held.insert(key.clone(), asked.session.clone(), line.len()).map_err(|why| match why {
                Refused::Twice => "two requests that wait have this id".to_owned(),
                Refused::Full => "too many requests for permission wait".to_owned(),
            })?;
        if let Some(found) = &found {
            table.begun.insert(found.root.clone());
        }
        let case = Case { asked, found, known };
        Ok(Request { id: id.to_owned(), key, place, stopped, case, line: line.to_vec() })
    }

    /// Answers a request with an error, and remarks it. It counts as a request that waits until the answer is written.
    fn refuse(self: &Arc<Shared>, id: Option<Box<RawValue>>, why: &str, tasks: &mut JoinSet<()>) {
        (self.log)(&format!("a line of the agent was refused: {why}"));
        let line = reply::error(id.as_deref(), reply::INVALID_REQUEST, why);
        let shared = Arc::clone(self);
        tasks.spawn(async move { shared.to_agent(line.as_bytes()).await });
    }

    /// Stops a request that waits here, if the message cancels it. The editor does not know that request.
    fn cancels_own(&self, message: &Envelope<'_>) -> bool {
        if message.method.as_deref() != Some("$/cancel_request") {
            return false;
        }
        let id = message.params.and_then(|params| {
            let params: Cancelled<'_> = serde_json::from_str(params.get()).ok()?;
            Key::of(params.request_id)
        });
        let mut table = self.table();
        let Some(key) = id.filter(|key| table.held.has(key)) else { return false };
        table.held.stop(&key, Stop::ByAgent);
        true
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}

/// The answers.
impl Shared {
    async fn answer(self: Arc<Shared>, request: Request) {
        let Request { id, key, place, mut stopped, case, line } = request;
        let verdict = tokio::select! {
            biased;
            stop = &mut stopped => Err(stop),
            verdict = case.verdict(&*self.sessions, &self.options) => Ok(verdict),
        };
        let verdict = match verdict {
            Ok(verdict) if self.table().held.claim(&key, place) => Ok(verdict),
            // It was stopped in the meantime.
            Ok(_) => Err(stopped.await),
            Err(stop) => Err(stop),
        };
        match verdict {
            Ok(Verdict::Allow(choice, reason)) => self.answered(&id, &choice, &reason).await,
            Ok(Verdict::Refuse(choice, reason)) => {
                (self.log)(&format!("refused {}: {reason}", case.subject()));
                self.answered(&id, &choice, &reason).await;
            }
            Ok(Verdict::ToEditor) => {
                // From here on, the id belongs to the editor.
                {
                    let mut table = self.table();
                    table.held.remove(&key, place);
                    table.asked.insert(key.clone());
                }
                let _ = self.to_editor(&line).await;
            }
            Err(stop) => {
                self.stopped(&id, stop.unwrap_or(Stop::Answered)).await;
                // The agent goes on while the question is withdrawn.
                self.table().held.remove(&key, place);
                case.withdraw(&*self.sessions).await;
            }
        }
        self.table().held.remove(&key, place);
    }

    async fn answered(&self, id: &RawValue, choice: &Choice, reason: &str) {
        self.to_agent(reply::outcome(id, choice, reason).as_bytes()).await;
    }

    async fn stopped(&self, id: &RawValue, why: Stop) {
        match why {
            Stop::ByEditor => self.answered(id, &Choice::Cancelled, CANCELLED).await,
            Stop::ByAgent => {
                let line = reply::error(Some(id), reply::CANCELLED, "the request was cancelled");
                self.to_agent(line.as_bytes()).await;
            }
            Stop::Answered => {}
        }
    }

    /// Ends the sessions of the agent in the engine.
    async fn end_sessions(&self) {
        let begun = std::mem::take(&mut self.table().begun);
        let ending = async {
            for session in begun.iter().filter_map(|id| id.parse().ok()) {
                if let Err(why) = self.sessions.end(session, None).await {
                    (self.log)(&format!("a session was not ended: {why}"));
                }
            }
        };
        if timeout(ENDING, ending).await.is_err() {
            (self.log)("the sessions were not ended in time");
        }
    }
}

/// The side of the editor.
impl Shared {
    async fn hear_editor(self: Arc<Shared>, editor_says: impl AsyncRead + Unpin) {
        let mut lines = Lines::new(editor_says, LONGEST);
        loop {
            match lines.next().await {
                Ok(Found::Line) => Arc::clone(&self).editor_said(&lines.line).await,
                Ok(Found::Beginning) => {
                    let beginning = Envelope::read_beginning(&lines.line);
                    self.editor_was_unclear(&beginning, &format!("a line has at most {LONGEST} bytes")).await;
                    if lines.pass_over_rest().await.is_err() {
                        break;
                    }
                }
                Ok(Found::End) | Err(_) => break,
            }
        }
        self.editor_is_gone().await;
    }

    async fn editor_said(self: Arc<Shared>, line: &[u8]) {
        let message = match Said::read(line) {
            Said::Message(message) => message,
            Said::Text => return self.to_agent(line).await,
            Said::Unclear(message) => {
                return self.editor_was_unclear(&message, "the line is not one clear message").await;
            }
        };
        // An answer to a request that the editor never got could only be meant for one that the engine answers.
        if message.is_response() && !message.key().is_some_and(|key| self.table().asked.remove(&key)) {
            return (self.log)("an answer of the editor was left out: the editor was not asked that");
        }
        let news = self.table().known.of_editor(&message);
        self.to_agent(line).await;
        match news {
            None => {}
            Some(News::Cancelled(session)) => self.stop_below(&session),
            Some(News::Closed(session)) => {
                self.stop_below(&session);
                // The editor may say more while the engine is slow.
                tokio::spawn(async move { self.close(&session).await });
            }
        }
    }

    /// Handles a line of the editor that is not copied.
    async fn editor_was_unclear(&self, message: &Envelope<'_>, why: &str) {
        (self.log)(&format!("a line of the editor was left out: {why}"));
        let key = message.key();
        let id = message.id.filter(|_| key.is_some());
        let error = |id| reply::error(id, reply::INVALID_REQUEST, why);
        if !message.is_response() {
            // An editor that reads no more ends the wrapper elsewhere.
            let _ = self.to_editor(error(id).as_bytes()).await;
        } else if key.is_some_and(|key| self.table().asked.remove(&key)) {
            // The agent waits for this answer.
            self.to_agent(error(id).as_bytes()).await;
        }
    }

    fn stop_below(&self, session: &str) {
        let mut table = self.table();
        let Table { known, held, .. } = &mut *table;
        held.stop_all(Stop::ByEditor, |id| known.is_below(id, session));
    }

    /// Ends a session in the engine. A later call begins it anew.
    async fn close(&self, session: &str) {
        let was_begun = self.table().begun.remove(session);
        let id = if was_begun { session.parse().ok() } else { None };
        if let Some(id) = id
            && let Err(why) = self.sessions.end(id, None).await
        {
            (self.log)(&format!("a session was not ended: {why}"));
        }
    }

    /// Cancels what waits, and closes the input of the agent.
    async fn editor_is_gone(&self) {
        let mut count = {
            let mut table = self.table();
            table.held.stop_all(Stop::ByEditor, |_| true);
            table.held.count()
        };
        let _ = count.wait_for(|count| *count == 0).await;
        if let Some(mut to_agent) = self.to_agent.lock().await.take() {
            let _ = to_agent.shutdown().await;
        }
    }
}

/// The parts that both sides use.
impl Shared {
    /// Writes one line to the editor.
    async fn to_editor(&self, line: &[u8]) -> Result<(), Broken> {
        let mut to_editor = self.to_editor.lock().await;
        to_editor.write_all(line).await.map_err(Broken::Editor)?;
        to_editor.flush().await.map_err(Broken::Editor)
    }

    /// Writes one line to the agent. An agent that reads no more ends by itself.
    async fn to_agent(&self, line: &[u8]) {
        if let Some(to_agent) = self.to_agent.lock().await.as_mut() {
            let written = async {
                to_agent.write_all(line).await?;
                to_agent.flush().await
            };
            let _ = written.await;
        }
    }

    /// Locks what is known. A task that panicked under the lock left it as consistent as every other one does.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
