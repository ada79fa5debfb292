//! `bestow serve` and `bestow token`, as processes of their own.
#![cfg(feature = "cli")]

use rustix::process::Signal;
use serde_json::json;

use super::project::Project;

/// The server is killed while a request waits, and after an approval: both are there when it starts again.
#[tokio::test]
async fn what_waits_and_what_was_approved_survive_a_kill() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let waiting = project.classify(&bot, "node a.js").await["requestId"].clone();
    let approved = project.classify(&bot, "node b.js").await["requestId"].clone();
    let body = json!({ "requestId": approved, "decision": "approve" });
    assert_eq!(project.post(&you, "/api/permissions", &body).await.status, 200);
    project.end(Signal::KILL);
    project.serve();
    let [item] = &project.pending(&you).await[..] else { panic!("one waits") };
    assert_eq!(item["id"], waiting, "with its id");
    assert_eq!(item["toolInput"], json!({ "command": "node a.js" }));
    assert_eq!(project.classify(&bot, "node b.js").await["allow"], true, "the approval was acknowledged");
    project.end(Signal::KILL);
    project.serve();
    assert_eq!(project.classify(&bot, "node b.js").await["allow"], false, "and it was used");
}

/// A destructive call that a person enabled has no request. It is enabled for the run, and a restart ends the run.
#[tokio::test]
async fn an_enabled_destructive_call_is_blocked_again_after_a_kill() {
    let enable = json!({
        "agentId": "bot",
        "toolName": "bash",
        "toolInput": { "command": "rm -rf /" },
        "reason": "the disk is to be wiped",
    });
    for killed in [false, true] {
        let mut project = Project::new();
        let (bot, you) = (project.agent(), project.approver());
        project.serve();
        assert_eq!(project.post(&you, "/api/permissions/enable", &enable).await.status, 200);
        if killed {
            project.end(Signal::KILL);
            project.serve();
        }
        assert_eq!(project.classify(&bot, "rm -rf /").await["allow"], !killed, "killed: {killed}");
    }
}

#[tokio::test]
async fn a_signal_ends_the_server_with_code_0_and_its_ready_file() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut project = Project::new();
        let bot = project.agent();
        project.serve();
        assert_eq!(project.classify(&bot, "ls").await["allow"], true);
        assert_eq!(project.end(signal), Some(0), "{signal:?}");
        assert!(!project.path().join("ready.json").exists());
    }
}

#[tokio::test]
async fn credentials_change_while_the_server_runs() {
    let mut project = Project::new();
    project.serve();
    let bot = project.agent();
    assert_eq!(project.classify(&bot, "ls").await["allow"], true, "created meanwhile");
    let listed = project.json(&["token", "list", "--json"]);
    let id = listed["credentials"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["credentials"][0]["agent"], "bot");
    let rotated = project.json(&["token", "rotate", &id, "--json"])["token"].as_str().unwrap().to_owned();
    assert_eq!(project.classify(&bot, "ls").await["allow"], false);
    assert_eq!(project.classify(&rotated, "ls").await["allow"], true);
    let revoked = project.bestow(&["token", "revoke", &id]);
    assert!(String::from_utf8_lossy(&revoked.stdout).contains("is revoked"), "{revoked:?}");
    assert_eq!(project.classify(&rotated, "ls").await["allow"], false);
}

#[test]
fn an_address_that_other_machines_reach_needs_a_statement() {
    let project = Project::new();
    let output = project.bestow(&["serve", "--state", "state", "--listen", "0.0.0.0:0"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && told.contains("--behind-tls-proxy"), "{told}");
}

#[test]
fn a_name_or_an_origin_that_can_match_nothing_is_refused() {
    let project = Project::new();
    for (option, value) in [
        ("--allow-host", ""),
        ("--allow-host", "a:80"),
        ("--allow-host", "http://a"),
        ("--allow-origin", "evil"),
        ("--allow-origin", "https://a/"),
        ("--allow-origin", "https://a:b"),
    ] {
        let output = project.bestow(&["serve", "--state", "state", option, value]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(64) && told.contains(option), "{option} {value}: {told}");
    }
}

#[test]
fn options_of_another_role_and_unknown_ids_are_errors_that_name_them() {
    let project = Project::new();
    for (words, code, named) in [
        (&["--role", "agent"][..], 64, "--agent"),
        (&["--role", "approver"], 64, "--owner"),
        (&["--role", "operator", "--agent", "bot"], 64, "--agent"),
        (&["--role", "agent", "--agent", "bot", "--owner", "you"], 64, "--owner"),
        (&["--role", "boss"], 64, "boss"),
        (&["--role", "agent", "--agent", "bot", "--expires", "0s"], 64, "--expires"),
        (&["--role", "agent", "--agent", "bot", "--name", "a\nb"], 1, "name"),
    ] {
        let all: Vec<_> = ["token", "create"].iter().chain(words).copied().collect();
        let output = project.bestow(&all);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && told.contains(named), "{words:?}: {output:?}");
    }
    for (words, named) in
        [(&["token", "revoke", "000000000000"][..], "000000000000"), (&["token", "rotate", "nonsense"], "12 digits")]
    {
        let output = project.bestow(words);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(named), "{words:?}: {told}");
    }
}

#[test]
fn a_credential_for_nobody_in_the_policy_file_is_created_with_a_note() {
    let project = Project::new();
    let created = |words: &[&str]| {
        let output = project.bestow(&[&["token", "create"], words].concat());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let unknown = created(&["--role", "agent", "--agent", "bto"]);
    assert!(unknown.contains("agents.toml has no agent `bto`"), "{unknown}");
    let unknown = created(&["--role", "approver", "--owner", "yuo"]);
    assert!(unknown.contains("agents.toml has no agent of the owner `yuo`"), "{unknown}");
    for known in [&["--role", "agent", "--agent", "bot"][..], &["--role", "approver", "--owner", "you"]] {
        assert_eq!(created(known), "");
    }
    let unread = created(&["--role", "agent", "--agent", "bot", "--config", "nothing.toml"]);
    assert!(unread.contains("nothing.toml cannot be read") && unread.contains("`--config`"), "{unread}");
    assert_eq!(created(&["--role", "operator", "--config", "nothing.toml"]), "");
}
