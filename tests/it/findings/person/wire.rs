//! Tests of an agent's bot that sends the messages of a person (A10, B7).

use bestow::{
    Engine, InitialGrants, Kind, PermissionRequest, Settings,
    stdio::{Bot, FromConnector},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::{id, profile, tag, why};

/// Returns complete and correct messages of people. Each would change something, or reveal data of other agents.
fn lines_of_people(question: &str, run: &str) -> Vec<Value> {
    vec![
        json!({ "type": "permission_decision", "permissionRequestId": question, "decision": "allow" }),
        json!({
            "type": "permission_decision", "permissionRequestId": question, "decision": "allow-always", "runId": run
        }),
        json!({ "type": "agree_to_widening", "change": 1 }),
        json!({ "type": "update_policy", "runId": run, "mode": "write", "allow": ["**"] }),
        json!({ "type": "list_policies", "runId": run }),
        json!({ "type": "enable_action", "agentId": "worker", "operation": "command.execute", "resource": "rm -rf /",
                "reason": "because" }),
    ]
}

/// Returns the bot's replies to each line.
async fn heard(bot: Bot, lines: &[Value]) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let served = tokio::spawn(bot.serve(reader, writer));
    let (reader, mut writer) = tokio::io::split(ours);
    let mut answers = BufReader::new(reader).lines();
    answers.next_line().await.unwrap();
    let mut all = Vec::new();
    for line in lines {
        writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        all.push(serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap());
    }
    writer.shutdown().await.unwrap();
    drop((answers, writer));
    served.await.unwrap();
    all
}

#[tokio::test]
async fn no_bot_of_an_agent_says_what_a_person_says() {
    let engine = Engine::new(Settings::default()).unwrap();
    let worker = profile("worker", "you", Kind::Subagent);
    let worker = engine.register(worker, InitialGrants::of([tag("@events")])).await.unwrap();
    let ticket = worker.request(PermissionRequest::new(tag("@network"), why())).await.unwrap();
    let run = engine.pending().unwrap()[0].request.run.to_string();
    let lines = lines_of_people(&ticket.id().to_string(), &run);
    for line in &lines {
        line.to_string().parse::<FromConnector>().unwrap_or_else(|why| panic!("{why}: {line}"));
    }
    for bot in [Bot::agent(&engine, &id("worker")).unwrap(), Bot::beside_others(worker.clone())] {
        for (line, answer) in lines.iter().zip(heard(bot, &lines).await) {
            assert_eq!((&answer["type"], &answer["code"]), (&json!("error"), &json!("FORBIDDEN")), "{line}: {answer}");
        }
    }
    assert!(ticket.poll().is_none() && engine.rulings().unwrap().is_empty());
}

#[cfg(feature = "journal")]
#[tokio::test]
async fn an_order_for_the_control_socket_means_nothing_on_the_wire_of_an_agent() {
    let engine = Engine::new(Settings::default()).unwrap();
    let worker = profile("worker", "you", Kind::Subagent);
    let worker = engine.register(worker, InitialGrants::of([tag("@events")])).await.unwrap();
    let ticket = worker.request(PermissionRequest::new(tag("@network"), why())).await.unwrap();
    let order = bestow::control::AdminCommand::Answer {
        request: ticket.code().to_string(),
        verdict: bestow::control::Approval::Approve,
        scope: None,
        feedback: None,
        permissions: None,
        instead: None,
        by: "ann".parse().unwrap(),
    };
    let order = serde_json::to_value(&order).unwrap();
    for bot in [Bot::agent(&engine, &id("worker")).unwrap(), Bot::beside_others(worker.clone())] {
        let answer = heard(bot, std::slice::from_ref(&order)).await.remove(0);
        assert_eq!(answer["code"], "VALIDATION_ERROR", "{answer}");
    }
    assert!(ticket.poll().is_none());
}

#[tokio::test]
async fn what_a_question_is_about_goes_by_the_widest_permission() {
    let engine = Engine::new(Settings::default()).unwrap();
    engine.register(profile("lead", "you", Kind::Foreground), InitialGrants::nothing()).await.unwrap();
    let worker = engine.register(profile("worker", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let bot = Bot::connector(&engine, &id("lead")).unwrap();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(bot.serve(reader, writer));
    let mut lines = BufReader::new(ours).lines();
    lines.next_line().await.unwrap();
    let wanted = bestow::grant::Permissions::from_tags(["@network", "@write:/work/a/b", "@write:/work"]).unwrap();
    worker.request(PermissionRequest::new(wanted, why())).await.unwrap();
    let shown: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!((&shown["operation"], &shown["resource"]), (&json!("fs.write"), &json!("/work")), "{shown}");
    assert_eq!(shown["permissions"], json!(["@write:/work", "@write:/work/a/b", "@network"]));
}
