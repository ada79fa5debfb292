//! Attacks on authority: credentials and orders that no person gave, as real processes.
#![cfg(feature = "cli")]

use std::{
    os::unix::fs::DirBuilderExt as _,
    process::{Command, Output},
};

use bestow::{InitialGrants, Kind};
use bestow_http::credentials::Role;
use serde_json::{Value, json};

use super::{
    client::Socket,
    daemon::Daemon,
    project::{Project, SECRET},
};
use crate::support::{BESTOW, profile};

/// Runs the program in a session of its own, without a terminal and without input.
fn unattended(project: &Project, words: &[&str]) -> Output {
    Command::new("setsid").arg("-w").arg(BESTOW).args(words).current_dir(project.path()).output().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The orders of a person that an unattended process tries.
const ORDERS: &[&[&str]] = &[
    &["token", "create", "--role", "operator"],
    &["token", "create", "--role", "approver", "--owner", "you"],
    &["token", "create", "--role", "agent", "--agent", "bot"],
    &["mode", "bot", "bypass", "--state", "state"],
    &["revoke", "g1", "--state", "state"],
    &["approve", "abcdef", "--state", "state"],
    &["deny", "abcdef", "--state", "state"],
    &["agree", "1", "--state", "state"],
    &["audit", "cut", "--before", "1", "--state", "state"],
    &["audit", "rotate", "--to", "archive", "--state", "state"],
];

#[test]
fn an_unattended_process_gives_no_order_of_a_person() {
    let mut project = Project::new();
    // The first order makes the directory, and no engine runs.
    let first = unattended(&project, ORDERS[0]);
    assert_eq!(first.status.code(), Some(3), "{first:?}");
    assert!(error(&first).contains("came from no terminal"), "{}", error(&first));
    project.serve();
    let dashboard: &[&str] = &["dashboard", "--print-link", "--owner", "you"];
    for words in ORDERS.iter().copied().chain([dashboard]) {
        let refused = unattended(&project, words);
        assert_eq!(refused.status.code(), Some(3), "{words:?}: {refused:?}");
        assert!(error(&refused).contains("came from no terminal"), "{words:?}: {}", error(&refused));
    }
    project.end(rustix::process::Signal::TERM);
    for words in ORDERS {
        let refused = unattended(&project, words);
        assert_eq!(refused.status.code(), Some(3), "{words:?}: {refused:?}");
        assert!(error(&refused).contains("came from no terminal"), "{words:?}: {}", error(&refused));
    }
    assert_eq!(project.json(&["token", "list", "--json"])["credentials"], json!([]), "no credential came of it");
}

/// The attack: the agent of another engine of this user, in a sandbox that shows it the files of this user, reads the
/// secret of a person and gives an order.
#[test]
fn a_confined_agent_of_another_engine_gives_no_order_with_a_stolen_secret() {
    let mut project = Project::new();
    project.serve();
    let other = tempfile::tempdir().unwrap();
    std::fs::copy(BESTOW, other.path().join("tool")).unwrap();
    let policy = "[agents.thief]\nowner = \"eve\"\nkind = \"foreground\"\nworking_dir = \".\"\n";
    std::fs::write(other.path().join("agents.toml"), policy).unwrap();
    let state = project.path().join("state");
    let secret = state.join("approver-token");
    let order = ["./tool", "mode", "bot", "bypass", "--state"].map(str::to_owned);
    let order = order.into_iter().chain([state, "--token-file".into(), secret].map(|path| path.display().to_string()));
    let mut stolen = Command::new(BESTOW);
    stolen.args(["exec", "--agent", "thief", "--"]).args(order.clone()).current_dir(other.path());
    let stolen = stolen.output().unwrap();
    assert_eq!(stolen.status.code(), Some(1), "{stolen:?}");
    assert!(error(&stolen).contains("cannot be reached: Operation not permitted"), "{}", error(&stolen));
    let own = Command::new(other.path().join("tool")).args(order.skip(1)).current_dir(other.path()).output().unwrap();
    assert!(own.status.success(), "the same order from outside of a sandbox: {}", error(&own));
}

/// The attack: a program that an agent left behind destroys the records about it.
#[test]
fn only_a_person_cuts_or_moves_the_trail() {
    let mut project = Project::new();
    project.serve();
    project.end(rustix::process::Signal::TERM);
    let files = || {
        let entries = std::fs::read_dir(project.path().join("state")).unwrap().map(Result::unwrap);
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect();
        files.sort();
        files
    };
    let before = files();
    let cut = ["audit", "cut", "--before", "1", "--state", "state"];
    let rotate = ["audit", "rotate", "--to", "archive", "--state", "state"];
    for words in [&cut, &rotate] {
        let refused = unattended(&project, words);
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
        assert!(error(&refused).contains("`--token-file`"), "the way out: {}", error(&refused));
        assert_eq!(files(), before, "{words:?}");
    }
    assert!(!project.path().join("archive").exists());
    for part in ["show", "verify", "head"] {
        let read = unattended(&project, &["audit", part, "--state", "state"]);
        assert!(read.status.success(), "what only reads stays open: {read:?}");
    }
    std::fs::create_dir(project.path().join("other")).unwrap();
    let mistaken = unattended(&project, &["audit", "cut", "--before", "1", "--state", "other"]);
    assert!(!mistaken.status.success(), "{mistaken:?}");
    assert_eq!(std::fs::read_dir(project.path().join("other")).unwrap().count(), 0, "it becomes no state directory");
    let secret = unattended(&project, &[&cut[..], &SECRET[..]].concat());
    assert!(secret.status.success(), "{}", error(&secret));
    let line = format!("{BESTOW} {}", rotate.join(" "));
    let terminal = Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(project.path()).output();
    assert!(terminal.unwrap().status.success());
}

/// The engine follows the policy file, so a line in it would give the permission before the approval is refused.
#[tokio::test]
async fn an_unattended_approval_writes_nothing_into_the_policy_file() {
    let mut project = Project::new();
    project.serve();
    assert_eq!(project.classify(&project.agent(), "node a.js").await["allow"], false);
    let asked = project.json(&["requests", "--state", "state", "--json"]);
    let code = asked["code"].as_str().unwrap();
    let file = project.path().join("agents.toml");
    let inode = |file: &std::path::Path| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(file).unwrap());
    let before = (inode(&file), std::fs::read_to_string(&file).unwrap());
    let refused = unattended(&project, &["approve", code, "--write", "--state", "state"]);
    assert!(error(&refused).contains("came from no terminal"), "{refused:?}");
    assert_eq!((inode(&file), std::fs::read_to_string(&file).unwrap()), before, "not even for a moment");
}

