//! The records name the credential behind each use of an agent's handle, and every change of a credential.

use bestow::event::{Event, Recorded, Subscription};
use bestow_http::credentials::{Issued, Role};
use serde_json::{Value, json};

use super::{client::Socket, daemon::Daemon};
use crate::support::heard;

fn of_bot(daemon: &Daemon) -> Issued {
    daemon.issue(Role::Agent { agent: "bot".parse().unwrap() })
}

fn means(issued: &Issued) -> String {
    format!("http, credential {}", issued.credential.id)
}

/// Checks that events happened, and that each of them names the credential.
fn all_name(events: &mut Subscription, issued: &Issued, what: &str) -> Vec<Recorded> {
    let told = heard(events);
    assert!(!told.is_empty(), "{what} is recorded");
    for recorded in &told {
        assert_eq!(recorded.via.as_deref(), Some(&*means(issued)), "{what}: {recorded}");
    }
    told
}

/// Each call that an agent's credential may make and that is recorded.
#[tokio::test]
async fn every_event_that_an_agents_credential_causes_names_it() {
    let daemon = Daemon::start().await;
    let (one, two) = (of_bot(&daemon), of_bot(&daemon));
    let mut events = daemon.world.engine.subscribe();
    let calls = [
        ("/v1/authorize", json!({ "operation": "command.execute", "resource": "ls" })),
        ("/v1/authorize", json!({ "operation": "command.execute", "resource": "rm -rf /" })),
        ("/v1/use", json!({ "permission": "@network" })),
        ("/v1/requests", json!({ "permissions": ["@events"], "reason": "to see" })),
        ("/v1/grants", json!({ "agentId": "other", "permissions": ["@network"], "reason": "to read" })),
        ("/v1/grants", json!({ "agentId": "other", "permissions": ["@write:/etc"], "reason": "not held" })),
        ("/v1/agents", json!({ "agentId": "bot:child", "permissions": ["@network"], "reason": "to help" })),
        ("/api/hooks/classify", json!({ "toolName": "bash", "toolInput": { "command": "node a.js" } })),
    ];
    for (path, body) in &calls {
        for issued in [&one, &two] {
            daemon.send(&issued.token, "POST", path, body).await;
            all_name(&mut events, issued, path);
        }
    }
    let grants = daemon.get(&one.token, "/v1/grants").await.json["grants"].clone();
    let network = grants.as_array().unwrap().iter().find(|grant| grant["permission"] == "@network").unwrap();
    daemon.delete(&two.token, &format!("/v1/grants/{}", network["id"].as_str().unwrap())).await;
    let told = all_name(&mut events, &two, "a grant that is given up");
    assert!(told.len() >= 3, "with those that depended on it: {told:?}");
    let pending = daemon.world.engine.pending().unwrap();
    daemon.delete(&one.token, &format!("/v1/requests/{}", pending[0].request.id)).await;
    all_name(&mut events, &one, "a request that is withdrawn");
}

#[tokio::test]
async fn the_events_of_a_tool_host_name_its_credential() {
    let daemon = Daemon::start().await;
    let issued = of_bot(&daemon);
    let authorized = format!("Bearer {}", issued.token);
    let mut host = Socket::open(daemon.address, "/ws", &[("authorization", &authorized)]).await.unwrap();
    host.next().await.unwrap();
    let mut events = daemon.world.engine.subscribe();
    for (said, reply) in [
        (json!({ "type": "authorize", "operation": "command.execute", "resource": "ls" }), "authorize_result"),
        (json!({ "type": "use_permission", "permission": "@network" }), "use_result"),
        (json!({ "type": "request_permission", "permission": "@events", "reason": "r" }), "request_accepted"),
    ] {
        host.say(&said.to_string()).await;
        assert_eq!(host.next().await.unwrap()["type"], reply);
        all_name(&mut events, &issued, reply);
    }
}

#[tokio::test]
async fn an_agent_that_an_operator_adds_or_retires_is_recorded_with_the_credential() {
    let daemon = Daemon::start().await;
    let operator = daemon.issue(Role::Operator);
    let mut events = daemon.world.engine.subscribe();
    let new = json!({ "agentId": "new", "ownerId": "you", "workingDir": "/ws", "permissions": ["@network"] });
    assert_eq!(daemon.send(&operator.token, "POST", "/v1/agents", &new).await.status, 201);
    all_name(&mut events, &operator, "an agent");
    assert_eq!(daemon.delete(&operator.token, "/v1/agents/new").await.status, 200);
    all_name(&mut events, &operator, "its end");
}

/// An event that happens by itself, and one of a handle without means, is not attributed to the last credential.
#[tokio::test]
async fn an_event_that_no_credential_caused_names_none() {
    let daemon = Daemon::start().await;
    let issued = of_bot(&daemon);
    let body = json!({ "permissions": ["@events"], "reason": "to see" });
    assert_eq!(daemon.send(&issued.token, "POST", "/v1/requests", &body).await.status, 201);
    let mut events = daemon.world.engine.subscribe();
    daemon.world.clock.advance(std::time::Duration::from_secs(3_600));
    let bot = daemon.world.engine.agent("bot").unwrap();
    bot.spend(&bestow::Permission::Network).await.unwrap();
    let told = heard(&mut events);
    assert!(told.iter().any(|told| matches!(told.event, Event::Resolved { .. })), "the request expired: {told:?}");
    assert!(told.iter().all(|told| told.via.is_none()), "{told:?}");
}

