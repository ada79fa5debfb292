//! Tests that a denial of a person binds every tool (attack 8).

use bestow::{Action, Effect, action::Operation, agent::Mode, decision::Verdict, grant::Scope};
use serde_json::json;

use super::{all_are, bound, call, everything_allowed, on_command, rule, says_no, says_yes};
use crate::{findings::uses::given, support::World};

/// Returns rules that ask about this tool, operation and path, and allow everything else.
fn asked(tool: &str, operation: Option<Operation>, path: Option<&str>) -> Vec<bestow::policy::Rule> {
    let asks = bestow::policy::Rule { tool: Some(tool.parse().unwrap()), ..rule(Verdict::Ask, operation, path) };
    vec![asks, everything_allowed()]
}

const HELD: [&str; 2] = ["@write:/ws", "@network"];

#[tokio::test]
async fn a_no_to_a_path_binds_every_tool_that_writes_it() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &asked("Write", None, Some("/ws/a"))).await;
    let _there = world.you().attend().unwrap();
    let elsewhere = call("Edit", json!({"file_path": "/ws/b"}));
    says_no(&world, &agent, call("Write", json!({"file_path": "/ws/a", "content": "x"})), Scope::Session).await;
    let patch = "*** Begin Patch\n*** Update File: a\n*** End Patch";
    let denied = [
        call("Write", json!({"file_path": "/ws/a"})),
        call("Edit", json!({"file_path": "/ws/a"})),
        call("Edit", json!({"file_path": "a"})),
        call("apply_patch", json!({ "input": patch })),
        call("move_file", json!({"source": "/ws/a", "destination": "/ws/b"})),
        call("move_file", json!({"source": "/ws/b", "destination": "/ws/a"})),
        call("foo", json!({"p": "/ws/a"})),
        Action::write("/ws/a"),
        Action::write("a").by_tool("editor".parse().unwrap()),
        Action::command("touch a"),
        Action::command("true > a"),
        Action::command("rm *"),
        given("make", "@write:/ws/a"),
    ];
    all_are(&agent, Effect::Deny, denied);
    all_are(&agent, Effect::Allow, [elsewhere, Action::read("/ws/a"), Action::command("touch b")]);
    assert!(agent.fs().write("/ws/a", "x").await.is_err());
}

#[tokio::test]
async fn a_no_to_a_path_binds_what_is_used_with_all_below_it_and_a_no_to_a_directory_all_in_it() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &asked("Write", None, Some("/ws/d"))).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, call("Write", json!({"file_path": "/ws/d"})), Scope::Session).await;
    let denied = [
        given("make", "@write:/ws"),
        given("make", "@write:/ws/d"),
        given("make", "@write:/ws/d/sub"),
        Action::write("/ws/d/x"),
        call("Edit", json!({"file_path": "d/sub/x"})),
        Action::command("touch d/x"),
        Action::command("cd d && touch x"),
    ];
    all_are(&agent, Effect::Deny, denied);
    let neighbours = [given("make", "@write:/ws/da"), Action::write("/ws/dx"), Action::read("/ws/d/x")];
    all_are(&agent, Effect::Allow, neighbours);
}

#[tokio::test]
async fn a_no_to_reading_binds_a_tool_that_reads_all_below_a_directory() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &asked("Read", None, Some("/ws/a"))).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, call("Read", json!({"file_path": "/ws/a"})), Scope::Session).await;
    all_are(&agent, Effect::Deny, [call("Grep", json!({"pattern": ".", "path": "/ws"})), Action::command("cat *")]);
    all_are(&agent, Effect::Allow, [Action::command("cat b"), call("Grep", json!({"pattern": ".", "path": "/ws/b"}))]);
}

#[tokio::test]
async fn a_no_to_a_host_binds_every_tool_and_every_program() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &asked("WebFetch", Some(Operation::Network), None)).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, call("WebFetch", json!({"url": "https://evil.com/x"})), Scope::Session).await;
    let denied = [
        call("WebFetch", json!({"url": "https://EVIL.com/y"})),
        call("web_fetch", json!({"url": "https://evil.com./y"})),
        call("foo", json!({"url": "https://evil.com/y"})),
        Action::network("evil.com"),
        Action::network("Evil.com.").by_tool("fetcher".parse().unwrap()),
        Action::command("curl https://evil.com"),
        Action::command("curl evil.com"),
        Action::command("curl --url=https://evil.com"),
        Action::command("curl -s https://ok.com evil.com"),
        Action::command("wget -qO- evil.com"),
        Action::command("ping -c 1 evil.com"),
        Action::command("dig ev''il.com"),
        Action::command("sh -c 'curl evil.com'"),
    ];
    all_are(&agent, Effect::Deny, denied);
    let others = [
        Action::network("ok.com"),
        Action::command("curl https://notevil.com"),
        Action::command("ping evil.community"),
        given("cargo build", "@network"),
        Action::command("echo evil.com"),
    ];
    all_are(&agent, Effect::Allow, others);
}

#[tokio::test]
async fn a_no_to_the_network_binds_every_host() {
    let world = World::new();
    let rules = asked("network", Some(Operation::Network), None);
    let agent = bound(&world, Mode::Default, &HELD, &rules).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, Action::network("@network"), Scope::Session).await;
    let denied = [
        call("WebFetch", json!({"url": "https://ok.com"})),
        Action::command("curl https://ok.com"),
        Action::command("git push"),
        given("make", "@network"),
    ];
    all_are(&agent, Effect::Deny, denied);
}

