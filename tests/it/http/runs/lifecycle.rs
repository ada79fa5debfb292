//! Runs whose bots the server starts: `prepare_run`, `start_run`, `stop_run` and A17.

use bestow::{
    Kind, Profile,
    agent::{BotCommand, InitialGrants},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{heard, opened, person, say, subscribe};
use crate::http::{client::Socket, daemon::Daemon};

/// A bot that asks about a write, waits for the result, and says what it got.
const ASKS: &str = r#"
read -r hello
echo '{"type":"authorize","operation":"fs.write","resource":"out","toolName":"write_file"}'
while read -r line; do
    case "$line" in
        *'"type":"permission_result"'*'"outcome":"granted"'*) echo '{"type":"message","text":"written"}'; exit 0 ;;
        *'"type":"permission_result"'*) echo '{"type":"message","text":"refused"}'; exit 3 ;;
    esac
done
exit 4
"#;

/// A bot that ends well at once, with a line on its standard error.
const ENDS: &str = "echo 'all is well' >&2";

/// A bot that waits until its input ends.
const WAITS: &str = "while read -r line; do :; done";

/// A server, and a directory for the bots.
struct Stage {
    daemon: Daemon,
    you: Socket,
    directory: TempDir,
}

impl Stage {
    async fn new() -> Stage {
        let daemon = Daemon::start().await;
        let you = person(&daemon).await;
        Stage { daemon, you, directory: tempfile::tempdir().unwrap() }
    }

    /// Registers an agent with a bot that runs this script.
    async fn agent(&self, id: &str, owner: &str, script: &str) {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        self.bot(id, owner, BotCommand { command, sandbox: false }).await;
    }

    async fn bot(&self, id: &str, owner: &str, bot: BotCommand) {
        let place = self.directory.path().to_str().unwrap().parse().unwrap();
        let profile = Profile::new(id.parse().unwrap(), owner.parse().unwrap(), Kind::Subagent, place).with_bot(bot);
        self.daemon.world.engine.register(profile, InitialGrants::of([])).await.unwrap();
    }

    async fn seen(&mut self, kind: &str) -> Value {
        let frame = self.you.next().await.unwrap();
        assert_eq!(frame["type"], kind, "{frame}");
        frame
    }

    async fn prepared(&mut self, agents: &[&str]) -> String {
        say(&mut self.you, json!({ "type": "prepare_run", "agents": agents, "requestId": "p" })).await;
        let prepared = self.seen("run_prepared").await;
        assert_eq!((&prepared["requestId"], &prepared["agents"]), (&json!("p"), &json!(agents)));
        prepared["runId"].as_str().unwrap().to_owned()
    }

    async fn started(&mut self, agents: &[&str]) -> String {
        let run = self.prepared(agents).await;
        say(&mut self.you, json!({ "type": "start_run", "runId": run })).await;
        let started = self.seen("strategy_started").await;
        assert_eq!((&started["runId"], &started["agents"]), (&json!(run), &json!(agents)));
        run
    }

