use serde_json::{Value, json};

use super::{
    super::{calls::Known, envelope::Envelope},
    News, Sessions,
};

/// Two sides, and what was noted of their messages.
#[derive(Default)]
struct Talk(Sessions);

impl Talk {
    fn editor(&mut self, message: Value) -> Option<News> {
        self.0.of_editor(&Envelope::read(message.to_string().as_bytes()).unwrap())
    }

    fn agent(&mut self, message: Value) {
        self.0.of_agent(&Envelope::read(message.to_string().as_bytes()).unwrap());
    }

    fn new_session(&mut self, request: u64, session: &str, cwd: &str) {
        self.editor(json!({ "id": request, "method": "session/new", "params": { "cwd": cwd, "mcpServers": [] } }));
        self.agent(json!({ "id": request, "result": { "sessionId": session } }));
    }

    fn update(&mut self, session: &str, update: Value) {
        self.agent(json!({ "method": "session/update", "params": { "sessionId": session, "update": update } }));
    }

    fn cwd(&self, session: &str) -> Option<String> {
        Some(self.0.find(session)?.cwd.to_str().unwrap().to_owned())
    }
}

#[test]
fn a_session_is_known_with_the_directory_that_the_editor_named() {
    let mut talk = Talk::default();
    assert_eq!(talk.0.find("s"), None);
    talk.new_session(1, "s", "/w");
    talk.new_session(2, "t", "/x");
    assert_eq!((talk.cwd("s").as_deref(), talk.cwd("t").as_deref()), (Some("/w"), Some("/x")));
    // A session that exists is opened by its id.
    talk.editor(json!({ "id": 3, "method": "session/load", "params": { "sessionId": "u", "cwd": "/u" } }));
    assert_eq!(talk.cwd("u").as_deref(), Some("/u"));
    // An error, a relative directory and an answer that nobody waits for begin nothing.
    talk.editor(json!({ "id": 4, "method": "session/new", "params": { "cwd": "/w" } }));
    talk.agent(json!({ "id": 4, "error": { "code": 1, "message": "no" } }));
    talk.agent(json!({ "id": 4, "result": { "sessionId": "v" } }));
    talk.new_session(5, "v", "w");
    assert_eq!(talk.cwd("v"), None);
}

#[test]
fn a_subagent_belongs_to_the_session_that_the_editor_began() {
    let mut talk = Talk::default();
    talk.new_session(1, "s", "/w");
    talk.update("s", json!({ "sessionUpdate": "subagent_update", "sessionId": "a", "cwd": "/w/a" }));
    talk.update("a", json!({ "sessionUpdate": "subagent_update", "sessionId": "b" }));
    let found = talk.0.find("b").unwrap();
    assert_eq!((&*found.root, found.is_subagent, found.cwd.to_str()), ("s", true, Some("/w/a")));
    // The agent of an unknown session announces nobody, and no session moves below another one.
    talk.update("x", json!({ "sessionUpdate": "subagent_update", "sessionId": "y" }));
    talk.update("b", json!({ "sessionUpdate": "subagent_update", "sessionId": "s", "cwd": "/evil" }));
    talk.new_session(2, "a", "/evil");
    assert_eq!(talk.0.find("y"), None);
    assert_eq!((talk.cwd("s").as_deref(), talk.cwd("a").as_deref()), (Some("/w"), Some("/w/a")));
    assert!(!talk.0.find("s").unwrap().is_subagent);
}

#[test]
fn a_cancelled_session_is_so_until_its_next_prompt_with_its_subagents() {
    let mut talk = Talk::default();
    talk.new_session(1, "s", "/w");
    talk.new_session(2, "t", "/w");
    talk.update("s", json!({ "sessionUpdate": "subagent_update", "sessionId": "a" }));
    let told = talk.editor(json!({ "method": "session/cancel", "params": { "sessionId": "s" } }));
    assert_eq!(told, Some(News::Cancelled("s".into())));
    let cancelled = |talk: &Talk| ["s", "a", "t"].map(|id| talk.0.find(id).unwrap().is_cancelled);
    assert_eq!(cancelled(&talk), [true, true, false]);
    assert!(talk.0.is_below("a", "s") && !talk.0.is_below("t", "s"));
    talk.editor(json!({ "id": 9, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [] } }));
    assert_eq!(cancelled(&talk), [false; 3]);
}

