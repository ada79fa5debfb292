//! The wrapper: what the engine answers, and what it never answers.

use std::time::Duration;

use bestow::{Answer, grant::Scope, user::Prompt};
use bestow_hosts::acp::{Otherwise, WrapOptions};
use serde_json::{Value, json};

use super::support::{Desk, Side, bash, chosen, reason, request, with_options};
use crate::support::settle;

fn denying() -> WrapOptions {
    let mut options = WrapOptions::default();
    options.unanswered = Otherwise::Deny;
    options
}

#[tokio::test]
async fn a_safe_call_is_allowed_once_and_a_destructive_one_is_refused() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    let answer = wrapped.asked(&request(7, "s", bash("ls"))).await;
    assert_eq!((&answer["id"], &answer["jsonrpc"], chosen(&answer)), (&json!(7), &json!("2.0"), "allow_once-"));
    let answer = wrapped.asked(&request("x", "s", bash("rm -rf /"))).await;
    assert_eq!((&answer["id"], chosen(&answer)), (&json!("x"), "reject_once-"));
    assert!(!reason(&answer).is_empty());
    // The editor has heard of neither.
    wrapped.agent.say(&json!({ "method": "x" })).await;
    assert_eq!(wrapped.editor.hear().await, json!({ "method": "x" }));
    assert_eq!(desk.agents(), ["acp", "acp:s"]);
    wrapped.end().await.unwrap();
    assert_eq!(desk.agents(), ["acp"]);
}

#[tokio::test]
async fn without_an_option_to_refuse_the_request_is_cancelled() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    for kinds in [&["allow_once"][..], &["allow_once", "reject_always"], &[]] {
        let answer = wrapped.asked(&with_options(1, "s", bash("rm -rf /"), kinds)).await;
        assert_eq!(chosen(&answer), "cancelled", "{kinds:?}");
    }
}

#[tokio::test]
async fn an_option_that_lasts_is_never_chosen() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    for kinds in [&["allow_always", "reject_once"][..], &["reject_once", "allow_once", "allow_once"]] {
        let answer = wrapped.asked(&with_options(1, "s", bash("ls"), kinds)).await;
        assert_eq!(chosen(&answer), "reject_once-", "{kinds:?}");
    }
    // Where the editor answers instead, it gets the request as it is.
    let mut wrapped = desk.wrapped();
    wrapped.session("t", "/ws").await;
    let asked = with_options(1, "t", bash("ls"), &["allow_always", "reject_once"]);
    wrapped.agent.say(&asked).await;
    assert_eq!(wrapped.editor.hear().await, asked);
}

#[tokio::test]
async fn an_option_that_lasts_is_chosen_where_that_is_set_and_no_other_allows() {
    let desk = Desk::new().await;
    let mut options = denying();
    options.allow_always = true;
    let mut wrapped = desk.wrapped_with(options);
    wrapped.session("s", "/ws").await;
    for (kinds, expected) in [
        (&["reject_once", "allow_always"][..], "allow_always-"),
        (&["allow_always", "allow_once"], "allow_once-"),
        (&["allow_always", "reject_once", "allow_always"], "reject_once-"),
    ] {
        let answer = wrapped.asked(&with_options(1, "s", bash("ls"), kinds)).await;
        assert_eq!(chosen(&answer), expected, "{kinds:?}");
        let answer = wrapped.asked(&with_options(2, "s", bash("rm -rf /"), kinds)).await;
        assert!(!chosen(&answer).starts_with("allow"), "{kinds:?}: {answer}");
    }
}

#[tokio::test]
async fn where_nobody_attends_the_engine_the_person_at_the_editor_answers() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    let call = r#"{"toolCallId":"c","name":"Bash","rawInput":{"command":"make"},"x":[1.0]}"#;
    let params = r#""sessionId":"s","options":[{"kind":"allow_once","optionId":"o","name":"n"}]"#;
    let line = format!(
        "{{ \"params\":{{\"toolCall\":{call}, {params}}}, \"id\":5.0,\"method\":\"session\\/request_permission\"}}\n"
    );
    let line = line.as_bytes();
    wrapped.agent.say_bytes(line).await;
    assert_eq!(wrapped.editor.line().await, line, "byte for byte");
    let yes = b"{\"id\":5,\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"o\"}}}\n";
    wrapped.editor.say_bytes(yes).await;
    assert_eq!(wrapped.agent.line().await, yes);
    assert!(desk.engine.pending().unwrap().is_empty(), "the engine's question is withdrawn");
}