    async fn failed(&mut self, message: Value, code: &str, word: &str) {
        say(&mut self.you, message.clone()).await;
        let error = self.seen("error").await;
        assert_eq!(error["code"], code, "{message}: {error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }

    fn pending(&self) -> usize {
        self.daemon.world.engine.pending().unwrap().len()
    }
}

/// The sequence of `sources/001`: a run starts, its bot asks, a person allows it for the session, the bot goes on.
#[tokio::test]
async fn a_run_starts_its_bot_asks_a_person_answers_and_the_bot_goes_on() {
    let mut stage = Stage::new().await;
    stage.agent("asks", "you", ASKS).await;
    let run = stage.started(&["asks"]).await;
    let request = stage.seen("request_permission").await;
    assert_eq!((&request["runId"], &request["toolName"]), (&json!(run), &json!("write_file")));
    let out = stage.directory.path().join("out");
    assert_eq!(request["resource"], json!(out));
    let decision = json!({
        "type": "permission_decision",
        "runId": run,
        "permissionRequestId": request["requestId"],
        "decision": "allow-session",
    });
    say(&mut stage.you, decision).await;
    let mut frames = Vec::new();
    while frames.last() != Some(&json!("strategy_completed")) {
        let frame = stage.you.next().await.unwrap();
        if frame["type"] == "agent_output" {
            assert_eq!((&frame["text"], &frame["agentName"]), (&json!("written"), &json!("asks")));
        }
        frames.push(frame["type"].clone());
    }
    frames.retain(|kind| kind != "policy_updated");
    assert_eq!(frames, ["request_resolved", "agent_output", "strategy_completed"]);
}

/// A change of policy is told before the output of the bot that waited for it.
#[tokio::test]
async fn a_policy_change_comes_before_the_output_that_follows_it() {
    let mut stage = Stage::new().await;
    for round in 0..10 {
        // A recent denial would answer the request of an agent, so each round has its own.
        let agent = format!("asks{round}");
        stage.agent(&agent, "you", ASKS).await;
        let run = stage.prepared(&[&agent]).await;
        let ask = json!({ "type": "update_policy", "runId": run, "mode": "write", "default": "ask" });
        say(&mut stage.you, ask).await;
        stage.seen("policy_for_all").await;
        say(&mut stage.you, json!({ "type": "start_run", "runId": run })).await;
        stage.seen("strategy_started").await;
        let request = loop {
            let frame = stage.you.next().await.unwrap();
            if frame["type"] == "request_permission" {
                break frame["requestId"].clone();
            }
            assert_eq!(frame["type"], "policy_updated", "{frame}");
        };
        let decision = json!({
            "type": "permission_decision",
            "runId": run,
            "permissionRequestId": request,
            "decision": "deny-session",
        });
        say(&mut stage.you, decision).await;
        let updated = stage.seen("policy_updated").await;
        assert!(updated["policies"].to_string().contains("session-deny-write-"), "{updated}");
        stage.seen("request_resolved").await;
        assert_eq!(stage.seen("agent_output").await["text"], "refused");
        // The saved decision ends with the run.
        let error = loop {
            let frame = stage.you.next().await.unwrap();
            if frame["type"] != "policy_updated" {
                break frame;
            }
        };
        assert_eq!((&error["type"], &error["code"]), (&json!("strategy_error"), &json!("EXECUTION_ERROR")));
        assert!(error["message"].as_str().unwrap().contains("exit status: 3"), "{error}");
    }
}

#[tokio::test]
async fn a_run_without_a_list_has_every_agent_with_a_command_and_ends_when_all_have_ended() {
    let mut stage = Stage::new().await;
    stage.agent("one", "you", ENDS).await;
    stage.agent("two", "you", ENDS).await;
    stage.agent("strange", "them", ENDS).await;
    say(&mut stage.you, json!({ "type": "prepare_run" })).await;
    let prepared = stage.seen("run_prepared").await;
    assert_eq!(prepared["agents"], json!(["one", "two"]));
    say(&mut stage.you, json!({ "type": "start_run", "runId": prepared["runId"] })).await;
    stage.seen("strategy_started").await;
    for _ in 0..2 {
        let output = stage.seen("agent_output").await;
        assert_eq!((&output["text"], &output["stream"]), (&json!("all is well"), &json!("stderr")));
    }
    stage.seen("strategy_completed").await;
    say(&mut stage.you, json!({ "type": "stop_run", "runId": prepared["runId"] })).await;
    assert_eq!(stage.seen("strategy_error").await["code"], "CANCELLED");
    let one = stage.daemon.world.engine.run_of(&"one".parse().unwrap()).unwrap();
    assert_ne!(json!(one), prepared["runId"], "the run is over");
}

#[tokio::test]
async fn a17_a_stopped_run_denies_what_waits_ends_its_bots_and_says_so() {
    let mut stage = Stage::new().await;
    stage.agent("asks", "you", ASKS).await;
    stage.agent("waits", "you", WAITS).await;
    let run = stage.started(&["asks", "waits"]).await;
    let request = stage.seen("request_permission").await["requestId"].clone();
    say(&mut stage.you, json!({ "type": "stop_run", "runId": run })).await;
    assert_eq!(stage.seen("request_resolved").await["outcome"], "cancelled");
    assert_eq!(stage.seen("strategy_error").await["code"], "CANCELLED");
    assert_eq!(stage.pending(), 0);
    let late =
        json!({ "type": "permission_decision", "runId": run, "permissionRequestId": request, "decision": "allow" });
    stage.failed(late, "NO_PENDING_PERMISSION", &run).await;
    stage.failed(json!({ "type": "stop_run", "runId": run }), "RUN_NOT_FOUND", &run).await;
    stage.started(&["asks", "waits"]).await;
}

#[tokio::test]
async fn a_bot_that_is_killed_while_it_waits_ends_its_run_and_its_request() {
    let mut stage = Stage::new().await;
    let script = format!("echo $$ > pid\n{ASKS}");
    stage.agent("asks", "you", &script).await;
    stage.agent("waits", "you", WAITS).await;
    stage.started(&["asks", "waits"]).await;
    stage.seen("request_permission").await;
    let pid: i32 = std::fs::read_to_string(stage.directory.path().join("pid")).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(stage.seen("request_resolved").await["outcome"], "cancelled");
    let error = stage.seen("strategy_error").await;
    assert_eq!(error["code"], "EXECUTION_ERROR");
    assert!(error["message"].as_str().unwrap().contains("signal: 9"), "{error}");
    assert_eq!(stage.pending(), 0);
}

#[tokio::test]
async fn a_bot_that_cannot_be_started_is_named_and_the_run_ends() {
    let mut stage = Stage::new().await;
    stage.bot("broken", "you", BotCommand { command: vec!["/no/such/program".into()], sandbox: false }).await;
    stage.bot("kept", "you", BotCommand { command: vec!["true".into()], sandbox: true }).await;
    for (agent, word) in [("broken", "/no/such/program"), ("kept", "no sandbox")] {
        let run = stage.prepared(&[agent]).await;
        say(&mut stage.you, json!({ "type": "start_run", "runId": run, "requestId": "s" })).await;
        let mut frames = vec![stage.you.next().await.unwrap(), stage.you.next().await.unwrap()];
        frames.push(stage.you.next().await.unwrap());
        let find =
            |kind: &str| frames.iter().find(|frame| frame["type"] == kind).unwrap_or_else(|| panic!("{frames:?}"));
        find("strategy_started");
        assert_eq!(find("strategy_error")["code"], "EXECUTION_ERROR");
        assert_eq!((&find("error")["code"], &find("error")["requestId"]), (&json!("START_FAILED"), &json!("s")));
        assert!(find("error")["message"].as_str().unwrap().contains(word), "{frames:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_prepared_or_started_says_why() {
    let mut stage = Stage::new().await;
    let prepare = |agents: Value| json!({ "type": "prepare_run", "agents": agents });
    stage.failed(json!({ "type": "prepare_run" }), "PREPARE_FAILED", "command").await;
    stage.agent("waits", "you", WAITS).await;
    stage.failed(prepare(json!(["nobody"])), "PREPARE_FAILED", "nobody").await;
    stage.failed(prepare(json!(["theirs"])), "PREPARE_FAILED", "there is no agent theirs").await;
    stage.failed(prepare(json!([])), "PREPARE_FAILED", "agents").await;
    let misspelled = json!({ "type": "prepare_run", "agent": ["waits"] });
    stage.failed(misspelled, "VALIDATION_ERROR", "did you mean `agents`").await;
    stage.failed(prepare(json!(["a b"])), "VALIDATION_ERROR", "prepare_run").await;
    let elsewhere = json!({ "type": "prepare_run", "agents": ["waits"], "cwd": "/elsewhere" });
    stage.failed(elsewhere, "PREPARE_FAILED", "working directory").await;
    let run = stage.prepared(&["bot"]).await;
    stage.failed(json!({ "type": "start_run", "runId": run }), "START_FAILED", "command").await;
    stage.failed(json!({ "type": "start_run", "runId": "nowhere" }), "RUN_NOT_FOUND", "nowhere").await;
    let run = stage.started(&["waits"]).await;
    stage.failed(json!({ "type": "start_run", "runId": run }), "START_FAILED", "running").await;
    stage.failed(prepare(json!(["waits", "bot"])), "PREPARE_FAILED", &run).await;
    heard(&mut stage.you).await;
}

#[tokio::test]
async fn the_input_of_a_run_reaches_its_bots_and_other_clients_see_the_run() {
    let mut stage = Stage::new().await;
    let script = r#"
        while read -r line; do
            case "$line" in
                *'"type":"message"'*'"build the site"'*) echo '{"type":"message","text":"heard"}'; exit 0 ;;
            esac
        done"#;
    stage.agent("listens", "you", script).await;
    let run = stage.prepared(&["listens"]).await;
    let mut other = person(&stage.daemon).await;
    subscribe(&mut other, &run).await;
    heard(&mut other).await;
    let mut them = opened(&stage.daemon, &stage.daemon.approver("them")).await.unwrap();
    say(&mut stage.you, json!({ "type": "start_run", "runId": run, "input": "build the site" })).await;
    for kind in ["strategy_started", "agent_output", "strategy_completed"] {
        stage.seen(kind).await;
        assert_eq!(other.next().await.unwrap()["type"], kind);
    }
    heard(&mut them).await;
}

/// An agent that creates another one states no command that the server would start.
#[tokio::test]
async fn an_agent_cannot_create_one_whose_bot_the_server_starts() {
    let mut stage = Stage::new().await;
    let bot = stage.daemon.world.engine.agent("bot").unwrap();
    let command = BotCommand { command: vec!["touch".into(), "/tmp/owned".into()], sandbox: false };
    let child = crate::support::profile("child", "you", Kind::Subagent).with_bot(command);
    let child = bot.create(child, &[], crate::support::why()).await.unwrap();
    assert_eq!(child.profile().unwrap().bot, None);
    stage.failed(json!({ "type": "prepare_run" }), "PREPARE_FAILED", "command").await;
}

#[tokio::test]
async fn a_line_of_a_bot_that_is_no_message_is_shown_to_the_person() {
    let mut stage = Stage::new().await;
    stage.agent("babbles", "you", r#"echo 'debug: here'; echo '{"type":"autorize"}'"#).await;
    stage.started(&["babbles"]).await;
    for word in ["debug: here", "autorize"] {
        let output = stage.seen("agent_output").await;
        assert_eq!(output["stream"], "error");
        assert!(output["text"].as_str().unwrap().contains(word), "{output}");
    }
    stage.seen("strategy_completed").await;
}

/// The attack: the end of a run took its denials away before its bots were gone.
#[tokio::test]
async fn no_bot_acts_without_the_denials_of_its_run_while_the_run_is_stopped() {
    let script = r#"
        read -r hello
        while echo '{"type":"authorize","operation":"fs.write","resource":"out","toolName":"write_file"}'; do
            read -r line || exit 0
            case "$line" in *'"decision":"allow"'*) echo '{"type":"message","text":"allowed"}' ;; esac
        done"#;
    let mut stage = Stage::new().await;
    let agents = ["one", "two", "three", "four"];
    for agent in agents {
        stage.agent(agent, "you", script).await;
    }
    let mut sorted = agents;
    sorted.sort_unstable();
    let run = stage.prepared(&sorted).await;
    let deny = json!({ "type": "update_policy", "runId": run, "mode": "write", "deny": ["**"] });
    say(&mut stage.you, deny).await;
    stage.seen("policy_for_all").await;
    say(&mut stage.you, json!({ "type": "start_run", "runId": run })).await;
    stage.seen("strategy_started").await;
    for agent in agents {
        let place = stage.directory.path().display();
        let gives = stage.daemon.world.you();
        gives.give(agent, format!("@write:{place}"), bestow::grant::Scope::Always, "its place").await.unwrap();
    }
    let mut events = stage.daemon.world.engine.subscribe();
    let mut denied = 0;
    while denied < 100 {
        denied += usize::from(matches!(events.next().await.unwrap().event, bestow::Event::Evaluated { .. }));
    }
    say(&mut stage.you, json!({ "type": "stop_run", "runId": run })).await;
    assert_eq!(stage.seen("strategy_error").await["code"], "CANCELLED", "and nothing was allowed before");
}

/// The attack: an agent ends its own bot, and is rid of what a person denied for the run.
#[tokio::test]
async fn a_bot_that_exits_keeps_its_agent_under_the_denials_of_the_run_and_loses_what_was_allowed() {
    let mut stage = Stage::new().await;
    stage.agent("exits", "you", "exit 1").await;
    let run = stage.prepared(&["exits"]).await;
    let mut host = super::tool_host(&stage.daemon, "exits").await;
    let authorize = |resource: &str| {
        let (tool, operation) = ("bash", "command.execute");
        json!({ "type": "authorize", "operation": operation, "resource": resource, "toolName": tool })
    };
    for (command, decision) in [("node denied.js", "deny-session"), ("node allowed.js", "allow-session")] {
        say(&mut host, authorize(command)).await;
        let request = stage.seen("request_permission").await["requestId"].clone();
        let decision = json!({
            "type": "permission_decision",
            "runId": run,
            "permissionRequestId": request,
            "decision": decision,
        });
        say(&mut stage.you, decision).await;
        stage.seen("policy_updated").await;
        stage.seen("request_resolved").await;
        assert_eq!(host.next().await.unwrap()["type"], "authorize_result");
        assert_eq!(host.next().await.unwrap()["type"], "permission_result");
    }
    say(&mut stage.you, json!({ "type": "start_run", "runId": run })).await;
    stage.seen("strategy_started").await;
    stage.seen("policy_updated").await;
    assert_eq!(stage.seen("strategy_error").await["code"], "EXECUTION_ERROR");
    for (command, decision) in [("node denied.js", "deny"), ("node allowed.js", "ask")] {
        say(&mut host, authorize(command)).await;
        assert_eq!(host.next().await.unwrap()["decision"], decision, "{command}");
    }
}

/// The attack: an agent writes the program that the server starts later.
#[tokio::test]
async fn a_program_that_an_agent_can_write_is_not_started() {
    let mut stage = Stage::new().await;
    std::fs::write(stage.directory.path().join("bot.sh"), ENDS).unwrap();
    let command = BotCommand { command: vec!["sh".into(), "bot.sh".into()], sandbox: false };
    stage.bot("writes", "you", command).await;
    let place = stage.directory.path().display();
    let you = stage.daemon.world.you();
    you.give("bot", format!("@write:{place}"), bestow::grant::Scope::Always, "its place").await.unwrap();
    let run = stage.prepared(&["writes"]).await;
    say(&mut stage.you, json!({ "type": "start_run", "runId": run })).await;
    let error = loop {
        let frame = stage.you.next().await.unwrap();
        if frame["type"] == "error" {
            break frame;
        }
        assert_ne!(frame["type"], "strategy_completed", "{frame}");
    };
    assert!(error["message"].as_str().unwrap().contains("the agent bot may write"), "{error}");
}

/// The attack: a bot that writes without end closed the sockets of everybody.
#[tokio::test]
async fn a_bot_that_floods_its_output_is_cut_and_its_client_stays() {
    let mut stage = Stage::new().await;
    stage.agent("floods", "you", "yes a line of no interest | head -n 20000 >&2").await;
    stage.started(&["floods"]).await;
    let mut lines = 0;
    let end = loop {
        let frame = stage.you.next().await.unwrap();
        if frame["type"] != "agent_output" {
            break frame;
        }
        lines += 1;
    };
    assert_eq!(end["type"], "strategy_completed");
    assert!(lines <= 201, "{lines}");
}