#[tokio::test]
async fn a_no_to_a_command_binds_every_tool_that_runs_it() {
    for scope in [Scope::Session, Scope::Always] {
        let world = World::new();
        let rules = [on_command(Verdict::Ask, "npm publish"), everything_allowed()];
        let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
        let _there = world.you().attend().unwrap();
        world.engine.set_mode(agent.id(), Mode::Default).await.unwrap();
        says_no(&world, &agent, Action::command("npm publish"), scope).await;
        world.engine.set_mode(agent.id(), Mode::Bypass).await.unwrap();
        let denied = [
            Action::command("npm publish"),
            Action::command("npm  'publish'"),
            Action::command("npm publish").by_tool("zsh".parse().unwrap()),
            call("Bash", json!({"command": "npm publish"})),
            call("run_shell_command", json!({"command": "npm publish"})),
        ];
        all_are(&agent, Effect::Deny, denied);
        all_are(&agent, Effect::Allow, [Action::command("npm test"), call("Bash", json!({"command": "npm pack"}))]);
    }
}

#[tokio::test]
async fn a_no_to_a_command_binds_tools_that_nobody_knows_and_what_a_shell_is_told_besides() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &[]).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, Action::command("npm publish"), Scope::Session).await;
    world.engine.set_mode(agent.id(), Mode::Bypass).await.unwrap();
    let denied = [
        call("foo", json!({"cmd": "npm publish"})),
        call("foo", json!({"cmd": "true; npm  publish"})),
        call("foo", json!({"cmd": "sh -c 'npm publish'"})),
        call("foo", json!({"notes": ["x", "npm publish\n"]})),
        call("Bash", json!({"command": "sh", "stdin": "npm publish"})),
        Action::command("true; npm publish"),
        Action::command("sh -c 'npm publish'"),
    ];
    all_are(&agent, Effect::Deny, denied);
    all_are(&agent, Effect::Allow, [call("foo", json!({"cmd": "npm pack"})), Action::command("npm pack")]);
}

/// A denial of a program file also denies its command, and the reverse.
#[tokio::test]
async fn a_no_to_a_program_file_and_one_to_the_command_are_one() {
    let (file, line) = (|| Action::exec("/ws/x.sh"), || Action::command("./x.sh"));
    for (refused, other) in [(file(), line()), (line(), file())] {
        let world = World::new();
        let agent = bound(&world, Mode::Default, &HELD, &[]).await;
        let _there = world.you().attend().unwrap();
        says_no(&world, &agent, refused.clone(), Scope::Session).await;
        world.engine.set_mode(agent.id(), Mode::Bypass).await.unwrap();
        all_are(&agent, Effect::Deny, [refused, other]);
        all_are(&agent, Effect::Allow, [Action::exec("/ws/y.sh"), Action::command("./y.sh")]);
    }
}

#[tokio::test]
async fn a_yes_is_for_the_tool_it_was_said_to() {
    let world = World::new();
    let rules = [rule(Verdict::Ask, None, Some("/ws/a"))];
    let agent = bound(&world, Mode::Default, &HELD, &rules).await;
    let _there = world.you().attend().unwrap();
    says_yes(&world, &agent, call("Write", json!({"file_path": "/ws/a"})), Scope::Session).await;
    all_are(&agent, Effect::Allow, [call("Write", json!({"file_path": "/ws/a"}))]);
    all_are(&agent, Effect::Ask, [call("Edit", json!({"file_path": "/ws/a"})), Action::write("/ws/a")]);
}

/// A denial also settles pending requests of other tools about the same path.
#[tokio::test]
async fn a_no_answers_what_another_tool_asks_about_the_same() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &[rule(Verdict::Ask, None, Some("/ws/d/**"))]).await;
    let _there = world.you().attend().unwrap();
    let waiting = agent.authorize(call("Edit", json!({"file_path": "/ws/d/x"}))).await.unwrap();
    let other = agent.authorize(call("Edit", json!({"file_path": "/ws/d/y"}))).await.unwrap();
    says_no(&world, &agent, call("Write", json!({"file_path": "/ws/d/x"})), Scope::Session).await;
    let pending: Vec<_> = world.engine.pending().unwrap().iter().map(|pending| pending.request.id).collect();
    assert_eq!(pending, [other.decision().approval_action_id.unwrap()]);
    assert!(waiting.decision().approval_action_id.is_some());
}

/// A list of texts is also a command line. A port or a final dot does not make another host.
#[tokio::test]
async fn a_no_holds_for_lists_of_words_and_for_other_spellings_of_a_host() {
    let world = World::new();
    let rules = [on_command(Verdict::Ask, "npm publish"), everything_allowed()];
    let agent = bound(&world, Mode::Default, &HELD, &rules).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, Action::command("npm publish"), Scope::Session).await;
    let lists = [json!({ "cmd": ["npm", "publish"] }), json!({ "program": "npm", "args": ["publish"] })];
    all_are(&agent, Effect::Deny, lists.map(|input| call("foo", input)));

    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &asked("WebFetch", Some(Operation::Network), None)).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, call("WebFetch", json!({ "url": "https://evil.com/x" })), Scope::Session).await;
    all_are(&agent, Effect::Deny, ["evil.com", "EVIL.com.", "evil.com..", "evil.com:443"].map(Action::network));
    all_are(&agent, Effect::Allow, ["ok.com", "ok.com:443"].map(Action::network));
}
