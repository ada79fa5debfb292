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
        json!({ "action": "accept", "content": { "answer": "once", "scope": "once" } }),
        json!({ "action": "accept", "content": { "answer": "once", "Answer": "deny" } }),
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
    use std::path::Path;

    use serde_json::json;

    use crate::{
        http::project::Project,
        mcp::{
            counterparts::{installed, told},
            own_engine::Mcp,
        },
        support::{BESTOW, ROOT},
    };

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
        let with =
            |words: &[&str]| Mcp::start(project.path(), &[&["--config", "agents.toml", "--elicit"], words].concat());
        // The attack: a process without a terminal plays the client, and answers.
        let (code, told) = with(&["--agent", "lead", "--by", "ann"]).end().await;
        assert!(code == Some(3) && told.contains("--approver-token-file"), "{code:?} {told}");
        let (code, told) = with(&["--agent", "bot"]).end().await;
        assert!(code == Some(64) && told.contains("background agent"), "{told}");
        let secret = ["--approver-token-file", "state/approver-token"];
        let mut mcp = with(&[&["--agent", "lead", "--by", "ann"][..], &secret].concat());
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

    /// Starts a server with the agents `lead` and `bot`. Their tokens, and those of two people, are in files.
    fn served() -> Project {
        let mut project = Project::new();
        project.policy(&format!("{POLICY}\n[agents.theirs]\nkind = \"foreground\"\nowner = \"them\"\n"));
        for agent in ["lead", "bot"] {
            let token = project.token(&["--role", "agent", "--agent", agent]);
            std::fs::write(project.path().join(agent), token).unwrap();
        }
        for owner in ["you", "them"] {
            let token = project.token(&["--role", "approver", "--owner", owner, "--by", "ann"]);
            std::fs::write(project.path().join(owner), token).unwrap();
        }
        project.serve();
        project
    }

    fn words<'a>(agent: &'a str, approver: &'a str) -> [&'a str; 7] {
        ["--ready-file", "ready.json", "--token-file", agent, "--elicit", "--approver-token-file", approver]
    }

    /// Starts the relay for `lead`, and does the handshake as a client that can ask its user.
    async fn relayed(project: &Project, version: &str) -> Mcp {
        let mut mcp = Mcp::start(project.path(), &words("lead", "you"));
        mcp.client.greet_with(version, json!({ "elicitation": {} })).await;
        mcp.client.result("tools/list", json!({})).await;
        mcp
    }

    #[tokio::test]
    async fn the_relay_asks_the_user_about_the_requests_of_the_server() {
        let project = served();
        let you = std::fs::read_to_string(project.path().join("you")).unwrap();
        let answers = [
            (json!({ "action": "accept", "content": { "answer": "session" } }), "granted"),
            (json!({ "action": "decline" }), "denied"),
            (json!({ "action": "accept", "content": { "answer": "always" } }), "pending"),
            (json!({ "action": "cancel" }), "pending"),
            (json!({ "action": "accept", "content": { "answer": "session", "comment": "" } }), "pending"),
        ];
        for (number, (answer, status)) in answers.into_iter().enumerate() {
            let mut mcp = relayed(&project, "2025-11-25").await;
            let permission = format!("@write:/place{number}");
            let asked = json!({ "permissions": [permission], "reason": "to publish" });
            let id = mcp.client.ok("request_permission", asked).await["request_id"].clone();
            let question = mcp.client.other().await;
            assert_eq!(question["method"], "elicitation/create", "{question}");
            let message = question["params"]["message"].as_str().unwrap();
            assert!(message.contains("lead") && message.contains("to publish"), "{message}");
            let offered = &question["params"]["requestedSchema"]["properties"]["answer"];
            assert_eq!((&offered["enum"], offered.get("default")), (&json!(["deny", "once", "session"]), None));
            mcp.client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
            let wait = if status == "pending" { 0 } else { 50 };
            let wait = json!({ "request_id": id, "wait_seconds": wait });
            let ended = mcp.client.ok("await_permission", wait).await;
            assert_eq!(ended["status"], status, "{answer}: {ended}");
            if status == "pending" {
                // The person answers elsewhere, and the question is gone already.
                let path = format!("/v1/requests/{}/answer", id.as_str().unwrap());
                assert_eq!(project.post(&you, &path, &json!({ "decision": "deny" })).await.status, 200);
            } else {
                assert!(ended["decider"].to_string().contains("ann"), "{ended}");
            }
            assert_eq!(mcp.end().await.0, Some(0));
        }
    }

    #[tokio::test]
    async fn a_question_that_somebody_else_answers_is_taken_back() {
        let project = served();
        let you = std::fs::read_to_string(project.path().join("you")).unwrap();
        let bot = std::fs::read_to_string(project.path().join("bot")).unwrap();
        let mut mcp = relayed(&project, "2025-06-18").await;
        // The request of another agent of the owner.
        assert_eq!(project.classify(&bot, "make").await["allow"], false);
        let question = mcp.client.other().await;
        assert!(question["params"]["message"].as_str().unwrap().contains("make"), "{question}");
        let waiting = project.pending(&you).await;
        let body = json!({ "requestId": waiting[0]["id"], "decision": "reject" });
        assert_eq!(project.post(&you, "/api/permissions", &body).await.status, 200);
        let cancelled = mcp.client.other().await;
        assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
        assert_eq!(cancelled["params"]["requestId"], question["id"]);
        // Too late.
        let answer = json!({ "action": "accept", "content": { "answer": "once" } });
        mcp.client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
        mcp.client.result("tools/list", json!({})).await;
        assert_eq!(project.classify(&bot, "make").await["allow"], false);
    }

    #[tokio::test]
    async fn a_client_of_the_relay_that_cannot_ask_counts_as_no_person() {
        let project = served();
        for (version, capabilities) in [("2025-03-26", json!({ "elicitation": {} })), ("2025-11-25", json!({}))] {
            let mut mcp = Mcp::start(project.path(), &words("lead", "you"));
            mcp.client.greet_with(version, capabilities).await;
            let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
            assert_eq!(mcp.client.ok("request_permission", asked).await["status"], "pending");
            mcp.client.result("tools/list", json!({})).await;
            assert!(mcp.client.others.is_empty(), "{:?}", mcp.client.others);
        }
    }

    /// The attack: a background agent, or the client of another owner, is to approve requests.
    #[tokio::test]
    async fn the_relay_asks_only_for_a_foreground_agent_and_an_approver_of_its_owner() {
        let project = served();
        let without = ["--ready-file", "ready.json", "--token-file", "lead", "--elicit"];
        for (words, code, why) in [
            (&words("bot", "you")[..], 64, "background agent"),
            (&words("lead", "them"), 1, "not of the owner"),
            (&words("lead", "bot"), 1, "--role approver"),
            (&words("lead", "none"), 1, "none"),
            (&without, 64, "--approver-token-file"),
            (
                &[
                    "--agent",
                    "lead",
                    "--config",
                    "agents.toml",
                    "--state",
                    "own",
                    "--elicit",
                    "--approver-token-file",
                    "you",
                ],
                3,
                "--approver-token-file",
            ),
        ] {
            let (exit, told) = Mcp::start(project.path(), words).end().await;
            assert!(exit == Some(code) && told.contains(why), "{words:?}: {exit:?} {told}");
        }
    }

    #[tokio::test]
    async fn the_client_of_the_official_sdk_asks_its_user() {
        let Some(place) = installed("node_modules/@modelcontextprotocol/sdk") else { return };
        let script = Path::new(ROOT).join("tests/it/mcp/counterparts/client-elicit.mjs");
        for (answer, status) in [("once", "granted"), ("deny", "denied")] {
            let project = served();
            let own: &[&str] = &[
                "--agent",
                "lead",
                "--config",
                "agents.toml",
                "--elicit",
                "--state",
                "own",
                "--approver-token-file",
                "own/approver-token",
            ];
            for words in [own, &words("lead", "you")] {
                let mut command = tokio::process::Command::new("node");
                command.arg(&script).arg(&place).args([answer, BESTOW, "mcp"]).args(words);
                let told = told(command.current_dir(project.path())).await;
                assert_eq!(told["asked"].as_array().unwrap().len(), 1, "{words:?}: {told}");
                assert!(told["asked"][0]["message"].as_str().unwrap().contains("to publish"), "{told}");
                assert_eq!(told["result"]["status"], status, "{words:?}: {told}");
            }
        }
    }
}
