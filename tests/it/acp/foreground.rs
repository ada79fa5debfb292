//! A foreground agent in an editor: questions as permission cards, and the answers of the person there.

use std::time::Duration;

use bestow::{Agent, AgentId, Approver, Engine, PermissionRequest, request::Ticket};
use bestow_hosts::acp::foreground::{UserInbox, serve};
use serde_json::{Value, json};
use tokio::{io::duplex, time::timeout};

use super::support::Side;
use crate::support::World;

/// An editor that has begun a session with the foreground agent `lead`. `worker` is a background agent.
struct Editor {
    side: Side,
    engine: Engine,
    worker: Agent,
    lead: AgentId,
    person: Approver,
    session: String,
}

impl Editor {
    async fn open() -> Editor {
        let world = World::new();
        let lead = world.lead("lead", &["@write:/ws"]).await;
        let worker = world.worker("worker", &[]).await;
        let (engine, person) = (world.engine.clone(), world.you());
        let inbox = UserInbox::new(engine.clone(), person.clone(), engine.connect("lead").unwrap());
        let ((says, from_editor), (to_editor, hears)) = (duplex(1 << 16), duplex(1 << 16));
        tokio::spawn(serve(inbox, from_editor, to_editor));
        let mut side = Side::of(says, hears);
        side.say(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": 1 } }))
            .await;
        let told = side.hear().await;
        assert_eq!((&told["id"], &told["result"]["protocolVersion"]), (&json!(0), &json!(1)));
        assert_eq!(told["result"]["agentInfo"]["name"], "bestow");
        let params = json!({ "cwd": "/ws", "mcpServers": [] });
        side.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params })).await;
        let session = side.hear().await["result"]["sessionId"].as_str().unwrap().to_owned();
        Editor { side, engine, worker, lead: lead.id().clone(), person, session }
    }

    async fn asks(&self, permission: &str) -> Ticket {
        self.worker.request(PermissionRequest::new(permission, "to build the pages")).await.unwrap()
    }

    /// Expects the two messages of a card. Returns the request.
    async fn card(&mut self) -> Value {
        let announced = self.side.hear().await;
        let update = &announced["params"]["update"];
        assert_eq!((&announced["method"], &update["sessionUpdate"]), (&json!("session/update"), &json!("tool_call")));
        let asked = self.side.hear().await;
        assert_eq!(asked["method"], "session/request_permission");
        assert_eq!(asked["params"]["toolCall"]["toolCallId"], update["toolCallId"]);
        assert_eq!(asked["params"]["sessionId"], self.session);
        asked
    }

    async fn answer(&mut self, asked: &Value, outcome: Value) {
        self.side.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "outcome": outcome } })).await;
    }

    async fn prompt(&mut self, id: u64, text: &str) {
        let prompt = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.side.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })).await;
    }

    /// Returns the status and the text of the next update of a card.
    async fn over(&mut self) -> (String, String) {
        let told = self.side.hear().await;
        let update = &told["params"]["update"];
        assert_eq!(update["sessionUpdate"], "tool_call_update", "{told}");
        let text = update["content"][0]["content"]["text"].as_str().unwrap();
        (update["status"].as_str().unwrap().to_owned(), text.to_owned())
    }
}

fn selected(id: &str) -> Value {
    json!({ "outcome": "selected", "optionId": id })
}