#[tokio::test]
async fn where_nobody_attends_and_the_editor_is_not_to_answer_the_request_is_refused_and_waits() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    let answer = wrapped.asked(&request(1, "s", bash("make"))).await;
    let [pending] = &desk.engine.pending().unwrap()[..] else { panic!("one waits") };
    assert_eq!((chosen(&answer), pending.request.from.as_str()), ("reject_once-", "acp:s"));
    assert!(reason(&answer).contains(&pending.request.code().to_string()), "{answer}");
    desk.person().answer(pending.request.id, Answer::allow()).await.unwrap();
    assert_eq!(chosen(&wrapped.asked(&request(2, "s", bash("make"))).await), "allow_once-");
    assert_eq!(chosen(&wrapped.asked(&request(3, "s", bash("make"))).await), "reject_once-", "it was for one call");
}

#[tokio::test]
async fn a_person_who_attends_answers_while_the_agent_waits_and_other_lines_pass() {
    let desk = Desk::new().await;
    let person = desk.person();
    let mut attending = person.attend().unwrap();
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    for (answer, option) in [(Answer::allow(), "allow_once-"), (Answer::deny(), "reject_once-")] {
        wrapped.agent.say(&request(1, "s", bash("make"))).await;
        let Some(Prompt::Ask(asked)) = attending.next().await else { panic!("a question") };
        wrapped.agent.say(&json!({ "method": "session/update" })).await;
        assert_eq!(wrapped.editor.hear().await, json!({ "method": "session/update" }));
        person.answer(asked.id, answer).await.unwrap();
        assert_eq!(chosen(&wrapped.agent.hear().await), option);
        let Some(Prompt::Settled(_)) = attending.next().await else { panic!("an end") };
    }
}

#[tokio::test]
async fn a_cancelled_turn_cancels_what_waits_and_leaves_no_approval_behind() {
    let desk = Desk::new().await;
    let (mut wrapped, mut attending, asked) = desk.waiting(1).await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s" } });
    wrapped.editor.say(&cancel).await;
    assert_eq!(wrapped.agent.hear().await, cancel, "the agent hears of it first");
    assert_eq!(chosen(&wrapped.agent.hear().await), "cancelled");
    let Some(Prompt::Settled(how)) = attending.next().await else { panic!("an end") };
    assert_eq!(how.request, asked.id);
    assert!(desk.person().answer(asked.id, Answer::allow()).await.is_err(), "too late");
    // Until the next prompt there is no turn that could ask.
    assert_eq!(chosen(&wrapped.asked(&request(2, "s", bash("ls"))).await), "cancelled");
    let prompt = json!({ "id": 3, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [] } });
    wrapped.editor.say(&prompt).await;
    assert_eq!(wrapped.agent.hear().await, prompt);
    assert_eq!(chosen(&wrapped.asked(&request(4, "s", bash("ls"))).await), "allow_once-");
}

#[tokio::test]
async fn an_agent_that_cancels_its_own_request_gets_its_end_and_the_editor_hears_nothing() {
    let desk = Desk::new().await;
    let (mut wrapped, mut attending, _) = desk.waiting("a").await;
    let cancel = |id: &str| json!({ "method": "$/cancel_request", "params": { "requestId": id } });
    wrapped.agent.say(&cancel("a")).await;
    let answer = wrapped.agent.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32800)));
    let Some(Prompt::Settled(_)) = attending.next().await else { panic!("an end") };
    // A request that the editor has is cancelled there.
    wrapped.agent.say(&cancel("b")).await;
    assert_eq!(wrapped.editor.hear().await, cancel("b"));
}

#[tokio::test]
async fn no_answer_of_the_editor_counts_for_a_request_that_the_engine_answers() {
    let desk = Desk::new().await;
    let person = desk.person();
    let (mut wrapped, _attending, asked) = desk.waiting(5).await;
    let yes = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once-" } });
    for id in [json!(5), json!(5.0)] {
        wrapped.editor.say(&json!({ "jsonrpc": "2.0", "id": id, "result": yes })).await;
    }
    // Its own requests pass, and answers to nothing do not.
    wrapped.editor.say(&json!({ "id": "5", "result": yes })).await;
    let own = json!({ "id": 5, "method": "session/prompt", "params": {} });
    wrapped.editor.say(&own).await;
    assert_eq!(wrapped.agent.hear().await, own);
    // So do answers of the agent with the same id.
    wrapped.agent.say(&json!({ "id": 5, "result": {} })).await;
    assert_eq!(wrapped.editor.hear().await, json!({ "id": 5, "result": {} }));
    person.answer(asked.id, Answer::deny()).await.unwrap();
    assert_eq!(chosen(&wrapped.agent.hear().await), "reject_once-");
}

