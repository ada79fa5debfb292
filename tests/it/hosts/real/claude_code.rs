//! Claude Code itself, with the hooks that `bestow install claude` writes: a real call is stopped, and a real call is
//! allowed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    Desk, MACHINE, done, installed,
    model::{Dialect, Model, ToolCall},
};
use crate::{http::client::Socket, support::BESTOW};

/// Returns the program.
pub(super) fn program() -> Option<PathBuf> {
    installed(&format!("node_modules/@anthropic-ai/claude-code-linux-{MACHINE}/claude"))
}

impl Desk {
    /// Runs `bestow install claude --user` where Claude Code is on the PATH.
    fn install(&self, program: &Path) -> Output {
        let mut command = self.command(BESTOW);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        command.args(["install", "claude", "--user"]).args(self.engine()).output().unwrap()
    }

    /// Creates a project in whose settings of the user the hooks are.
    fn installed(self, program: &Path) -> Desk {
        let output = self.install(program);
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !told.contains("note:"), "{output:?}");
        let settings = self.settings();
        let hooks = settings["hooks"].as_object().unwrap();
        assert_eq!(hooks.len(), 6, "{settings}");
        assert!(hooks.values().all(|group| group[0]["hooks"][0]["onFailure"] == "block"), "{settings}");
        self
    }

    fn settings(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("home/.claude/settings.json")).unwrap()).unwrap()
    }

    /// Takes the hook of an event out of the settings.
    fn without(self, event: &str) -> Desk {
        let mut settings = self.settings();
        settings["hooks"].as_object_mut().unwrap().remove(event).unwrap();
        self.write(".claude/settings.json", &settings);
        self
    }

    pub(super) fn claude(&self, program: &Path, model: &Model) -> Command {
        let mut command = self.command(program);
        command.args(["-p", "go", "--output-format", "json"]).env("ANTHROPIC_API_KEY", "none");
        command.env("ANTHROPIC_BASE_URL", format!("http://{}", model.address));
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        command
    }

    /// Lets Claude Code do what the model says.
    fn run(&self, program: &Path, model: &Model) {
        done(self.claude(program, model));
    }
}

fn calling(tool: &str, input: Value) -> Model {
    Model::calling(Dialect::Messages, tool, input)
}

/// Creates a model that lets a subagent make this call.
fn calling_in_subagent(tool: &str, input: Value) -> Model {
    let call: ToolCall = (tool.to_owned(), input);
    let prompt = "make the call of the subagent";
    let start = json!({ "description": "call", "prompt": prompt, "subagent_type": "general-purpose" });
    let start: ToolCall = ("Agent".to_owned(), start);
    Model::playing(Dialect::Messages, move |first| {
        Some(if first.contains(prompt) { call.clone() } else { start.clone() })
    })
}

fn writing(path: &Path) -> Model {
    calling("Write", json!({ "file_path": path, "content": "by the model" }))
}

#[test]
fn claude_code_stops_a_call_that_is_denied() {
    let Some(program) = program() else { return };
    for desk in [Desk::served("claude"), Desk::own("claude")] {
        let desk = desk.installed(&program);
        let target = desk.path("elsewhere");
        let model = writing(&target);
        desk.run(&program, &model);
        let result = model.result();
        assert_eq!(result["is_error"], true, "{result}");
        assert!(!target.exists());
        let model = calling("Bash", json!({ "command": "rm -rf /", "description": "clean" }));
        desk.run(&program, &model);
        let result = model.result();
        assert!(result["is_error"] == true && result.to_string().contains("Destructive command"), "{result}");
    }
}

#[test]
fn claude_code_makes_a_call_that_is_allowed() {
    let Some(program) = program() else { return };
    for desk in [Desk::served("claude"), Desk::own("claude")] {
        let desk = desk.installed(&program);
        let target = desk.path("work/made");
        let model = writing(&target);
        desk.run(&program, &model);
        assert_eq!(fs::read_to_string(&target).unwrap(), "by the model", "{}", model.result());
        let model = calling("Bash", json!({ "command": "ls", "description": "list" }));
        desk.run(&program, &model);
        let result = model.result();
        assert!(result["is_error"] != true && result.to_string().contains("made"), "{result}");
    }
}

#[test]
fn a_hook_of_claude_code_that_cannot_be_started_stops_the_call() {
    let Some(program) = program() else { return };
    let desk = Desk::own("claude").installed(&program);
    let text = desk.settings().to_string().replace(BESTOW, "/does/not/exist");
    desk.write(".claude/settings.json", &serde_json::from_str(&text).unwrap());
    let target = desk.path("work/made");
    let model = writing(&target);
    desk.run(&program, &model);
    assert!(model.result()["is_error"] == true && !target.exists(), "{}", model.result());
}

#[test]
fn a_subagent_of_claude_code_is_limited_by_its_type() {
    let Some(program) = program() else { return };
    let desk = Desk::served("claude").installed(&program);
    let target = desk.path("work/made");
    let model = calling_in_subagent("Write", json!({ "file_path": target, "content": "x" }));
    desk.run(&program, &model);
    let results = model.results();
    let is_denial =
        |result: &Value| result["is_error"] == true && result.to_string().contains("claude:general-purpose");
    assert!(results.iter().any(is_denial) && !target.exists(), "{results:?}");
}