fn options(asked: &Value) -> Vec<&str> {
    asked["params"]["options"].as_array().unwrap().iter().map(|option| option["optionId"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_question_of_a_background_agent_is_a_card_that_says_who_asks_for_what_and_why() {
    let mut editor = Editor::open().await;
    let ticket = editor.asks("@write:/x").await;
    let asked = editor.card().await;
    let call = &asked["params"]["toolCall"];
    assert_eq!(call["title"], "`worker` asks for `@write:/x`");
    let text = call["content"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("to build the pages"), "{text}");
    assert!(text.contains("Tier: `dangerous`. Expires: `1970-01-01T"), "{text}");
    let meta = &asked["params"]["_meta"]["bestow"];
    assert_eq!((&meta["agentId"], &meta["tier"]), (&json!("worker"), &json!("dangerous")));
    assert_eq!(meta["requestId"], ticket.id().to_string());
    assert!(meta["expiresAt"].as_str().unwrap().contains('T'), "{meta}");
    assert_eq!(options(&asked), ["once", "session", "hour", "deny"]);
    let kinds: Vec<_> =
        asked["params"]["options"].as_array().unwrap().iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "allow_always", "reject_once"]);
}

#[tokio::test]
async fn each_option_gives_what_it_says() {
    for (option, scope) in [("once", "once"), ("session", "session"), ("hour", "until"), ("deny", "")] {
        let mut editor = Editor::open().await;
        let ticket = editor.asks("@write:/x").await;
        let asked = editor.card().await;
        editor.answer(&asked, selected(option)).await;
        let how = ticket.resolution().await;
        let given = how.scope.map(|scope| scope.to_string()).unwrap_or_default();
        assert!(given.starts_with(scope) && how.granted.is_empty() == (option == "deny"), "{option}: {how}");
        let (status, _) = editor.over().await;
        assert_eq!(status, if option == "deny" { "failed" } else { "completed" });
    }
}

#[tokio::test]
async fn a_request_that_accepts_less_offers_less() {
    let mut editor = Editor::open().await;
    let once = PermissionRequest::new("@network", "to look").at_most(bestow::grant::Scope::Once);
    editor.worker.request(once).await.unwrap();
    assert_eq!(options(&editor.card().await), ["once", "deny"]);
}

#[tokio::test]
async fn an_answer_that_is_not_one_approves_nothing_and_the_question_waits_on() {
    let mut editor = Editor::open().await;
    editor.asks("@write:/x").await;
    let mut asked = editor.card().await;
    for outcome in [
        json!({ "outcome": "cancelled" }),
        json!({ "outcome": "approved", "optionId": "once" }),
        selected("always"),
        selected("allow_once"),
        json!({ "outcome": "selected" }),
        Value::Null,
    ] {
        editor.answer(&asked, outcome).await;
        assert_eq!(editor.over().await.0, "failed");
        // Too late: the card is gone.
        editor.answer(&asked, selected("once")).await;
        // It is shown again with the next prompt, under a new id.
        editor.prompt(9, "help").await;
        asked = editor.card().await;
        assert_eq!(editor.side.hear().await["method"], "session/update");
        assert_eq!(editor.side.hear().await["result"]["stopReason"], "end_turn");
        assert_eq!(editor.engine.pending().unwrap().len(), 1);
    }
    // An error is no answer either.
    editor.side.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": 1, "message": "once" } })).await;
    assert_eq!(editor.over().await.0, "failed");
    assert_eq!(editor.engine.pending().unwrap().len(), 1);
}

#[tokio::test]
async fn a_question_that_ends_elsewhere_takes_its_card_away_and_a_late_answer_changes_nothing() {
    let mut editor = Editor::open().await;
    let ticket = editor.asks("@write:/x").await;
    let asked = editor.card().await;
    editor.person.answer(ticket.id(), bestow::Answer::deny()).await.unwrap();
    let cancel = editor.side.hear().await;
    assert_eq!((&cancel["method"], &cancel["params"]["requestId"]), (&json!("$/cancel_request"), &asked["id"]));
    let (status, text) = editor.over().await;
    assert!(status == "failed" && text.contains("denied"), "{text}");
    editor.answer(&asked, selected("session")).await;
    editor.prompt(7, "help").await;
    assert!(editor.side.hear().await["params"]["update"]["content"]["text"].as_str().unwrap().contains("bestow"));
    assert!(editor.worker.permissions().unwrap().iter().next().is_none());
}

#[tokio::test]
async fn a_prompt_is_answered_with_what_waits_and_what_the_agent_holds() {
    let mut editor = Editor::open().await;
    editor.asks("@write:/x").await;
    editor.card().await;
    editor.prompt(3, "What is going on?").await;
    let told = editor.side.hear().await;
    let text = told["params"]["update"]["content"]["text"].as_str().unwrap();
    assert!(text.contains("@write:/ws") && text.contains("worker") && text.contains("lead"), "{text}");
    assert_eq!(editor.side.hear().await, json!({ "jsonrpc": "2.0", "id": 3, "result": { "stopReason": "end_turn" } }));
    assert_eq!(editor.lead.as_str(), "lead");
}

#[tokio::test]
async fn a_turn_that_watches_lasts_until_it_is_cancelled_and_shows_cards_meanwhile() {
    let mut editor = Editor::open().await;
    editor.prompt(4, " Watch ").await;
    editor.asks("@write:/x").await;
    let asked = editor.card().await;
    editor.answer(&asked, selected("once")).await;
    assert_eq!(editor.over().await.0, "completed");
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": editor.session } });
    editor.side.say(&cancel).await;
    assert_eq!(editor.side.hear().await, json!({ "jsonrpc": "2.0", "id": 4, "result": { "stopReason": "cancelled" } }));
}

#[tokio::test]
async fn what_is_no_message_and_what_is_unknown_is_an_error_and_nothing_ends() {
    let mut editor = Editor::open().await;
    for (line, code) in [
        ("nonsense\n", -32700),
        ("[]\n", -32700),
        ("{\"id\":5,\"id\":6,\"method\":\"initialize\"}\n", -32700),
        ("{\"id\":5,\"method\":\"session/load\"}\n", -32601),
        ("{\"id\":5,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"bestow-99\"}}\n", -32602),
        ("{\"id\":5,\"method\":\"session/prompt\"}\n", -32602),
    ] {
        editor.side.say_bytes(line.as_bytes()).await;
        assert_eq!(editor.side.hear().await["error"]["code"], code, "{line}");
    }
    editor.side.say_bytes(b"\n{\"method\":\"_x/y\"}\n{\"id\":77,\"result\":{}}\n").await;
    editor.side.say_bytes(&[b"{\"x\":\"", &*vec![b'y'; 5 << 20], b"\"}\n"].concat()).await;
    editor.prompt(8, "help").await;
    assert_eq!(editor.side.hear().await["method"], "session/update");
}

#[tokio::test]
async fn the_person_is_gone_when_the_editor_says_no_more() {
    let mut editor = Editor::open().await;
    editor.side.close();
    assert!(editor.side.rest().await.is_empty());
    let asked = editor.asks("@write:/x").await;
    let left = timeout(Duration::from_secs(60), async {
        loop {
            let pending = editor.engine.pending().unwrap();
            match pending.iter().find(|pending| pending.request.id == asked.id()) {
                Some(pending) if pending.route != bestow::request::Route::Queue => tokio::task::yield_now().await,
                other => return other.is_some(),
            }
        }
    });
    assert!(left.await.unwrap(), "it waits for the next person");
}
