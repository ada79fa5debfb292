//! The copies of lines: all but the requests for permission, byte for byte and in order.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bestow::AgentId;
use bestow_hosts::{
    Answer, Call, Caller, Failure, SessionId, Sessions, SubagentId,
    acp::{Otherwise, WrapOptions},
};
use proptest::{collection::vec, prelude::*};
use serde_json::json;

use super::support::{Wrapped, bash, request};

/// An engine that allows everything.
struct Willing;

#[async_trait]
impl Sessions for Willing {
    async fn call(&self, _: Call) -> Result<Answer, Failure> {
        Ok(Answer::Allowed { reason: "it may".into(), feedback: None })
    }

    async fn begin(&self, _: Caller) -> Result<AgentId, Failure> {
        Ok("acp".parse().unwrap())
    }

    async fn end(&self, _: SessionId, _: Option<SubagentId>) -> Result<(), Failure> {
        Ok(())
    }
}

fn wrapped() -> Wrapped {
    let mut options = WrapOptions::default();
    (options.unanswered, options.hold) = (Otherwise::Deny, Duration::ZERO);
    Wrapped::around(Arc::new(Willing), options)
}

/// A line that is no request for permission, no answer, and either one message or none at all.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let bytes = vec(any::<u8>(), 0..80).prop_map(|mut bytes| {
        bytes.retain(|byte| *byte != b'\n' && *byte != b'{');
        bytes
    });
    let message = (any::<Option<u8>>(), "[a-z/$_]{0,12}", "\\PC{0,30}", 0..3u8).prop_map(|(id, method, text, form)| {
        let params =
            json!({ "sessionId": text, "cwd": "/w", "update": { "sessionUpdate": "tool_call", "title": text } });
        let id = id.map_or(json!(null), |id| json!(id));
        let message = match form {
            0 => json!({ "id": id, "method": method, "params": params }),
            1 => json!({ "method": method, "params": params }),
            _ => json!({ "id": id, "method": "session/new", "params": params, "note": "session/request_permission" }),
        };
        message.to_string().into_bytes()
    });
    let spaced = message.clone().prop_map(|message| [b" \t", &*message, b"\r"].concat());
    prop_oneof![bytes, message, spaced, Just(Vec::new())]
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::support::cases(96),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_sides_hear_what_the_other_one_says(
        of_agent in vec((line(), any::<bool>()), 0..12),
        of_editor in vec(line(), 0..12),
        end in vec(any::<u8>().prop_filter("a line end", |byte| *byte != b'\n' && *byte != b'{'), 0..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut wrapped = wrapped();
            let mut expected = Vec::new();
            for (number, (line, asks)) in of_agent.iter().enumerate() {
                let line = [line, &b"\n"[..]].concat();
                wrapped.agent.say_bytes(&line).await;
                expected.extend(line);
                if *asks {
                    wrapped.agent.say(&request(format!("own-{number}"), "s", bash("ls"))).await;
                }
            }
            wrapped.agent.say_bytes(&end).await;
            expected.extend(&end);
            wrapped.editor.say_bytes(&joined(&of_editor)).await;
            for line in &of_editor {
                let line = [line, &b"\n"[..]].concat();
                loop {
                    let heard = wrapped.agent.line().await;
                    // The answers of the wrapper come in between.
                    if !String::from_utf8_lossy(&heard).contains("\"id\":\"own-") {
                        assert_eq!(heard, line);
                        break;
                    }
                }
            }
            wrapped.agent.close();
            assert_eq!(wrapped.editor.rest().await, expected);
        });
    }
}

