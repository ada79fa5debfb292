//! B27: the secrets of a command are in no event, decision, refusal, request, mail or envelope. The decision is still
//! bound to them.

use bestow::{Action, Answer, agent::Mode, grant::Scope};
use serde_json::json;

use super::{asked, decided, in_mode};
use crate::support::{World, heard, mail, refusal, why};

const SECRET: &str = "hunter2-aB3xQ9zK7";

fn leaks(text: &str) -> bool {
    text.contains(SECRET) || text.contains("aB3xQ9zK7")
}

/// Returns commands that contain a secret, some of each tier.
fn commands() -> Vec<String> {
    [
        "ls --password=§",
        "node deploy.js --token §",
        "curl -X POST -H 'Authorization: Bearer §' https://h",
        "curl -d '{\"api_key\":\"§\"}' https://h",
        "API_KEY=§ node deploy.js",
        "git push https://ann:§@h/r",
        "mysql -p§ -e 'DROP DATABASE x'",
        "rm -rf / --password=§",
        "sshpass -p § rm -rf /",
        "bash -c 'mysql -p§ && rm -rf /'",
        "unknown-tool --client-secret=\"§\"; rm -rf ~",
        "echo \"unclosed --password §",
    ]
    .map(|command| command.replace('§', SECRET))
    .to_vec()
}

#[tokio::test]
async fn no_fact_holds_a_secret() {
    let world = World::new();
    let (you, mut events) = (world.you(), world.engine.subscribe());
    let mut shown = Vec::new();
    for (place, command) in commands().into_iter().enumerate() {
        let ann = in_mode(&world, &format!("ann{place}"), Mode::Default, &[]).await;
        let because = format!("since --token={SECRET} must go").parse().unwrap();
        let action = || Action::command(&command);
        let first = decided(&ann, action().because(because)).await;
        shown.push(format!("{:?}", ann.explain(&action()).unwrap()));
        shown.push(ann.explain(&action()).unwrap().to_string());
        if let Some(request) = first.approval_action_id {
            shown.extend(world.engine.pending().unwrap().iter().map(|pending| pending.request.to_string()));
            let climbs = you
                .answer(request, Answer::allow().instead(Action::command(&format!("rm -rf / --token={SECRET}"))))
                .await;
            shown.push(refusal(climbs).to_string());
            you.answer(request, Answer::allow().scope(Scope::Session)).await.unwrap();
            decided(&ann, action()).await;
        }
        let enabled = you.enable(ann.id(), &action(), why()).await.unwrap();
        decided(&ann, action()).await;
        let _ = world.engine.revoke_ruling(enabled, None).await;
        let call = Action::tool("bash".parse().unwrap(), json!({ "command": command, "password": SECRET }));
        decided(&ann, call).await;
        shown.extend(mail(&ann.mailbox()).iter().map(|mail| format!("{mail:?}")));
        shown.extend(
            ann.rulings().unwrap().iter().map(|ruling| format!("{ruling:?} {ruling} {}", ruling.policy_name())),
        );
    }
    let told = heard(&mut events);
    assert!(told.iter().any(|recorded| recorded.event.kind() == "ruling.made"));
    for recorded in told {
        shown.push(serde_json::to_string(&recorded).unwrap());
        shown.push(serde_json::to_string(&world.engine.envelope(&recorded)).unwrap());
        shown.push(recorded.to_string());
    }
    for text in shown {
        assert!(!leaks(&text), "{text}");
    }
}

/// A naive engine would bind an approval to the displayed text, and one approval would cover both commands.
#[tokio::test]
async fn two_commands_that_differ_in_a_secret_only_are_two_commands() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let [one, two] = ["k9Qz27-one4", "k9Qz27-two4"].map(|secret| Action::command(&format!("node x --token={secret}")));
    let (first, ticket) = asked(&ann, one.clone()).await;
    let (second, _) = asked(&ann, two.clone()).await;
    assert_eq!(first.action.resource, second.action.resource, "they look the same");
    assert_ne!((&first.action.input, &first.action.access), (&second.action.input, &second.action.access));
    assert_ne!(first.approval_action_id, second.approval_action_id);
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    assert_eq!(super::ruled(&ann, one).await, bestow::decision::Ruled::Allow);
    assert_eq!(super::ruled(&ann, two).await, bestow::decision::Ruled::Ask);
}

/// A permanent approval of one does not cover the other either.
#[tokio::test]
async fn what_is_allowed_for_good_is_compared_with_the_secret() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let [one, two] = ["k9Qz27-one4", "k9Qz27-two4"].map(|secret| Action::command(&format!("node x --token={secret}")));
    let (decision, ticket) = asked(&ann, one.clone()).await;
    assert!(decision.action.shape.is_some(), "it can be allowed for good");
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Always)).await.unwrap();
    assert_eq!(super::ruled(&ann, one).await, bestow::decision::Ruled::Allow);
    assert_eq!(super::ruled(&ann, two).await, bestow::decision::Ruled::Ask);
}