/// Expects an error for the agent, and returns its text.
async fn refused(agent: &mut Side, id: &Value) -> String {
    let answer = agent.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (id, &json!(-32600)), "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn two_requests_with_one_id_are_both_without_a_yes() {
    let desk = Desk::new().await;
    let (mut wrapped, mut attending, _) = desk.waiting(1).await;
    wrapped.agent.say(&request(1, "s", bash("ls"))).await;
    assert!(refused(&mut wrapped.agent, &json!(1)).await.contains("two requests"));
    let Some(Prompt::Settled(_)) = attending.next().await else { panic!("an end") };
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", bash("ls"))).await), "allow_once-", "the id is free again");
}

#[tokio::test]
async fn a_request_that_is_not_understood_is_an_error_and_never_a_yes() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    let good = request(1, "s", bash("ls")).to_string();
    for (line, id) in [
        (good.replace("\"id\":1,", "\"id\":1,\"id\":2,"), json!(1)),
        (good.replace("\"method\":", "\"method\":\"x\",\"method\":"), json!(1)),
        (good.replace("\"command\":", "\"command\":\"ls\",\"command\":"), json!(1)),
        (good.replace("\"sessionId\"", "\"session\""), json!(1)),
        (good.replace("\"options\"", "\"choices\""), json!(1)),
        (good.replace("\"id\":1,", ""), Value::Null),
        (good.replace("\"id\":1,", "\"id\":{},"), Value::Null),
        (format!("[{good}]"), Value::Null),
        (format!("{good} x"), json!(1)),
        (format!("{{}}\r{good}"), Value::Null),
        (
            good.replace("session/request_permission", "session\\/request\\u005fpermission")
                .replace("{\"id\"", "{,\"id\""),
            Value::Null,
        ),
    ] {
        assert_ne!(line, good);
        wrapped.agent.say_bytes(format!("{line}\n").as_bytes()).await;
        refused(&mut wrapped.agent, &id).await;
    }
    // The editor has seen none of them.
    wrapped.agent.say(&json!({})).await;
    assert_eq!(wrapped.editor.hear().await, json!({}));
}

#[tokio::test]
async fn a_request_of_a_session_that_nobody_began_is_refused() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    for session in ["s", "", &"x".repeat(100)] {
        let answer = wrapped.asked(&request(1, session, bash("ls"))).await;
        assert_eq!(chosen(&answer), "reject_once-");
        assert!(reason(&answer).contains("session"), "{answer}");
    }
    wrapped.session(&"x".repeat(100), "/ws").await;
    assert_eq!(chosen(&wrapped.asked(&request(1, &"x".repeat(100), bash("ls"))).await), "reject_once-", "too long");
    assert_eq!(desk.agents(), ["acp"]);
}

#[tokio::test]
async fn a_tool_that_says_less_than_it_does_is_one_of_which_nothing_is_known() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    let read = json!({ "toolCallId": "c", "name": "Read", "kind": "read", "rawInput": { "file_path": "/ws/a" } });
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", read.clone())).await), "allow_once-");
    for (field, value) in [
        ("kind", json!("execute")),
        ("locations", json!([{ "path": "/etc/shadow" }])),
        ("name", json!("Reed")),
        ("name", Value::Null),
        ("rawInput", Value::Null),
        ("content", json!([{ "type": "diff", "path": "/ws/b", "newText": "" }])),
    ] {
        let mut call = read.clone();
        call[field] = value;
        assert_eq!(chosen(&wrapped.asked(&request(1, "s", call)).await), "reject_once-", "{field}");
    }
    // A destructive command is one under every name.
    let lie = json!({ "toolCallId": "c", "title": "Look around", "kind": "read", "rawInput": { "x": "rm -rf /" } });
    let answer = wrapped.asked(&request(1, "s", lie)).await;
    assert!(chosen(&answer) == "reject_once-" && !reason(&answer).contains("waits"), "{answer}");
}

