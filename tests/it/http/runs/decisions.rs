//! Requests and decisions: A1 to A16 and A28 to A32.

use serde_json::json;

use super::{Stage, heard, person, say, subscribe};
use crate::http::daemon::Daemon;

#[tokio::test]
async fn a1_a_subscriber_sees_the_request_with_run_agent_operation_and_absolute_resource() {
    let mut stage = Stage::new().await;
    assert_eq!(stage.write("notes.txt").await["decision"], "ask");
    let request = stage.seen("request_permission").await;
    for (field, value) in [
        ("runId", json!(stage.run)),
        ("agentName", json!("bot")),
        ("toolName", json!("write_file")),
        ("operation", json!("fs.write")),
        ("resource", json!("/ws/notes.txt")),
        ("reason", json!("policy-ask")),
    ] {
        assert_eq!(request[field], value, "{field}");
    }
    assert!(request["requestId"].is_string());
    assert!(request["ts"].as_str().unwrap().ends_with('Z'), "{request}");
}

#[tokio::test]
async fn a2_and_a3_an_allow_is_silent_and_for_one_time() {
    let mut stage = Stage::new().await;
    assert_eq!(stage.decided("a", "allow").await["outcome"], "granted");
    assert_eq!(stage.seen("request_resolved").await["outcome"], "granted");
    heard(&mut stage.you).await;
    assert_eq!(stage.write("a").await["decision"], "allow", "the retry of the approved call");
    assert_eq!(stage.write("a").await["decision"], "ask", "the next one is a new request");
    stage.asked().await;
}

#[tokio::test]
async fn a4_a_deny_is_for_one_time_and_changes_no_policy() {
    let mut stage = Stage::new().await;
    let result = stage.decided("a", "deny").await;
    assert_eq!(result["outcome"], "denied");
    assert_eq!(stage.seen("request_resolved").await["outcome"], "denied");
    stage.daemon.world.later(61_000).await;
    assert_eq!(stage.write("a").await["decision"], "ask", "asked again once the denial is no longer recent");
    stage.asked().await;
}

#[tokio::test]
async fn a5_to_a8_an_allow_for_the_session_is_told_first_and_is_for_this_tool_and_this_run() {
    let mut stage = Stage::new().await;
    assert_eq!(stage.write("a").await["decision"], "ask");
    let request = stage.asked().await;
    stage.decide(&request, "allow-session").await;
    let updated = stage.seen("policy_updated").await;
    assert_eq!((&updated["tool"], &updated["runId"]), (&json!("write_file"), &json!(stage.run)));
    let names: Vec<_> = updated["policies"].as_array().unwrap().iter().map(|policy| &policy["name"]).collect();
    assert_eq!(names[0], "write-path-policy", "the whole chain is told");
    assert!(names.iter().any(|name| name.as_str().unwrap().starts_with("session-allow-write-")), "{names:?}");
    stage.seen("request_resolved").await;
    stage.told("permission_result").await;
    assert_eq!(stage.write("a").await["decision"], "allow");
    assert_eq!(stage.write("a").await["decision"], "allow", "any number of times");
    assert_eq!(stage.by("edit_file", "fs.write", "a").await["decision"], "ask", "another tool asks");
    stage.asked().await;
    let bot = "bot".parse().unwrap();
    stage.daemon.world.engine.begin_run(&bot, "next".parse().unwrap()).await.unwrap();
    assert_eq!(stage.told("permission_result").await["outcome"], "cancelled");
    subscribe(&mut stage.you, "next").await;
    say(&mut stage.you, json!({ "type": "update_policy", "runId": "next", "mode": "write", "default": "ask" })).await;
    loop {
        let frame = stage.you.next().await.unwrap();
        if frame["type"] == "policy_for_all" {
            break;
        }
    }
    assert_eq!(stage.write("a").await["decision"], "ask", "and the next run asks");
}

