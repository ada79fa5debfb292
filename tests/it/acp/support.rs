//! Both sides of a wrapper in this process: a test is the editor and the agent.

use std::{sync::Arc, time::Duration};

use bestow::{
    Approver, Engine, InitialGrants, Kind,
    host::{AsWritten, SystemClock},
    request::Request,
    user::{ApproverSession, Prompt},
};
use bestow_hosts::{
    OwnSessions, Sessions,
    acp::{Broken, WrapOptions, Wrapper},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    task::JoinHandle,
    time::timeout,
};

use crate::support::{profile, settings, tags};

/// The time after which a line counts as missing.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The bytes that a pipe holds.
const PIPE: usize = 64 << 10;

/// Returns the next line, as bytes. It is empty at the end.
pub(super) async fn next_line(from: &mut (impl AsyncBufRead + Unpin)) -> Vec<u8> {
    let mut line = Vec::new();
    timeout(LONGEST_WAIT, from.read_until(b'\n', &mut line)).await.expect("a line").unwrap();
    line
}

/// Returns the message in a line.
pub(super) fn message(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(line)))
}

/// One side of a wrapper.
pub(super) struct Side {
    says: Option<DuplexStream>,
    hears: BufReader<DuplexStream>,
}

impl Side {
    pub(super) fn of(says: DuplexStream, hears: DuplexStream) -> Side {
        Side { says: Some(says), hears: BufReader::new(hears) }
    }

    pub(super) async fn say(&mut self, message: &Value) {
        self.say_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub(super) async fn say_bytes(&mut self, bytes: &[u8]) {
        self.says.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// Says no more.
    pub(super) fn close(&mut self) {
        self.says = None;
    }

    /// Returns the next line, as bytes. It is empty at the end.
    pub(super) async fn line(&mut self) -> Vec<u8> {
        next_line(&mut self.hears).await
    }

    /// Returns the next message.
    pub(super) async fn hear(&mut self) -> Value {
        message(&self.line().await)
    }

    /// Returns everything up to the end.
    pub(super) async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        timeout(LONGEST_WAIT, self.hears.read_to_end(&mut rest)).await.expect("an end").unwrap();
        rest
    }
}

/// A wrapper at work.
pub(super) struct Wrapped {
    pub(super) editor: Side,
    pub(super) agent: Side,
    pub(super) task: JoinHandle<Result<(), Broken>>,
}

impl Wrapped {
    pub(super) fn around(sessions: Arc<dyn Sessions>, options: WrapOptions) -> Wrapped {
        let (editor_says, from_editor) = duplex(PIPE);
        let (to_editor, editor_hears) = duplex(PIPE);
        let (agent_says, from_agent) = duplex(PIPE);
        let (to_agent, agent_hears) = duplex(PIPE);
        let wrapper = Wrapper::new(sessions, options);
        let task = tokio::spawn(wrapper.run((from_editor, to_editor), (from_agent, to_agent), std::future::pending()));
        Wrapped { editor: Side::of(editor_says, editor_hears), agent: Side::of(agent_says, agent_hears), task }
    }

    /// Begins a session, as an editor and an agent do.
    pub(super) async fn session(&mut self, id: &str, cwd: &str) {
        let request = json!({ "jsonrpc": "2.0", "id": 100, "method": "session/new", "params": { "cwd": cwd } });
        self.editor.say(&request).await;
        assert_eq!(self.agent.hear().await, request);
        let answer = json!({ "jsonrpc": "2.0", "id": 100, "result": { "sessionId": id } });
        self.agent.say(&answer).await;
        assert_eq!(self.editor.hear().await, answer);
    }

    /// Asks for a permission, and returns the answer to the agent.
    pub(super) async fn asked(&mut self, request: &Value) -> Value {
        self.agent.say(request).await;
        self.agent.hear().await
    }

    /// Ends the agent, and waits for the end of the wrapper.
    pub(super) async fn end(mut self) -> Result<(), Broken> {
        self.agent.close();
        timeout(LONGEST_WAIT, self.task).await.expect("an end").unwrap()
    }
}

/// An engine with the agent `acp` of `you`, which may write below `/ws`.
pub(super) struct Desk {
    pub(super) engine: Engine,
    pub(super) sessions: Arc<OwnSessions>,
}

impl Desk {
    pub(super) async fn new() -> Desk {
        let engine = Engine::on(settings(|_| {}), Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
        let grants = InitialGrants::of(tags(&["@write:/ws", "@network"]));
        let host = engine.register(profile("acp", "you", Kind::Subagent), grants).await.unwrap();
        let sessions = Arc::new(OwnSessions::new(engine.clone(), host));
        Desk { engine, sessions }
    }

    pub(super) fn wrapped(&self) -> Wrapped {
        self.wrapped_with(WrapOptions::default())
    }

    pub(super) fn wrapped_with(&self, options: WrapOptions) -> Wrapped {
        Wrapped::around(self.sessions.clone(), options)
    }

    /// Begins a session `s` whose agent asks for `make` with this id. Returns the person who sees it, too.
    pub(super) async fn waiting(&self, id: impl Into<Value>) -> (Wrapped, ApproverSession, Arc<Request>) {
        let mut attending = self.person().attend().unwrap();
        let mut wrapped = self.wrapped();
        wrapped.session("s", "/ws").await;
        wrapped.agent.say(&request(id, "s", bash("make"))).await;
        let Some(Prompt::Ask(asked)) = attending.next().await else { panic!("a question") };
        (wrapped, attending, asked)
    }

    pub(super) fn person(&self) -> Approver {
        self.engine.approver("you", "ann", "terminal")
    }

    /// Returns the ids of the agents in the engine.
    pub(super) fn agents(&self) -> Vec<String> {
        self.engine.agents().unwrap().iter().map(|profile| profile.id.to_string()).collect()
    }
}

/// A request for permission with the usual options.
pub(super) fn request(id: impl Into<Value>, session: &str, call: Value) -> Value {
    with_options(id, session, call, &["allow_once", "allow_always", "reject_once"])
}

/// A request for permission with options of these kinds. The id of each is its kind, with a dash for each place of an
/// equal one before it and one more.
pub(super) fn with_options(id: impl Into<Value>, session: &str, call: Value, kinds: &[&str]) -> Value {
    let before = |place: usize| kinds[..=place].iter().filter(|kind| **kind == kinds[place]).count();
    let option = |(place, kind): (usize, &&str)| {
        let id = format!("{kind}{}", "-".repeat(before(place)));
        json!({ "optionId": id, "name": "Do it", "kind": kind })
    };
    let options: Vec<_> = kinds.iter().enumerate().map(option).collect();
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "session/request_permission",
        "params": { "sessionId": session, "toolCall": call, "options": options } })
}

/// A call of `Bash`.
pub(super) fn bash(command: &str) -> Value {
    let input = json!({ "command": command });
    json!({ "toolCallId": "c", "title": command, "kind": "execute", "name": "Bash", "rawInput": input })
}

/// Returns the option that an answer selects, or `cancelled`.
pub(super) fn chosen(answer: &Value) -> &str {
    let outcome = &answer["result"]["outcome"];
    match outcome["outcome"].as_str() {
        Some("selected") => outcome["optionId"].as_str().unwrap(),
        Some(other) => other,
        None => panic!("{answer}"),
    }
}

/// Returns the reason of an answer.
pub(super) fn reason(answer: &Value) -> &str {
    answer["result"]["_meta"]["bestow"]["reason"].as_str().unwrap()
}