/// No call happens, so only the begin and the end of the session are told.
#[test]
fn the_start_and_the_end_of_a_session_of_claude_code_create_and_retire_its_agent() {
    let Some(program) = program() else { return };
    for desk in [Desk::served("claude"), Desk::own("claude")] {
        let desk = desk.installed(&program);
        let model = Model::playing(Dialect::Messages, |_| None);
        desk.run(&program, &model);
        assert_eq!(desk.lives("claude:"), ["session begins", "session ends"]);
        let desk = desk.without("SessionEnd");
        desk.run(&program, &model);
        assert_eq!(desk.lives("claude:").len(), 3, "the end was told by that event");
        let desk = desk.without("SessionStart");
        desk.run(&program, &model);
        assert_eq!(desk.lives("claude:").len(), 3, "the begin was told by that event");
    }
}

/// Without the end of the session, only the end of the subagent retires it.
#[test]
fn the_end_of_a_subagent_of_claude_code_retires_its_agent() {
    let Some(program) = program() else { return };
    let model = || calling_in_subagent("Bash", json!({ "command": "ls", "description": "list" }));
    let begun = ["session begins", "subagent begins"];
    let desk = Desk::served("claude").installed(&program).without("SessionEnd");
    desk.run(&program, &model());
    assert_eq!(desk.lives("claude:"), [&begun[..], &["subagent ends"]].concat());
    let desk = Desk::served("claude").installed(&program).without("SessionEnd").without("SubagentStop");
    desk.run(&program, &model());
    assert_eq!(desk.lives("claude:"), begun);
}

/// The hook before the call is taken out, so the prompt is about to appear, and the hook about prompts decides.
#[test]
fn the_hook_about_prompts_of_claude_code_allows_and_denies() {
    let Some(program) = program() else { return };
    for desk in [Desk::served("claude"), Desk::own("claude")] {
        let desk = desk.installed(&program).without("PreToolUse");
        let (inside, outside) = (desk.path("work/made"), desk.path("elsewhere"));
        let model = writing(&inside);
        desk.run(&program, &model);
        assert!(inside.exists(), "the engine allows it: {}", model.result());
        let model = writing(&outside);
        desk.run(&program, &model);
        assert!(model.result()["is_error"] == true && !outside.exists(), "{}", model.result());
        fs::remove_file(&inside).unwrap();
        let desk = desk.without("PermissionRequest");
        let model = writing(&inside);
        desk.run(&program, &model);
        assert!(!inside.exists(), "without the hook, nobody answers the prompt: {}", model.result());
    }
}

/// The trap: Claude Code passes over a whole file that it does not read, and runs no hook of it.
#[test]
fn settings_that_claude_code_passes_over_are_refused_and_stay() {
    let Some(program) = program() else { return };
    for (settings, why) in [
        ("{ \"model\": \"opus\", // ours\n }", "plain JSON"),
        ("{ \"model\": \"opus\", }", "plain JSON"),
        ("{ \"model\": 5 }", "model: Expected string"),
        ("{ \"permissions\": { \"deny\": \"Read\" } }", "permissions.deny: Expected array"),
    ] {
        let desk = Desk::own("claude");
        fs::create_dir_all(desk.path("home/.claude")).unwrap();
        fs::write(desk.path("home/.claude/settings.json"), settings).unwrap();
        let output = desk.install(&program);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && told.contains(why), "{settings}: {output:?}");
        assert_eq!(fs::read_to_string(desk.path("home/.claude/settings.json")).unwrap(), settings);
        // The hook that stops every call runs in plain settings, and not in these.
        let hook =
            "\"hooks\": { \"PreToolUse\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"exit 2\" }] }] }";
        for (text, is_stopped) in
            [(settings.replacen('{', &format!("{{ {hook},"), 1), false), (format!("{{ {hook} }}"), true)]
        {
            fs::write(desk.path("home/.claude/settings.json"), text).unwrap();
            let model = calling("Bash", json!({ "command": "touch made", "description": "touch" }));
            let mut command = desk.claude(&program, &model);
            command.args(["--allowedTools", "Bash"]);
            done(command);
            let made = desk.path("work/made");
            assert_eq!(made.exists(), !is_stopped, "{settings}: {}", model.result());
            let _ = fs::remove_file(made);
        }
    }
}

/// One entry that Claude Code passes over alone stops no hook.
#[test]
fn an_entry_that_claude_code_passes_over_alone_is_named() {
    let Some(program) = program() else { return };
    let desk = Desk::own("claude");
    desk.write(".claude/settings.json", &json!({ "permissions": { "deny": ["Read((("] } }));
    let output = desk.install(&program);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("note: Claude Code says: permissions.deny"), "{output:?}");
}

#[tokio::test]
async fn claude_code_waits_for_the_person_at_the_dashboard_and_calls_what_that_person_approved() {
    let Some(program) = program() else { return };
    let desk = Desk::served("claude").installed(&program);
    let you = desk.project.approver();
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let mut screen = Socket::open(desk.project.address(), "/ws/permissions", &headers).await.unwrap();
    screen.next().await.unwrap();
    let model = Arc::new(calling("Bash", json!({ "command": "touch asked", "description": "touch" })));
    let (runs, played) = (Arc::new(desk), Arc::clone(&model));
    let running = tokio::task::spawn_blocking({
        let desk = Arc::clone(&runs);
        move || desk.run(&program, &played)
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