#[tokio::test]
async fn a9_a_denial_for_the_session_denies_without_a_request_until_a_tool_asks_to_override_it() {
    let mut stage = Stage::new().await;
    assert_eq!(stage.decided("a", "deny-session").await["outcome"], "denied");
    stage.seen("policy_updated").await;
    stage.seen("request_resolved").await;
    assert_eq!(stage.write("a").await["decision"], "deny");
    heard(&mut stage.you).await;
    let wanted = json!({
        "type": "authorize",
        "operation": "fs.write",
        "resource": "a",
        "toolName": "write_file",
        "override": true,
    });
    say(&mut stage.host, wanted).await;
    assert_eq!(stage.told("authorize_result").await["decision"], "ask");
    assert_eq!(stage.seen("request_permission").await["reason"], "policy-deny-override");
}

#[tokio::test]
async fn a10_to_a12_unknown_and_settled_requests_and_other_runs_are_not_pending() {
    let mut stage = Stage::new().await;
    let decide = |run: &str, request: &str| {
        json!({
            "type": "permission_decision",
            "runId": run,
            "permissionRequestId": request,
            "decision": "allow",
            "requestId": "q1",
        })
    };
    let unknown = "019ac1f2-8d3e-7c41-9b52-3f6f1d2a7e90";
    say(&mut stage.you, decide(&stage.run, unknown)).await;
    let error = stage.seen("error").await;
    assert_eq!((&error["code"], &error["requestId"]), (&json!("NO_PENDING_PERMISSION"), &json!("q1")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(unknown) && message.contains(&stage.run), "both ids are named: {message}");
    assert!(error["ts"].is_string());

    assert_eq!(stage.write("a").await["decision"], "ask");
    let request = stage.asked().await;
    say(&mut stage.you, decide("another", &request)).await;
    assert_eq!(stage.seen("error").await["code"], "NO_PENDING_PERMISSION");
    assert_eq!(stage.daemon.world.engine.pending().unwrap().len(), 1, "it still waits");

    stage.decide(&request, "deny").await;
    stage.seen("request_resolved").await;
    assert_eq!(stage.told("permission_result").await["outcome"], "denied");
    say(&mut stage.you, decide(&stage.run, &request)).await;
    assert_eq!(stage.seen("error").await["code"], "NO_PENDING_PERMISSION", "the first answer stands");
}

#[tokio::test]
async fn a14_and_a15_what_is_no_message_is_named_and_the_request_still_waits() {
    let mut stage = Stage::new().await;
    assert_eq!(stage.write("a").await["decision"], "ask");
    let request = stage.asked().await;
    let decision = |rest: &str| format!(r#"{{"type":"permission_decision","permissionRequestId":"{request}",{rest}}}"#);
    let run = format!(r#""runId":"{}""#, stage.run);
    let before = stage.daemon.state().await;
    for (frame, code, word) in [
        ("{not json".to_owned(), "PARSE_ERROR", ""),
        ("[]".to_owned(), "VALIDATION_ERROR", "object"),
        ("{}".to_owned(), "VALIDATION_ERROR", "type"),
        (r#"{"type":"nonsense"}"#.to_owned(), "VALIDATION_ERROR", "nonsense"),
        (r#"{"type":"subscribe"}"#.to_owned(), "VALIDATION_ERROR", "runId"),
        (r#"{"type":"subscribe","runId":7}"#.to_owned(), "VALIDATION_ERROR", "subscribe"),
        (r#"{"type":"subscribe","runId":"a","runId":"b"}"#.to_owned(), "VALIDATION_ERROR", "runId"),
        (r#"{"type":"authorize","operation":"fs.read","resource":"/ws"}"#.to_owned(), "FORBIDDEN", "authorize"),
        (decision(&format!(r#"{run},"decision":"maybe""#)), "VALIDATION_ERROR", "decision"),
        (decision(r#""decision":"allow""#), "VALIDATION_ERROR", "runId"),
        (decision(&format!(r#"{run},"decision":"deny","decision":"allow""#)), "VALIDATION_ERROR", "decision"),
        ("[".repeat(1_000), "PARSE_ERROR", ""),
    ] {
        stage.you.say(&frame).await;
        let error = stage.seen("error").await;
        assert_eq!(error["code"], code, "{frame}: {error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{frame}: {error}");
    }
    assert_eq!(stage.daemon.state().await, before);
    stage.decide(&request, "allow").await;
    assert_eq!(stage.seen("request_resolved").await["outcome"], "granted", "the socket is usable");
}

/// The protocol lists every `path: problem` of a message.
#[tokio::test]
async fn a_message_with_several_mistakes_names_each_of_them() {
    let mut stage = Stage::new().await;
    for (frame, words) in [
        (
            json!({ "type": "permission_decision", "decision": "maybe", "permissionRequestId": 7, "scop": "once" }),
            &["`decision` is `maybe`", "`permissionRequestId` is `7`", "did you mean `scope`?"][..],
        ),
        (json!({ "type": "update_policy", "mode": "eat" }), &["missing field `runId`", "`mode` is `eat`"]),
        (json!({ "type": "prepare_run", "agents": "all", "cdw": "x" }), &["`agents`: ", "did you mean `cwd`?"]),
        (json!({ "type": "start_run", "input": 7 }), &["missing field `runId`", "`input`: "]),
    ] {
        say(&mut stage.you, frame.clone()).await;
        let error = stage.seen("error").await;
        assert_eq!(error["code"], "VALIDATION_ERROR", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(words.iter().all(|word| message.contains(word)), "{frame}: {message}");
        assert!(message.split("; ").count() >= words.len(), "{message}");
    }
}

#[tokio::test]
async fn a16_two_requests_at_once_get_each_its_own_answer() {
    let mut stage = Stage::new().await;
    stage.write("a").await;
    let first = stage.asked().await;
    stage.write("b").await;
    let second = stage.asked().await;
    stage.decide(&second, "deny").await;
    let result = stage.told("permission_result").await;
    assert_eq!((&result["permissionRequestId"], &result["outcome"]), (&json!(second), &json!("denied")));
    stage.decide(&first, "allow").await;
    let result = stage.told("permission_result").await;
    assert_eq!((&result["permissionRequestId"], &result["outcome"]), (&json!(first), &json!("granted")));
}

#[tokio::test]
async fn a18_who_subscribes_later_gets_what_waits_under_its_id_and_once() {
    let mut stage = Stage::new().await;
    stage.write("a").await;
    let request = stage.asked().await;
    let mut late = person(&stage.daemon).await;
    heard(&mut late).await;
    for _ in 0..2 {
        subscribe(&mut late, &stage.run).await;
    }
    assert_eq!(late.next().await.unwrap()["requestId"], json!(request));
    heard(&mut late).await;
    stage.decide(&request, "deny").await;
    let end = late.next().await.unwrap();
    assert_eq!((&end["type"], &end["permissionRequestId"]), (&json!("request_resolved"), &json!(request)));
    assert_eq!(end["runId"], json!(stage.run));
    say(&mut late, json!({ "type": "unsubscribe", "runId": stage.run })).await;
    stage.told("permission_result").await;
    stage.write("b").await;
    stage.seen("request_resolved").await;
    stage.asked().await;
    heard(&mut late).await;
}

#[tokio::test]
async fn a19_without_an_approver_a_request_waits_and_expires_and_is_never_allowed() {
    let mut stage = Stage::new().await;
    stage.write("a").await;
    stage.asked().await;
    let Stage { daemon, you, mut host, .. } = stage;
    drop(you);
    daemon.world.later(299_000).await;
    assert_eq!(daemon.world.engine.pending().unwrap().len(), 1);
    daemon.world.later(2_000).await;
    let result = host.next().await.unwrap();
    assert_eq!((&result["type"], &result["outcome"]), (&json!("permission_result"), &json!("expired")));
}

#[tokio::test]
async fn a28_and_a29_an_answer_is_for_that_path_and_names_that_look_alike_stay_apart() {
    let mut stage = Stage::new().await;
    stage.decided("a.b", "deny-session").await;
    stage.seen("policy_updated").await;
    stage.seen("request_resolved").await;
    stage.decided("a-b", "deny-session").await;
    let names = stage.seen("policy_updated").await["policies"].as_array().unwrap().len();
    assert_eq!(names, 3, "the path policy and both answers");
    stage.seen("request_resolved").await;
    for path in ["a.b", "a-b"] {
        assert_eq!(stage.write(path).await["decision"], "deny", "{path}");
    }
    stage.decided("config.json", "allow-session").await;
    stage.seen("policy_updated").await;
    stage.seen("request_resolved").await;
    for path in ["/etc/app/config.json", "/ws/sub/config.json", "/ws/config.json/x"] {
        assert_eq!(stage.write(path).await["decision"], "ask", "{path}");
        stage.asked().await;
    }
}

/// A link in the working directory leads out of it. What decides is the place where it leads, not its text.
#[tokio::test]
async fn a30_a_link_that_leads_outside_counts_as_the_place_where_it_leads() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (inside, outside) = (crate::support::real(inside.path()), crate::support::real(outside.path()));
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    let daemon = Daemon::on_disk(&inside).await;
    let mut stage = Stage::of(daemon, "disk").await;
    let patch = json!({ "type": "update_policy", "runId": stage.run, "mode": "write", "allow": ["**"] });
    say(&mut stage.you, patch).await;
    stage.seen("policy_for_all").await;
    assert_eq!(stage.write("plain").await["decision"], "allow");
    let through = format!("{}/link/passwd", inside.display());
    for path in ["link/passwd", "link/sub/../passwd", "./link/passwd", &through] {
        let told = stage.write(path).await;
        assert!(told["decision"] == "ask" || told["decision"] == "deny", "{path}: {told}");
        if told["decision"] == "ask" {
            let shown = stage.seen("request_permission").await;
            let place = outside.join("passwd").display().to_string();
            assert_eq!(shown["resource"], place, "{path}: the place is shown, not the link");
            let id = shown["requestId"].as_str().unwrap().to_owned();
            stage.decide(&id, "deny").await;
            stage.seen("request_resolved").await;
            stage.told("permission_result").await;
        }
        stage.daemon.world.later(120_000).await;
    }
}

#[tokio::test]
async fn a31_a_path_with_dots_or_control_characters_never_counts_as_inside() {
    let mut stage = Stage::new().await;
    let patch = json!({ "type": "update_policy", "runId": stage.run, "mode": "write", "allow": ["**"] });
    say(&mut stage.you, patch).await;
    stage.seen("policy_for_all").await;
    assert_eq!(stage.write("/ws/a").await["decision"], "allow");
    let outside = stage.write("/ws/../etc/passwd").await;
    assert_ne!(outside["decision"], "allow", "{outside}");
    for path in ["/ws/a\u{0}b", "/ws/a\u{1b}b"] {
        let wanted =
            json!({ "type": "authorize", "operation": "fs.write", "resource": path, "toolName": "write_file" });
        say(&mut stage.host, wanted).await;
        loop {
            let frame = stage.host.next().await.unwrap();
            if frame["type"] == "error" || frame["type"] == "authorize_result" {
                assert_ne!(frame["decision"], "allow", "{path:?}: {frame}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a32_a_command_is_shown_as_written_and_a_session_answer_is_for_exactly_it() {
    let mut stage = Stage::new().await;
    assert_eq!(stage.by("bash", "command.execute", "node build.js").await["decision"], "ask");
    let request = stage.seen("request_permission").await;
    assert_eq!((&request["operation"], &request["resource"]), (&json!("command.execute"), &json!("node build.js")));
    let id = request["requestId"].as_str().unwrap().to_owned();
    stage.decide(&id, "allow-session").await;
    stage.seen("policy_updated").await;
    stage.seen("request_resolved").await;
    stage.told("permission_result").await;
    assert_eq!(stage.by("bash", "command.execute", "node build.js").await["decision"], "allow");
    assert_eq!(stage.by("bash", "command.execute", "node build.js --all").await["decision"], "ask");
}

/// The content of a write is shown as text, bounded and without secrets.
#[tokio::test]
async fn details_show_what_is_about_to_be_written_without_its_secrets() {
    let mut stage = Stage::new().await;
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let wanted = json!({
        "type": "authorize",
        "operation": "fs.write",
        "resource": "a",
        "toolName": "write_file",
        "details": format!("<b>token</b> = {secret} {}", "x".repeat(100_000)),
    });
    say(&mut stage.host, wanted).await;
    let shown = stage.seen("request_permission").await["details"].clone();
    let text = shown["shown"].as_str().unwrap();
    assert!(text.contains("<b>token</b>") && !text.contains(secret), "{text}");
    assert!(text.len() < 10_000 && shown["leftOut"].as_u64().unwrap() > 90_000);
}