#[tokio::test]
async fn a_long_line_is_copied_and_a_longer_one_is_refused_with_an_error_for_its_sender() {
    let mut wrapped = wrapped();
    let long = "x".repeat(17 << 20);
    let message = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs/write_text_file\",\"params\":\"{long}\"}}\n");
    let (mut agent, text) = (wrapped.agent, message.clone());
    let saying = tokio::spawn(async move {
        agent.say_bytes(text.as_bytes()).await;
        agent
    });
    assert!(wrapped.editor.line().await == message.as_bytes(), "byte for byte");
    wrapped.agent = saying.await.unwrap();
    let longer = "x".repeat(65 << 20);
    for (message, id) in [
        (format!("{{\"id\":7,\"method\":\"session/request_permission\",\"params\":\"{long}\"}}\n"), json!(7)),
        (format!("{{\"id\":8,\"params\":\"{longer}\",\"method\":\"session/request_permission\"}}\n"), json!(8)),
        (format!("{{\"params\":\"{longer}\",\"id\":9}}\n"), json!(null)),
    ] {
        wrapped.agent.say_bytes(message.as_bytes()).await;
        let answer = wrapped.agent.hear().await;
        assert!(answer["id"] == id && answer["error"]["code"] == -32600, "{answer}");
        wrapped.agent.say(&json!({ "next": 1 })).await;
        assert_eq!(wrapped.editor.hear().await, json!({ "next": 1 }));
    }
    let message = format!("{{\"id\":1,\"method\":\"session/prompt\",\"params\":\"{longer}\"}}\n");
    wrapped.editor.say_bytes(message.as_bytes()).await;
    let answer = wrapped.editor.hear().await;
    assert!(answer["id"] == 1 && answer["error"]["code"] == -32600, "{answer}");
    wrapped.editor.say(&json!({ "next": 1 })).await;
    assert_eq!(wrapped.agent.hear().await, json!({ "next": 1 }));
    wrapped.end().await.unwrap();
}

#[tokio::test]
async fn an_answer_reaches_the_agent_once_and_only_for_what_the_editor_was_asked() {
    let mut wrapped = wrapped();
    let read = json!({ "id": 1, "method": "fs/read_text_file", "params": {} });
    let answer = |id: u64| json!({ "id": id, "result": { "content": "x" } });
    wrapped.editor.say(&answer(1)).await;
    wrapped.agent.say(&read).await;
    assert_eq!(wrapped.editor.hear().await, read);
    for id in [2, 1, 1] {
        wrapped.editor.say(&answer(id)).await;
    }
    wrapped.editor.say(&json!({ "method": "last" })).await;
    assert_eq!(wrapped.agent.hear().await, answer(1));
    assert_eq!(wrapped.agent.hear().await, json!({ "method": "last" }));
}

/// The attack: a line that one reader passes over, and that another one takes for an answer or a request.
#[tokio::test]
async fn a_line_that_readers_may_understand_differently_is_not_copied() {
    let mut wrapped = wrapped();
    for line in ["{\"id\":9,\"id\":7,\"result\":{}}\n", "\u{feff}{\"id\":7,\"result\":{}}\n", "[{\"id\":7}]\n"] {
        wrapped.agent.say_bytes(line.as_bytes()).await;
        wrapped.editor.say_bytes(line.as_bytes()).await;
    }
    // Only what is not an answer is answered by an error.
    for _ in 0..2 {
        assert_eq!(wrapped.editor.hear().await["error"]["code"], -32600);
    }
    wrapped.editor.say(&json!({ "next": 1 })).await;
    assert_eq!(wrapped.agent.hear().await, json!({ "next": 1 }));
    wrapped.agent.say(&json!({ "next": 1 })).await;
    assert_eq!(wrapped.editor.hear().await, json!({ "next": 1 }));
}

#[tokio::test]
async fn an_answer_that_is_not_clear_is_an_error_for_the_side_that_waits_for_it() {
    let mut wrapped = wrapped();
    let (read, prompt) =
        (json!({ "id": 5, "method": "fs/read_text_file" }), json!({ "id": 5, "method": "session/prompt" }));
    wrapped.agent.say(&read).await;
    assert_eq!(wrapped.editor.hear().await, read);
    wrapped.editor.say(&prompt).await;
    assert_eq!(wrapped.agent.hear().await, prompt);
    wrapped.editor.say(&json!({ "id": 5, "result": {}, "Result": {}, "jsonrpc": "2.0" })).await;
    let answer = wrapped.agent.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32600)));
    wrapped.agent.say_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":\"\xff\"}\n").await;
    let answer = wrapped.editor.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32600)));
}

#[tokio::test]
async fn a_line_of_a_log_that_looks_like_json_is_left_out_and_answered_by_nothing() {
    let mut wrapped = wrapped();
    wrapped.agent.say_bytes(b"[info] {\"a\":1}\n{ foo: 1 }\n").await;
    wrapped.agent.say(&json!({ "next": 1 })).await;
    assert_eq!(wrapped.editor.hear().await, json!({ "next": 1 }));
    wrapped.editor.say(&json!({ "next": 2 })).await;
    assert_eq!(wrapped.agent.hear().await, json!({ "next": 2 }));
}
