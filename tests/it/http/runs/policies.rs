//! `update_policy`: A20 to A27, A33 and A34.

use serde_json::json;

use super::{Stage, heard, say, tool_host};

async fn update(stage: &mut Stage, patch: serde_json::Value) {
    let mut message = json!({ "type": "update_policy", "runId": stage.run });
    message.as_object_mut().unwrap().extend(patch.as_object().unwrap().clone());
    say(&mut stage.you, message).await;
}

#[tokio::test]
async fn a20_an_unknown_run_is_not_found() {
    let mut stage = Stage::new().await;
    let patch = json!({ "type": "update_policy", "runId": "run_9", "mode": "read", "allow": ["a"], "requestId": "q" });
    say(&mut stage.you, patch).await;
    let error = stage.seen("error").await;
    assert_eq!((&error["code"], &error["requestId"]), (&json!("RUN_NOT_FOUND"), &json!("q")));
    assert_eq!(error["message"], "No active run found for runId run_9");
}

/// A change for reading by one tool: what it allows is read without a question, and what was allowed before still is.
#[tokio::test]
async fn a21_what_a_tool_may_read_is_added_to_what_it_could_read_before() {
    let mut stage = Stage::new().await;
    update(&mut stage, json!({ "tool": "read", "mode": "read", "allow": ["src/**"], "default": "ask" })).await;
    assert_eq!(stage.seen("policy_updated").await["tool"], "read");
    for tool in ["read_file", "read"] {
        // A tool is known once it was used.
        stage.by(tool, "fs.read", "src/main.rs").await;
        if tool == "read_file" {
            update(&mut stage, json!({ "tool": tool, "mode": "read", "allow": ["src/**"], "default": "ask" })).await;
            assert_eq!(stage.seen("policy_updated").await["tool"], tool);
        }
        assert_eq!(stage.by(tool, "fs.read", "generated/x").await["decision"], "ask", "{tool}");
        stage.asked().await;
        update(&mut stage, json!({ "tool": tool, "mode": "read", "allow": ["generated/**"] })).await;
        assert_eq!(stage.seen("policy_updated").await["tool"], tool);
        // The policy answers what waits for a person.
        assert_eq!(stage.seen("request_resolved").await["outcome"], "granted");
        assert_eq!(stage.told("permission_result").await["outcome"], "granted");
        assert_eq!(stage.by(tool, "fs.read", "generated/y").await["decision"], "allow", "{tool}: unasked");
        assert_eq!(stage.by(tool, "fs.read", "src/main.rs").await["decision"], "allow", "{tool}: as before");
        assert_eq!(
            stage.by(tool, "fs.write", "generated/x").await["decision"],
            "ask",
            "{tool}: no permission to write"
        );
        stage.asked().await;
    }
}

#[tokio::test]
async fn a21_and_a22_an_allowed_glob_is_added_for_one_tool_before_its_first_use_and_for_one_dimension() {
    let mut stage = Stage::new().await;
    for allow in ["earlier/**", "generated/**"] {
        update(&mut stage, json!({ "tool": "write_file", "mode": "write", "allow": [allow] })).await;
        assert_eq!(stage.seen("policy_updated").await["tool"], "write_file");
    }
    for path in ["earlier/x", "generated/x"] {
        assert_eq!(stage.write(path).await["decision"], "allow", "{path}");
    }
    assert_eq!(stage.write("other").await["decision"], "ask");
    stage.asked().await;
    update(&mut stage, json!({ "tool": "write_file", "mode": "read", "default": "deny" })).await;
    stage.seen("policy_updated").await;
    assert_eq!(stage.by("write_file", "fs.read", "generated/x").await["decision"], "deny");
    assert_eq!(stage.write("generated/x").await["decision"], "allow", "the other dimension is unaffected");
}