#[tokio::test]
async fn clients_see_the_credential_in_the_events() {
    let daemon = Daemon::start().await;
    let (issued, you) = (of_bot(&daemon), daemon.approver("you"));
    let body = json!({ "operation": "command.execute", "resource": "ls" });
    daemon.send(&issued.token, "POST", "/v1/authorize", &body).await;
    let recent = daemon.get(&you, "/v1/events/recent").await.json;
    let last = recent["events"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["type"], &last["via"]), (&json!("permission.evaluated"), &json!(means(&issued))));
}

#[tokio::test]
async fn a_session_of_a_browser_begins_and_ends_with_an_event() {
    let daemon = Daemon::start().await;
    let ann = Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() };
    let link = daemon.credentials.create_link(ann, daemon.world.now());
    let mut events = daemon.world.engine.subscribe();
    let headers = [("content-type", "application/json")];
    let body = json!({ "link": link.token }).to_string();
    let opened = super::client::call(daemon.address, "POST", "/v1/session", &headers, &body).await;
    let token = opened.json["token"].as_str().unwrap().to_owned();
    let changes = |events: &mut Subscription| -> Vec<Value> {
        let all = heard(events).into_iter();
        all.filter(|told| matches!(told.event, Event::CredentialChanged { .. })).map(|told| json!(told.event)).collect()
    };
    let [created] = &changes(&mut events)[..] else { panic!("one event") };
    assert_eq!((&created["change"], &created["holder"]["person"]), (&json!("session_opened"), &json!("ann")));
    assert_eq!(created["credential"], opened.json["session"]["credentialId"]);
    assert!(!created.to_string().contains(token.rsplit('_').next().unwrap()), "no secret: {created}");
    assert_eq!(daemon.delete(&token, "/v1/session").await.status, 204);
    let [revoked] = &changes(&mut events)[..] else { panic!("one event") };
    assert_eq!(revoked["change"], "revoked");
}

#[cfg(feature = "cli")]
mod trail {
    use rustix::process::Signal;
    use serde_json::Value;

    use crate::http::project::Project;

    fn shown(project: &Project) -> Vec<Value> {
        let output = project.bestow(&["audit", "show", "--state", "state", "--json"]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn changes(project: &Project) -> Vec<String> {
        let all = shown(project).into_iter().filter(|record| record["type"] == "credential.changed");
        all.map(|record| record["event"]["change"].as_str().unwrap().to_owned()).collect()
    }

    /// The command line records the changes itself where no engine runs, and through the engine where one does.
    #[tokio::test]
    async fn the_trail_has_each_change_of_a_credential_with_and_without_a_server() {
        let mut project = Project::new();
        let id = |project: &Project, place: usize| -> String {
            project.json(&["token", "list", "--json"])["credentials"][place]["id"].as_str().unwrap().to_owned()
        };
        let bot = project.agent();
        assert_eq!(changes(&project), ["created"], "the trail begins with the first credential");
        project.serve();
        assert_eq!(project.classify(&bot, "ls").await["allow"], true);
        project.approver();
        let (bot, approver) = (id(&project, 0), id(&project, 1));
        project.json(&["token", "rotate", &bot, "--json"]);
        assert_eq!(changes(&project), ["created", "created", "rotated"]);
        project.end(Signal::TERM);
        let revoked = project.bestow(&["token", "revoke", &approver]);
        assert!(revoked.status.success() && revoked.stderr.is_empty(), "{revoked:?}");
        assert_eq!(changes(&project), ["created", "created", "rotated", "revoked"]);
        let all = shown(&project);
        let last = all.iter().rfind(|record| record["type"] == "credential.changed").unwrap();
        assert_eq!(last["event"]["credential"], approver);
        assert_eq!(last["event"]["holder"], serde_json::json!({ "role": "approver", "owner": "you", "person": "ann" }));
        assert!(last["event"]["means"].as_str().unwrap().contains("uid"), "{last}");
        assert!(project.bestow(&["audit", "verify", "--state", "state"]).status.success());
    }

    /// Two credentials of one agent are told apart in the trail on the disk, in its text and after a restart.
    #[tokio::test]
    async fn two_credentials_of_one_agent_are_told_apart_in_the_trail() {
        let mut project = Project::new();
        let (one, two) = (project.agent(), project.agent());
        project.serve();
        assert_eq!(project.classify(&one, "ls").await["allow"], true);
        assert_eq!(project.classify(&two, "ls -la").await["allow"], true);
        project.end(Signal::KILL);
        let of = |token: &str| format!("http, credential {}", token.split('_').nth(1).unwrap());
        let vias: Vec<_> =
            shown(&project).iter().filter_map(|record| record["via"].as_str().map(str::to_owned)).collect();
        assert_eq!(vias, [of(&one), of(&two)]);
        let text = project.bestow(&["audit", "show", "--state", "state"]);
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(text.contains(&format!("(via {})", of(&one))) && text.contains(&of(&two)), "{text}");
        project.serve();
        assert!(project.bestow(&["audit", "verify", "--state", "state"]).status.success());
    }

    /// No token is given out that the trail does not know.
    #[test]
    fn a_credential_that_cannot_be_recorded_is_not_created() {
        let project = Project::new();
        project.agent();
        let journal = std::fs::read_dir(project.path().join("state")).unwrap().flatten();
        let segment = journal.map(|file| file.path()).find(|path| path.extension().is_some_and(|end| end == "jsonl"));
        let segment = segment.expect("a segment of the trail");
        let mut text = std::fs::read(&segment).unwrap();
        text[20] ^= 1;
        std::fs::write(&segment, text).unwrap();
        let created = project.bestow(&["token", "create", "--role", "operator"]);
        let told = String::from_utf8_lossy(&created.stderr).into_owned();
        assert!(!created.status.success() && created.stdout.is_empty(), "{created:?}");
        assert!(told.contains("journal"), "{told}");
    }
}