#[test]
fn what_an_agent_tells_about_a_call_is_joined_and_the_oldest_is_forgotten() {
    let mut talk = Talk::default();
    talk.new_session(1, "s", "/w");
    talk.update("s", json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "rawInput": { "a": 1 } }));
    talk.update("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "name": "Read" }));
    let Known::Told(call) = talk.0.call("s", Some("c")) else { panic!() };
    assert_eq!((call.title.as_deref(), call.tool_name()), (Some("T"), Some("Read")));
    assert_eq!(call.input(), Some(&json!({ "a": 1 })));
    assert_eq!(talk.0.call("t", Some("c")), Known::Nothing);
}

/// The attack: what the agent told at first is harmless, and what it tells then is not understood.
#[test]
fn nothing_that_was_told_before_counts_if_something_was_not_understood() {
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "name": "Write" });
    let told = |update: &str| {
        let mut talk = Talk::default();
        talk.new_session(1, "s", "/w");
        talk.update("s", call.clone());
        let line = format!(r#"{{"method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#);
        talk.0.of_agent(&Envelope::read(line.as_bytes()).unwrap());
        talk.0.call("s", Some("c"))
    };
    let long = "x".repeat(300 << 10);
    for update in [
        format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"{long}"}}"#),
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"a","title":"b"}"#.to_owned(),
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{}]}"#.to_owned(),
        r#"{"sessionUpdate":"tool_call_update","toolCallId":1}"#.to_owned(),
        r#"{"sessionUpdate":1,"toolCallId":"c"}"#.to_owned(),
    ] {
        assert_eq!(told(&update), Known::Unclear, "{update:.100}");
    }
    for end in ["completed", "failed"] {
        let over = format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"{end}"}}"#);
        assert_eq!(told(&over), Known::Nothing);
    }
    let chunk = r#"{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"diff","path":"/x"}}"#;
    let Known::Told(call) = told(chunk) else { panic!() };
    assert_eq!((call.paths(), call.tool_name()), (vec!["/x"], Some("Write")));
}

/// The attack: a fork, or a request that the agent refuses, names another directory for a session that runs.
#[test]
fn the_directory_of_a_session_changes_only_if_the_agent_agrees() {
    let mut talk = Talk::default();
    talk.new_session(1, "s", "/w");
    talk.editor(json!({ "id": 2, "method": "session/fork", "params": { "sessionId": "s", "cwd": "/x" } }));
    assert_eq!(talk.cwd("s").as_deref(), Some("/w"));
    talk.agent(json!({ "id": 2, "result": { "sessionId": "t" } }));
    assert_eq!((talk.cwd("s").as_deref(), talk.cwd("t").as_deref()), (Some("/w"), Some("/x")));
    for (answer, cwd) in [(json!({ "error": {} }), "/w"), (json!({ "result": {} }), "/x")] {
        talk.editor(json!({ "id": 3, "method": "session/load", "params": { "sessionId": "s", "cwd": "/x" } }));
        assert_eq!(talk.cwd("s"), None, "it is not known meanwhile");
        let mut answer = answer;
        answer["id"] = json!(3);
        talk.agent(answer);
        assert_eq!(talk.cwd("s").as_deref(), Some(cwd));
    }
    // A load that is refused begins no session.
    talk.editor(json!({ "id": 4, "method": "session/load", "params": { "sessionId": "u", "cwd": "/x" } }));
    talk.agent(json!({ "id": 4, "error": {} }));
    assert_eq!(talk.cwd("u"), None);
}

#[test]
fn an_id_that_no_engine_takes_is_not_kept_and_a_chain_of_subagents_ends() {
    let mut talk = Talk::default();
    talk.new_session(1, &"x".repeat(65), "/w");
    assert_eq!(talk.cwd(&"x".repeat(65)), None);
    talk.new_session(2, "0", "/w");
    for number in 0..40 {
        let child = (number + 1).to_string();
        talk.update(&number.to_string(), json!({ "sessionUpdate": "subagent_update", "sessionId": child }));
    }
    assert!(talk.cwd("16").is_some() && talk.cwd("17").is_none());
}
