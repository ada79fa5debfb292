//! Questions that the client shows to its user, in this process and with the real `bestow mcp`.

use bestow::request::{RequestId, Route};
use serde_json::{Value, json};

use super::client::Client;
use crate::support::{World, ask, id, settle};

/// An engine with a foreground agent and a background agent, and a client of the foreground agent.
async fn asking(capabilities: Value, version: &str) -> (World, Client) {
    let world = World::new();
    world.lead("lead", &["@network"]).await;
    world.worker("bot", &[]).await;
    let server = bestow_mcp::server(&world.engine, id("lead")).asking(world.engine.approver("you", "ann", "mcp"));
    let mut client = Client::served_by(server);
    client.greet_with(version, capabilities).await;
    // The answer comes after the notification that begins the questions.
    client.result("tools/list", json!({})).await;
    settle().await;
    (world, client)
}

fn elicitation() -> Value {
    json!({ "elicitation": {} })
}

/// Asks as the background agent, and returns the question that the client gets.
async fn asked(world: &World, client: &mut Client) -> (RequestId, Value) {
    let ticket = world.engine.agent("bot").unwrap().request(ask("@network")).await.unwrap();
    let question = client.other().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (ticket.id(), question)
}

async fn reply(client: &mut Client, question: &Value, result: Value) {
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
    // The reply is read before this request.
    client.result("tools/list", json!({})).await;
    settle().await;
}

fn chosen(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

#[tokio::test]
async fn the_user_of_a_foreground_agent_answers_for_a_background_agent() {
    for (answer, outcome) in [
        (chosen("once"), Some("granted")),
        (chosen("session"), Some("granted")),
        (chosen("deny"), Some("denied")),
        (json!({ "action": "decline" }), Some("denied")),
        (json!({ "action": "cancel" }), None),
    ] {
        let (world, mut client) = asking(elicitation(), "2025-06-18").await;
        let (request, question) = asked(&world, &mut client).await;
        let message = question["params"]["message"].as_str().unwrap();
        assert!(
            message.contains("bot") && message.contains("network") && message.contains("because it must"),
            "{message}"
        );
        let offered = &question["params"]["requestedSchema"]["properties"]["answer"];
        assert_eq!((&offered["enum"], offered.get("default")), (&json!(["deny", "once", "session"]), None));
        reply(&mut client, &question, answer.clone()).await;
        let ended = world.engine.resolution(request).unwrap();
        assert_eq!(ended.as_ref().map(|how| how.outcome.to_string()).as_deref(), outcome, "{answer}");
        if let Some(how) = ended {
            assert!(how.decider.to_string().contains("ann") && how.decider.to_string().contains("mcp"), "{how}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_not_offered_is_no_approval() {
    for answer in [
        chosen("always"),
        chosen("allow"),
        chosen(""),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "answer": true } }),
        json!({ "action": "accept", "content": ["once"] }),
    ] {
        let (world, mut client) = asking(elicitation(), "2025-11-25").await;
        let (request, question) = asked(&world, &mut client).await;
        reply(&mut client, &question, answer.clone()).await;
        assert_eq!(world.engine.resolution(request).unwrap(), None, "{answer}");
        world.you().answer(request, bestow::Answer::deny()).await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_not_asked() {
    for (capabilities, version) in [(json!({}), "2025-11-25"), (elicitation(), "2025-03-26")] {
        let (world, _client) = asking(capabilities, version).await;
        world.engine.agent("bot").unwrap().request(ask("@network")).await.unwrap();
        assert_eq!(world.engine.pending().unwrap()[0].route, Route::Queue, "{version}");
    }
}

#[tokio::test]
async fn the_questions_go_elsewhere_when_the_client_leaves() {
    let (world, mut client) = asking(elicitation(), "2025-11-25").await;
    asked(&world, &mut client).await;
    assert_eq!(world.engine.pending().unwrap()[0].route, Route::Carrier(id("lead")));
    drop(client);
    while world.engine.pending().unwrap()[0].route != Route::Queue {
        settle().await;
    }
}

#[cfg(feature = "cli")]
mod process {
    use serde_json::json;

    use crate::{http::project::Project, mcp::own_engine::Mcp};

    const POLICY: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.lead]
kind = \"foreground\"

[agents.bot]
kind = \"subagent\"
";

    #[tokio::test]
    async fn the_real_command_asks_the_user_of_a_foreground_agent_only() {
        let project = Project::new();
        project.policy(POLICY);
        let (code, told) = Mcp::start(project.path(), &["--agent", "bot", "--elicit"]).end().await;
        assert!(code == Some(64) && told.contains("background agent"), "{told}");
        let mut mcp = Mcp::start(project.path(), &["--agent", "lead", "--elicit", "--by", "ann"]);
        mcp.client.greet_with("2025-11-25", json!({ "elicitation": {} })).await;
        mcp.client.result("tools/list", json!({})).await;
        let asked = json!({ "permissions": ["@network"], "reason": "to publish", "wait_seconds": 50 });
        let id = mcp.client.begin_call("request_permission", asked).await;
        let question = mcp.client.other().await;
        assert!(question["params"]["message"].as_str().unwrap().contains("to publish"), "{question}");
        let answer = json!({ "action": "accept", "content": { "answer": "session" } });
        mcp.client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
        let ended = mcp.client.answer(id).await["result"]["structuredContent"].clone();
        assert_eq!((&ended["status"], &ended["scope"]), (&json!("granted"), &json!("session")), "{ended}");
    }
}
