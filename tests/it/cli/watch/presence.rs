//! The presence of a person who has `bestow watch` open.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use bestow::{
    Engine, InitialGrants, Kind,
    control::AdminCommand,
    event::{Event, Subscription},
    policy::OnNoUser,
    request::Route,
};

use super::{Place, asks_for, bob};
use crate::{
    http::project::Project,
    support::{profile, settings},
};

/// Waits until a request goes to this place.
async fn routed_to(events: &mut Subscription, place: &Route) {
    loop {
        let recorded = events.next().await.unwrap();
        if matches!(&recorded.event, Event::Routed { route, .. } if route == place) {
            return;
        }
    }
}

fn route(engine: &Engine) -> Route {
    engine.pending().unwrap().pop().unwrap().route
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_present_while_the_inbox_is_open_and_not_longer() {
    let place = Place::new();
    let engine = place.engine().await;
    let bob = bob(&engine).await;
    let _waiting = asks_for(&bob, "@network", "a").await;
    assert_eq!(route(&engine), Route::Queue);
    let mut events = engine.subscribe();
    let mut watch = place.watch(&engine);
    routed_to(&mut events, &Route::Approvers).await;
    assert_eq!(route(&engine), Route::Approvers);
    watch.press("q");
    routed_to(&mut events, &Route::Queue).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_an_owner_who_came_later_is_attended_too() {
    let place = Place::new();
    let engine = place.engine().await;
    let _bob = bob(&engine).await;
    let _watch = place.watch(&engine);
    let mut events = engine.subscribe();
    let eve = engine.register(profile("eve", "them", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let _waiting = asks_for(&eve, "@network", "a").await;
    routed_to(&mut events, &Route::Approvers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_refused_for_want_of_a_person_while_the_inbox_is_open() {
    let place = Place::new();
    let engine = place.engine_with(settings(|settings| settings.on_no_user = OnNoUser::Deny)).await;
    let bob = bob(&engine).await;
    let refused = asks_for(&bob, "@network", "a").await;
    assert!(refused.poll().is_some());
    let _watch = place.watch(&engine);
    let waiting = asks_for(&bob, "@network", "b").await;
    assert!(waiting.poll().is_none());
}

/// A process without a terminal that follows as a person, until its input ends. It prints the first reply.
const FOLLOWER: &str = "
import os, socket, sys
os.setsid()
control = socket.socket(socket.AF_UNIX)
control.connect('state/control')
control.sendall(sys.argv[1].encode())
print(control.makefile().readline(), flush=True)
sys.stdin.read()
";

/// A follower of the server of this project. It has this secret, and no terminal.
fn follower(project: &Project, token: Option<&str>) -> Child {
    let order = AdminCommand::Follow { known: Vec::new(), attends: Some("eve".parse().unwrap()) };
    let token = token.map(|token| format!("{}\n", serde_json::json!({ "token": token })));
    let said = format!("{}{}\n", token.unwrap_or_default(), serde_json::to_string(&order).unwrap());
    let mut python = Command::new("python3");
    python.args(["-c", FOLLOWER, &said]).current_dir(project.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().unwrap();
    let mut reply = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut reply).unwrap();
    assert!(reply.contains("done"), "it follows: {reply}");
    child
}

/// The attack: an agent makes itself the person who is present, so that requests wait instead of being refused.
#[tokio::test]
async fn a_follower_without_a_terminal_and_without_the_secret_is_no_person() {
    let mut project = Project::new();
    let policy = std::fs::read_to_string(project.path().join("agents.toml")).unwrap();
    project.policy(&format!("[engine]\non_no_user = \"deny\"\n\n{policy}"));
    let (bot, ann) = (project.agent(), project.approver());
    project.serve();
    let secret = std::fs::read_to_string(project.path().join("state/approver-token")).unwrap();
    for (token, is_present) in [(None, false), (Some("wrong"), false), (Some(secret.trim()), true)] {
        let mut child = follower(&project, token);
        project.classify(&bot, "make").await;
        assert_eq!(!project.pending(&ann).await.is_empty(), is_present, "{token:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
