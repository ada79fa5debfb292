//! Claude Code itself, with `bestow hook claude` as its hook and a model that this test plays: a real call is stopped,
//! and a real call is allowed. `scripts/counterparts/hooks` installs it.
#![cfg(feature = "cli")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

use crate::{
    http::{client::Socket, project::Project},
    support::{BESTOW, ROOT, real},
};

/// Returns the program. In CI it must be there.
fn claude_code() -> Option<PathBuf> {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let package = format!("node_modules/@anthropic-ai/claude-code-linux-{machine}");
    let file = Path::new(ROOT).join("target/counterparts/hooks").join(package).join("claude");
    let is_there = file.exists();
    assert!(is_there || std::env::var_os("CI").is_none(), "Claude Code is missing: {}", file.display());
    if !is_there {
        eprintln!("not run: the hooks of Claude Code, because {} is missing", file.display());
    }
    is_there.then(|| real(&file))
}

/// The call of a tool: its name and its input.
type ToolCall = (String, Value);

/// Chooses the call of a tool by the first message of a conversation.
type Play = Arc<dyn Fn(&str) -> ToolCall + Send + Sync>;

/// A model that calls one tool in each conversation, and then says that it is done. It keeps what it is told.
struct Model {
    address: SocketAddr,
    told: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Creates a model that makes this call.
    fn calling(tool: &str, input: Value) -> Model {
        let call = (tool.to_owned(), input);
        Model::playing(Arc::new(move |_| call.clone()))
    }

    /// Creates a model that lets a subagent make this call.
    fn calling_in_subagent(tool: &str, input: Value) -> Model {
        let call = (tool.to_owned(), input);
        let prompt = "make the call of the subagent";
        let start = json!({ "description": "call", "prompt": prompt, "subagent_type": "general-purpose" });
        let start = ("Agent".to_owned(), start);
        Model::playing(Arc::new(move |first| if first.contains(prompt) { call.clone() } else { start.clone() }))
    }

    fn playing(play: Play) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&told);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, play) = (Arc::clone(&kept), Arc::clone(&play));
                thread::spawn(move || serve(&stream, &kept, &play));
            }
        });
        Model { address, told }
    }

    /// Returns the result of the tool, as the model gets it.
    fn result(&self) -> Value {
        self.results().first().unwrap().clone()
    }

    /// Returns the results of all tools, as the model gets them.
    fn results(&self) -> Vec<Value> {
        let told = self.told.lock().unwrap();
        let contents = told.iter().flat_map(|body| body["messages"].as_array().unwrap());
        let blocks = contents.filter_map(|message| message["content"].as_array()).flatten();
        let results: Vec<_> = blocks.filter(|block| block["type"] == "tool_result").cloned().collect();
        assert!(!results.is_empty(), "no result: {told:?}");
        results
    }
}

/// Serves the requests of one connection.
fn serve(stream: &TcpStream, kept: &Mutex<Vec<Value>>, play: &Play) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let reply = serde_json::from_slice(&body).map_or_else(|_| String::new(), |body| said(body, kept, play));
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", reply.len());
        (&mut &*stream).write_all(format!("{head}{reply}").as_bytes()).ok()?;
    }
}