#[tokio::test]
async fn what_the_agent_told_about_the_call_before_counts() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    let update = json!({ "method": "session/update", "params": { "sessionId": "s", "update": {
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "name": "Bash", "rawInput": { "command": "ls" },
    } } });
    wrapped.agent.say(&update).await;
    assert_eq!(wrapped.editor.hear().await, update);
    let short = json!({ "toolCallId": "c" });
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", short)).await), "allow_once-");
    // The call of the request is the one that counts.
    let other = json!({ "toolCallId": "c", "rawInput": { "command": "rm -rf /" } });
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", other)).await), "reject_once-");
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", json!({ "toolCallId": "d" }))).await), "reject_once-");
}

#[tokio::test]
async fn a_command_of_version_2_is_decided_in_its_directory_and_an_unknown_subject_is_declined() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    let of = |subject: Value| {
        let mut asked = request(1, "s", Value::Null);
        let params = asked["params"].as_object_mut().unwrap();
        params.remove("toolCall");
        params.insert("subject".into(), subject);
        params.insert("title".into(), json!("Run it?"));
        asked
    };
    let command = |line: &str, cwd: &str| of(json!({ "type": "command", "command": line, "cwd": cwd }));
    assert_eq!(chosen(&wrapped.asked(&command("cat a.txt", "/ws/x")).await), "allow_once-");
    assert_eq!(chosen(&wrapped.asked(&command("cat shadow", "/etc")).await), "reject_once-");
    assert_eq!(
        chosen(&wrapped.asked(&command("cat a.txt", "x")).await),
        "allow_once-",
        "below the session's directory"
    );
    for subject in [json!({ "type": "_mine", "command": "ls" }), json!({ "type": "file", "path": "/ws/a" })] {
        let answer = wrapped.asked(&of(subject)).await;
        assert!(chosen(&answer) == "reject_once-" && reason(&answer).contains("unknown"), "{answer}");
    }
    assert_eq!(chosen(&wrapped.asked(&of(Value::Null)).await), "reject_once-");
}

#[tokio::test]
async fn a_subagent_asks_as_a_child_of_its_session() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    wrapped.session("t", "/ws").await;
    let announce = json!({ "method": "session/update", "params": { "sessionId": "s",
        "update": { "sessionUpdate": "subagent_update", "sessionId": "kid" } } });
    wrapped.agent.say(&announce).await;
    assert_eq!(wrapped.editor.hear().await, announce);
    for session in ["kid", "t"] {
        assert_eq!(chosen(&wrapped.asked(&request(1, session, bash("make"))).await), "reject_once-");
    }
    let pending = desk.engine.pending().unwrap();
    let askers: Vec<_> = pending.iter().map(|pending| pending.request.from.as_str()).collect();
    assert_eq!(askers, ["acp:s:kid", "acp:t"]);
    // An approval of one of them is not one of its parent.
    desk.person().answer(pending[0].request.id, Answer::allow()).await.unwrap();
    assert_eq!(chosen(&wrapped.asked(&request(2, "s", bash("make"))).await), "reject_once-");
    assert_eq!(chosen(&wrapped.asked(&request(3, "kid", bash("make"))).await), "allow_once-");
}

#[tokio::test]
async fn an_engine_that_is_gone_refuses() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    desk.engine.shutdown().await;
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", bash("ls"))).await), "reject_once-");
}

#[tokio::test]
async fn the_end_of_the_editor_cancels_what_waits_and_closes_the_input_of_the_agent() {
    let desk = Desk::new().await;
    let (mut wrapped, _attending, _) = desk.waiting(1).await;
    wrapped.editor.close();
    assert_eq!(chosen(&wrapped.agent.hear().await), "cancelled");
    assert!(wrapped.agent.rest().await.is_empty());
    // What it still says is copied.
    wrapped.agent.say_bytes(b"bye").await;
    wrapped.agent.close();
    assert_eq!(wrapped.editor.rest().await, b"bye");
    wrapped.end().await.unwrap();
}

