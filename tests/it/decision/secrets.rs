//! B27: the secrets of a command are in no event, decision, refusal, request, mail or envelope. The decision is still
//! bound to them.

use bestow::{
    Action, Answer, Effect,
    action::Operation,
    agent::Mode,
    grant::{Reads, Scope},
};
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

/// The secrets of inputs that are nested, of a list of words, of a host, and of a word that is read as a path.
#[tokio::test]
async fn no_record_of_a_call_has_a_secret_of_its_input() {
    let world = World::with(|settings| settings.reads = Reads::Granted);
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &["@network", "@read:/ws"]).await;
    let lines =
        ["curl --cookie 'session=§' https://h", "curl -b 'a=§; b=§' https://h", "cat secret=§", "CREDS=§ cat x"];
    let mut actions: Vec<_> = lines.map(|line| Action::command(&line.replace('§', SECRET))).into();
    actions.push(Action::new(Operation::Network, &format!("u:{SECRET}@h")));
    actions.push(Action::new(Operation::Network, &format!("//u:{SECRET}@h")));
    let tool = |name: &str, input| Action::tool(name.parse().unwrap(), input);
    actions.extend([
        tool("deploy", json!({ "args": ["--token", SECRET] })),
        tool("deploy", json!({ "pass": [SECRET] })),
        tool("deploy", json!({ "secret": { "v": SECRET } })),
        tool("deploy", json!({ "command": "mysql", "args": [format!("-p{SECRET}"), "-e", "drop database x"] })),
        tool("deploy", json!({ "host": format!("u:{SECRET}@h") })),
        tool("bash", json!({ "command": "rm -rf /", "env": { "DB": { "password": SECRET } } })),
    ]);
    let mut shown = Vec::new();
    for action in &actions {
        let (_, explanation) = (ann.authorize(action.clone()).await.unwrap(), ann.explain(action).unwrap());
        shown.extend([explanation.to_string(), serde_json::to_string(&explanation).unwrap()]);
    }
    let told = heard(&mut events);
    assert!(told.len() >= actions.len(), "{told:?}");
    shown.extend(told.iter().map(|recorded| serde_json::to_string(recorded).unwrap()));
    for text in shown {
        assert!(!leaks(&text), "{text}");
    }
}

#[tokio::test]
async fn a_cookie_on_a_line_is_no_path_unless_it_names_a_file() {
    let world = World::with(|settings| settings.reads = Reads::Granted);
    let ann = world.worker("ann", &["@network"]).await;
    for option in ["-b ", "-b", "--cookie ", "--cookie="] {
        for (value, may_run) in [("session=x", true), ("'a=b; c=d'", true), ("jar.txt", false), ("@a=b", false)] {
            let line = format!("curl {option}{value} https://example.com");
            let effect = ann.verdict(&Action::command(&line)).unwrap();
            assert_eq!(effect == Effect::Allow, may_run, "{line}: {effect:?}");
        }
    }
}

/// A path that the line shows at another place is no secret: a word like it must not hide it.
#[tokio::test]
async fn a_secret_hides_no_path_that_the_line_shows() {
    let world = World::new();
    let ann = world.worker("ann", &["@read:/ws"]).await;
    let explanation = ann.explain(&Action::command("CREDS=notes cat notes other")).unwrap();
    let uses: Vec<_> = explanation.uses.iter().map(|step| &*step.used.resource).collect();
    assert!(uses.contains(&"/ws/notes") && uses.contains(&"/ws/other"), "{uses:?}");
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