/// Returns what the model says to a request, as a stream of events.
fn said(body: Value, kept: &Mutex<Vec<Value>>, play: &Play) -> String {
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let calls = has_tools && !body["messages"].to_string().contains("\"tool_result\"");
    let (block, delta, stop) = if calls {
        let (tool, input) = play(&body["messages"][0].to_string());
        (
            json!({ "type": "tool_use", "id": "toolu_1", "name": tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            "tool_use",
        )
    } else {
        (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": "done" }), "end_turn")
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    kept.lock().unwrap().push(body);
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ];
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(line).collect()
}

/// A project with a server, and Claude Code in it.
struct Desk {
    project: Project,
    program: PathBuf,
}

impl Desk {
    fn new(program: PathBuf) -> Desk {
        let mut project = Project::new();
        for name in ["work", "home"] {
            std::fs::create_dir(project.path().join(name)).unwrap();
        }
        project.policy(
            "[defaults]\nowner = \"you\"\nworking_dir = \".\"\n\n[agents.claude]\nkind = \"permanent\"\n\
             permissions = [\"@write:work\"]\n\n[agents.\"claude:general-purpose\"]\nkind = \"permanent\"\n\
             mode = \"plan\"\n\n[[tools]]\nname = \"Agent\"\noperation = \"tool\"\n\n[[agents.claude.rules]]\n\
             verdict = \"allow\"\ntool = \"Agent\"\nchildren = true\n",
        );
        let token = project.token(&["--role", "agent", "--agent", "claude"]);
        std::fs::write(project.path().join("claude-token"), token).unwrap();
        project.serve();
        let desk = Desk { project, program };
        std::fs::write(desk.path("settings.json"), desk.settings().to_string()).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    fn settings(&self) -> Value {
        let (ready, token) = (self.path("ready.json"), self.path("claude-token"));
        let command = format!("{BESTOW} hook claude --ready-file {} --token-file {}", ready.display(), token.display());
        let hooks = json!([{ "matcher": "*", "hooks": [{ "type": "command", "command": command, "timeout": 600 }] }]);
        let sessions = ["SessionStart", "SessionEnd", "SubagentStart", "SubagentStop"];
        let names = ["PreToolUse", "PermissionRequest"].into_iter().chain(sessions);
        let all: serde_json::Map<_, _> = names.map(|name| (name.to_owned(), hooks.clone())).collect();
        json!({ "hooks": all })
    }

    /// Lets Claude Code do what the model says.
    fn run(&self, model: &Model) {
        let mut command = Command::new(&self.program);
        command.args(["-p", "go", "--output-format", "json", "--settings"]).arg(self.path("settings.json"));
        command.current_dir(self.path("work")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.path("home")).env("ANTHROPIC_API_KEY", "none");
        command.env("ANTHROPIC_BASE_URL", format!("http://{}", model.address));
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("\"result\":\"done\""), "{output:?}");
    }
}

#[test]
fn claude_code_stops_a_call_that_is_denied() {
    let Some(program) = claude_code() else { return };
    let desk = Desk::new(program);
    let target = desk.path("elsewhere");
    let model = Model::calling("Write", json!({ "file_path": target, "content": "x" }));
    desk.run(&model);
    let result = model.result();
    assert_eq!(result["is_error"], true, "{result}");
    assert!(!target.exists());
    let model = Model::calling("Bash", json!({ "command": "rm -rf /", "description": "clean" }));
    desk.run(&model);
    let result = model.result();
    assert!(result["is_error"] == true && result.to_string().contains("Destructive command"), "{result}");
}

#[test]
fn claude_code_makes_a_call_that_is_allowed() {
    let Some(program) = claude_code() else { return };
    let desk = Desk::new(program);
    let target = desk.path("work/made");
    let model = Model::calling("Write", json!({ "file_path": target, "content": "by the model" }));
    desk.run(&model);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "by the model", "{}", model.result());
    let model = Model::calling("Bash", json!({ "command": "ls", "description": "list" }));
    desk.run(&model);
    let result = model.result();
    assert!(result["is_error"] != true && result.to_string().contains("made"), "{result}");
}

#[test]
fn a_subagent_of_claude_code_is_limited_by_its_type() {
    let Some(program) = claude_code() else { return };
    let desk = Desk::new(program);
    let target = desk.path("work/made");
    let model = Model::calling_in_subagent("Write", json!({ "file_path": target, "content": "x" }));
    desk.run(&model);
    let results = model.results();
    let is_denial =
        |result: &Value| result["is_error"] == true && result.to_string().contains("claude:general-purpose");
    assert!(results.iter().any(is_denial) && !target.exists(), "{results:?}");
}

#[tokio::test]
async fn claude_code_waits_for_the_person_at_the_dashboard_and_calls_what_that_person_approved() {
    let Some(program) = claude_code() else { return };
    let desk = Desk::new(program);
    let you = desk.project.approver();
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let mut screen = Socket::open(desk.project.address(), "/ws/permissions", &headers).await.unwrap();
    screen.next().await.unwrap();
    let model = Arc::new(Model::calling("Bash", json!({ "command": "touch asked", "description": "touch" })));
    let (runs, played) = (Arc::new(desk), Arc::clone(&model));
    let running = tokio::task::spawn_blocking({
        let desk = Arc::clone(&runs);
        move || desk.run(&played)
    });
    let asked = screen.next().await.unwrap();
    assert_eq!(asked["data"]["toolInput"]["command"], "touch asked", "{asked}");
    let instead = json!({ "command": "touch changed", "description": "touch" }).to_string();
    let body = json!({ "requestId": asked["data"]["id"], "decision": "approve", "modifiedInput": instead });
    assert_eq!(runs.project.post(&you, "/api/permissions", &body).await.status, 200);
    running.await.unwrap();
    let is_there = |name: &str| runs.path("work").join(name).exists();
    assert!(is_there("changed") && !is_there("asked"), "{}", model.result());
}