#[tokio::test]
async fn an_agent_that_dies_while_it_asks_leaves_nothing_behind() {
    let desk = Desk::new().await;
    let (mut wrapped, _attending, _) = desk.waiting(1).await;
    wrapped.agent.say_bytes(br#"{"jsonrpc":"2.0","me"#).await;
    wrapped.agent.close();
    assert!(wrapped.editor.rest().await.is_empty(), "half a message is none");
    wrapped.end().await.unwrap();
    assert!(desk.engine.pending().unwrap().is_empty());
    assert_eq!(desk.agents(), ["acp"]);
}

#[tokio::test]
async fn an_editor_that_does_not_read_stops_the_agent_and_nothing_is_lost() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    let line = format!("{}\n", json!({ "method": "session/update", "params": { "x": "y".repeat(1000) } }));
    let text = line.repeat(1000);
    let (mut agent, mut editor) = (wrapped.agent, wrapped.editor);
    let mut saying = tokio::spawn(async move {
        agent.say_bytes(text.as_bytes()).await;
        agent
    });
    let early = tokio::time::timeout(Duration::from_millis(200), &mut saying).await;
    assert!(early.is_err(), "the pipes hold less than that");
    for _ in 0..1000 {
        assert_eq!(editor.line().await, line.as_bytes());
    }
    wrapped.agent = saying.await.unwrap();
    wrapped.editor = editor;
    wrapped.end().await.unwrap();
}

#[tokio::test]
async fn a_longer_permission_given_to_a_session_ends_with_it() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", bash("make"))).await), "reject_once-");
    let pending = desk.engine.pending().unwrap();
    let always = Answer::allow().scope(Scope::Session);
    desk.person().answer(pending[0].request.id, always).await.unwrap();
    for id in 2..4 {
        assert_eq!(chosen(&wrapped.asked(&request(id, "s", bash("make"))).await), "allow_once-", "never allow_always");
    }
    wrapped.end().await.unwrap();
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("s", "/ws").await;
    assert_eq!(chosen(&wrapped.asked(&request(1, "s", bash("make"))).await), "reject_once-");
}

/// A call without a name, with a new text for a file.
fn large(path: &str) -> Value {
    let diff = json!([{ "type": "diff", "path": path, "oldText": null, "newText": "a line\n".repeat(20_000) }]);
    json!({ "toolCallId": "c", "title": "Write it", "kind": "edit", "content": diff })
}

#[tokio::test]
async fn a_call_that_is_too_large_to_be_judged_goes_to_the_person_at_the_editor_unless_its_paths_are_refused() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    let asked = request(1, "s", large("/ws/a"));
    wrapped.agent.say(&asked).await;
    assert_eq!(wrapped.editor.hear().await, asked);
    assert!(desk.engine.pending().unwrap().is_empty(), "the engine asks nobody");
    let mut wrapped = desk.wrapped_with(denying());
    wrapped.session("t", "/ws").await;
    let answer = wrapped.asked(&request(1, "t", large("/ws/a"))).await;
    assert!(chosen(&answer) == "reject_once-" && reason(&answer).contains("too large"), "{answer}");
}

#[tokio::test]
async fn a_large_call_of_a_known_tool_that_was_told_step_by_step_is_judged_whole() {
    let desk = Desk::new().await;
    let mut wrapped = desk.wrapped();
    wrapped.session("s", "/ws").await;
    let text = "a line\n".repeat(30_000);
    let diff = json!([{ "type": "diff", "path": "/ws/a", "oldText": null, "newText": text }]);
    let input = json!({ "file_path": "/ws/a", "content": text });
    let call = json!({ "toolCallId": "c", "name": "Write", "kind": "edit", "rawInput": input, "content": diff });
    for (kind, fields) in
        [("tool_call", json!({ "toolCallId": "c", "rawInput": {} })), ("tool_call_update", call.clone())]
    {
        let mut update = fields;
        update["sessionUpdate"] = json!(kind);
        let told = json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } });
        let (mut agent, line) = (wrapped.agent, told.clone());
        let saying = tokio::spawn(async move {
            agent.say(&line).await;
            agent
        });
        assert!(wrapped.editor.hear().await == told);
        wrapped.agent = saying.await.unwrap();
    }
    for id in 0..5 {
        assert_eq!(chosen(&wrapped.asked(&request(id, "s", call.clone())).await), "allow_once-");
    }
}

#[tokio::test]
async fn a_request_that_is_cancelled_takes_no_answer_from_an_equal_one() {
    let desk = Desk::new().await;
    let (mut wrapped, _attending, _) = desk.waiting(1).await;
    let second = request(2, "s", bash("make"));
    wrapped.agent.say(&second).await;
    settle().await;
    wrapped.agent.say(&json!({ "method": "$/cancel_request", "params": { "requestId": 1 } })).await;
    let answer = wrapped.agent.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32800)));
    assert_eq!(wrapped.editor.hear().await, second, "the person at the editor answers the other one");
}