#[tokio::test]
async fn a23_to_a26_a_change_without_a_tool_is_for_present_and_future_tools() {
    let mut stage = Stage::new().await;
    for tool in ["one", "two", "three"] {
        stage.by(tool, "fs.read", "a").await;
    }
    update(&mut stage, json!({ "mode": "write", "allow": ["a/**"], "deny": ["a/b/**", "secrets/**"] })).await;
    stage.seen("policy_for_all").await;
    let mut tools = Vec::new();
    for _ in 0..3 {
        tools.push(stage.seen("policy_updated").await["tool"].as_str().unwrap().to_owned());
    }
    tools.sort();
    assert_eq!(tools, ["one", "three", "two"], "one frame for each tool");
    assert_eq!(stage.by("later", "fs.write", "secrets/k").await["decision"], "deny");
    assert_eq!(stage.by("one", "fs.write", "a/b/c").await["decision"], "deny", "a denial beats");
    assert_eq!(stage.by("one", "fs.write", "a/c").await["decision"], "allow");
    update(&mut stage, json!({ "mode": "write", "default": "deny", "tool": "one" })).await;
    stage.seen("policy_updated").await;
    assert_eq!(stage.by("one", "fs.write", "elsewhere").await["decision"], "deny");
    heard(&mut stage.you).await;
}

#[tokio::test]
async fn a27_what_is_forbidden_stays_so_whatever_allows_it() {
    let mut stage = Stage::new().await;
    stage.write(".env.local").await;
    let request = stage.asked().await;
    stage.decide(&request, "allow-session").await;
    while stage.host.next().await.unwrap()["type"] != "permission_result" {}
    while stage.you.next().await.unwrap()["type"] != "request_resolved" {}
    let policies: bestow::tool::ToolPolicies = serde_json::from_value(json!({ "forbidden": ["/**/.env*"] })).unwrap();
    let run = stage.run.parse().unwrap();
    stage.daemon.world.you().set_policies(&run, None, policies).await.unwrap();
    update(&mut stage, json!({ "mode": "write", "allow": ["**"] })).await;
    update(&mut stage, json!({ "mode": "write", "allow": ["**"], "tool": "write_file" })).await;
    say(&mut stage.you, json!({ "type": "subscribe", "runId": "nowhere" })).await;
    while stage.you.next().await.unwrap()["type"] != "error" {}
    for path in [".env", ".env.local", "sub/.env"] {
        assert_eq!(stage.write(path).await["decision"], "deny", "{path}: the session and both policies allow it");
    }
}

#[tokio::test]
async fn a_pattern_or_a_tool_that_is_not_known_is_refused_whole() {
    let mut stage = Stage::new().await;
    stage.write("a").await;
    stage.asked().await;
    let before = stage.daemon.world.you().guards(&stage.run.parse().unwrap()).unwrap();
    for (patch, code) in [
        (json!({ "mode": "write", "allow": ["a/**", "["] }), "REFUSED"),
        (json!({ "mode": "write", "allow": ["a"], "tool": "writ_file" }), "REFUSED"),
        (json!({ "mode": "write", "allow": null }), "VALIDATION_ERROR"),
        (json!({ "mode": "write", "allowed": ["a"] }), "VALIDATION_ERROR"),
        (json!({ "allow": ["a"] }), "VALIDATION_ERROR"),
    ] {
        update(&mut stage, patch.clone()).await;
        let error = stage.seen("error").await;
        assert_eq!(error["code"], code, "{patch}: {error}");
    }
    assert_eq!(stage.daemon.world.you().guards(&stage.run.parse().unwrap()).unwrap(), before);
}

#[tokio::test]
async fn a33_where_nobody_answers_a_request_is_denied_at_once() {
    let mut stage = Stage::new().await;
    let bot = "bot".parse().unwrap();
    stage.daemon.world.engine.set_mode(&bot, bestow::agent::Mode::Never).await.unwrap();
    let told = stage.write("a").await;
    assert_eq!((&told["decision"], &told["decisionSource"]), (&json!("deny"), &json!("mode")), "{told}");
    let text = told["text"].as_str().unwrap();
    assert!(text.contains("never") && told.get("permissionRequestId").is_none(), "the reason is told: {told}");
    assert_eq!(stage.daemon.world.engine.pending().unwrap().len(), 0);
}

#[tokio::test]
async fn a34_a_denial_of_the_run_also_denies_the_agent_that_another_creates() {
    let mut stage = Stage::new().await;
    stage.decided("a", "deny-session").await;
    let bot = stage.daemon.world.engine.agent("bot").unwrap();
    let child = crate::support::profile("child", "you", bestow::Kind::Subagent);
    bot.create(child, &crate::support::tags(&["@write:/ws"]), crate::support::why()).await.unwrap();
    stage.host = tool_host(&stage.daemon, "child").await;
    assert_eq!(stage.write("a").await["decision"], "deny");
}