#[test]
fn a_terminal_or_the_secret_lets_a_person_create_a_credential() {
    let project = Project::new();
    let secret = unattended(&project, &[&["token", "create", "--role", "operator", "--json"], &SECRET[..]].concat());
    assert!(secret.status.success(), "{}", error(&secret));
    std::fs::write(project.path().join("guess"), "0".repeat(64)).unwrap();
    let guess = unattended(&project, &["token", "create", "--role", "operator", "--token-file", "guess"]);
    assert_eq!(guess.status.code(), Some(3), "{guess:?}");
    let line = format!("{BESTOW} token create --role operator --json");
    let terminal = Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(project.path()).output();
    let terminal = terminal.unwrap();
    assert!(terminal.status.success(), "{terminal:?}");
    let listed = project.json(&["token", "list", "--json"]);
    assert_eq!(listed["credentials"].as_array().unwrap().len(), 2, "{listed}");
}

/// Makes a state directory in the form of an earlier version, whose records name neither the secret, the owner nor the
/// end of a credential.
fn write_earlier_record(project: &Project, id: &str, agent: &str) {
    let state = project.path().join("state");
    std::fs::DirBuilder::new().mode(0o700).create(&state).unwrap();
    let change = json!({ "type": "credential.changed", "credential": id, "change": "created",
        "holder": { "role": "agent", "agent": agent }, "means": "cli" });
    let body = format!(r#"{{"v":1,"sequence":1,"at":"2026-01-01T00:00:00.000Z","group":1,"event":{change}"#);
    let hash = hmac_sha256::Hash::hash(&[&[0; 32], body.as_bytes()].concat());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(state.join("journal-00000000000000000001.jsonl"), format!("{body},\"h\":\"{hash}\"}}\n")).unwrap();
    std::fs::write(state.join("LOCK"), "1\n").unwrap();
    bestow::control::create_secret(&state).unwrap();
}

#[test]
fn a_rotated_credential_of_an_earlier_version_gets_an_owner_and_an_end() {
    let mut project = Project::new();
    let id = "0a1b2c3d4e5f";
    write_earlier_record(&project, id, "later");
    let listed = project.bestow(&["token", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("bestow token rotate"), "{listed:?}");
    std::fs::remove_file(project.path().join("agents.toml")).unwrap();
    let refused = project.bestow(&["token", "rotate", id]);
    assert!(!refused.status.success() && error(&refused).contains("`--owner`"), "{refused:?}");
    let rotated = project.json(&["token", "rotate", id, "--owner", "you", "--json"]);
    let listed = project.bestow(&["token", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("until ") && !listed.contains("does not expire"), "{listed}");
    let other = project.bestow(&["token", "rotate", id, "--owner", "them"]);
    assert!(!other.status.success(), "the recorded owner stays: {other:?}");
    let longer = project.json(&["token", "list", "--json"])["credentials"][0]["expiresAt"].clone();
    project.json(&["token", "rotate", id, "--expires", "1h", "--json"]);
    let shorter = project.json(&["token", "list", "--json"])["credentials"][0]["expiresAt"].clone();
    assert!(shorter.as_str().unwrap() < longer.as_str().unwrap(), "{shorter} {longer}");
    assert!(rotated["token"].as_str().unwrap().contains(id));
    project.policy("[defaults]\nowner = \"you\"\nworking_dir = \".\"\n\n[agents.later]\nkind = \"subagent\"\n");
    project.serve();
}

#[tokio::test]
async fn a_credential_file_put_into_the_directory_authenticates_nobody() {
    let mut project = Project::new();
    project.serve();
    let you = project.approver();
    assert_eq!(project.get(&you, "/api/permissions").await.status, 200);
    // The SHA-256 hash of the empty text.
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let id = "0a1b2c3d4e5f";
    let forged = json!({ "version": 1, "credentials": [
        { "id": id, "role": "operator", "createdAt": "2030-01-01T00:00:00.000Z", "hash": hash }
    ] });
    std::fs::write(project.path().join("state/credentials.json"), forged.to_string()).unwrap();
    assert_eq!(project.get(&format!("bestow_{id}_"), "/v1/agents").await.status, 401);
    assert_eq!(project.get(&you, "/api/permissions").await.status, 200, "and it takes nothing away");
    let verified = project.bestow(&["audit", "verify", "--state", "state"]);
    assert!(verified.status.success() && error(&verified).contains("credentials.json"), "{verified:?}");
}

#[tokio::test]
async fn a_directory_put_back_after_a_revocation_is_found() {
    let mut project = Project::new();
    project.serve();
    let token = project.approver();
    let id = token.split('_').nth(1).unwrap().to_owned();
    project.end(rustix::process::Signal::KILL);
    let copy = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let done = Command::new(words[0]).args(&words[1..]).current_dir(project.path()).status().unwrap();
        assert!(done.success(), "{words:?}");
    };
    let to = copy.path().join("state");
    run(&["cp", "-a", "state", to.to_str().unwrap()]);
    assert!(project.bestow(&["token", "revoke", &id]).status.success());
    run(&["sh", "-c", "bestow=$1; $bestow audit head --state state > head", "sh", BESTOW]);
    run(&["rm", "-r", "state"]);
    run(&["cp", "-a", to.to_str().unwrap(), "state"]);
    let head = std::fs::read_to_string(project.path().join("head")).unwrap();
    let found = project.bestow(&["audit", "verify", "--state", "state", "--expect", head.trim()]);
    assert!(!found.status.success(), "an older trail is named: {found:?}");
}

#[test]
fn the_trail_says_who_created_a_credential() {
    let project = Project::new();
    project.approver();
    let shown = project.bestow(&["audit", "show", "--state", "state", "--json"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let created: Vec<_> = records.filter(|record| record["type"] == "credential.changed").collect();
    assert_eq!(created.len(), 1, "{text}");
    let payload = created[0].to_string();
    assert!(payload.contains("\"change\":\"created\"") && payload.contains("pid "), "{payload}");
}

#[test]
fn a_credential_ends_after_ninety_days_unless_its_creator_says_never() {
    let project = Project::new();
    project.token(&["--role", "agent", "--agent", "bot"]);
    project.token(&["--role", "agent", "--agent", "bot", "--expires", "never"]);
    let listed = project.json(&["token", "list", "--json"]);
    let time = |value: &Value| value.as_str().unwrap().parse::<bestow::event::Timestamp>().unwrap().as_millis();
    let all = listed["credentials"].as_array().unwrap();
    let days = |credential: &Value| (time(&credential["expiresAt"]) - time(&credential["createdAt"])) / 86_400_000;
    let ends: Vec<_> = all.iter().map(|one| one.get("expiresAt").map(|_| days(one))).collect();
    assert!(ends.contains(&None) && ends.iter().flatten().all(|days| (89..=90).contains(days)), "{listed}");
}

/// Another owner's agent takes the name of a retired one. The token of the first drives the second in no way.
#[tokio::test]
async fn the_token_of_a_retired_agent_drives_no_agent_that_takes_its_name() {
    let daemon = Daemon::start().await;
    let helper = |owner: &str| profile("helper", owner, Kind::Foreground);
    daemon.world.engine.register(helper("you"), InitialGrants::nothing()).await.unwrap();
    let token = daemon.agent("helper");
    assert_eq!(daemon.get(&token, "/v1/agents/me").await.status, 200);
    let authorized = format!("Bearer {token}");
    let mut socket = Socket::open(daemon.address, "/ws", &[("authorization", &authorized)]).await.unwrap();
    daemon.world.engine.retire("helper").await.unwrap();
    assert_eq!(daemon.get(&token, "/v1/agents/me").await.status, 401, "it ends with its agent");
    daemon.world.engine.register(helper("them"), InitialGrants::nothing()).await.unwrap();
    assert_eq!(daemon.get(&token, "/v1/agents/me").await.status, 401);
    socket.say(&json!({ "type": "hello" }).to_string()).await;
    while let Ok(frame) = socket.next().await {
        assert_ne!(frame["type"], "result", "nor does its open socket: {frame}");
    }
    let theirs = daemon.agent("helper");
    assert_eq!(daemon.get(&theirs, "/v1/agents/me").await.status, 200);
}

/// A credential that was made before its agent is there belongs to the owner that it names.
#[tokio::test]
async fn a_credential_made_ahead_is_not_for_the_agent_of_another_owner() {
    let daemon = Daemon::start().await;
    let role = Role::Agent { agent: "later".parse().unwrap() };
    let refused = daemon.credentials.create(role.clone(), None).unwrap_err().to_string();
    assert!(refused.contains("--owner"), "{refused}");
    let ahead = daemon.credentials.create_for(role, "you").unwrap();
    let theirs = profile("later", "them", Kind::Subagent);
    daemon.world.engine.register(theirs, InitialGrants::nothing()).await.unwrap();
    assert_eq!(daemon.get(&ahead.token, "/v1/agents/me").await.status, 401);
    daemon.world.engine.retire("later").await.unwrap();
    daemon.world.engine.register(profile("later", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    assert_eq!(daemon.get(&ahead.token, "/v1/agents/me").await.status, 401, "what ended does not come back");
}
