//! `bestow serve` and `bestow token`, as processes of their own.
#![cfg(feature = "cli")]

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    net::TcpStream,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bestow::host::{Clock, SystemClock};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    client::{Events, Socket},
    project::Project,
};

/// The server is killed while a request waits, and after an approval: both are there when it starts again.
#[tokio::test]
async fn b19_and_c49_what_waits_and_what_was_approved_survive_a_kill() {
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

/// The input that the person changed is the one that may run. The records still have the original one.
#[tokio::test]
async fn c35_a_changed_input_alone_may_run_and_the_original_is_in_the_trail() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    let operator = project.token(&["--role", "operator"]);
    project.serve();
    let id = project.classify(&bot, "node script.js").await["requestId"].clone();
    let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": "node other.js" });
    assert_eq!(project.post(&you, "/api/permissions", &body).await.status, 200);
    assert_eq!(project.classify(&bot, "node script.js").await["allow"], false, "the original was not approved");
    assert_eq!(project.classify(&bot, "node other.js").await["allow"], true);
    assert_eq!(project.classify(&bot, "node other.js").await["allow"], false, "once");
    let trail = project.get(&operator, "/v1/audit").await.body;
    let records = || trail.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of = |kind: &str| -> Vec<String> {
        records().filter(|record| record["type"] == kind).map(|record| record.to_string()).collect()
    };
    let asked = of("permission.requested");
    assert!(asked[0].contains("node script.js") && !asked[0].contains("node other.js"), "{asked:?}");
    assert!(of("permission.resolved").iter().any(|record| record.contains("node other.js")), "{trail}");
}

/// A request and a grant end while no server runs. The next server neither shows the one nor uses the other.
#[tokio::test]
async fn c49_what_ends_while_no_server_runs_does_not_survive() {
    let mut project = Project::new();
    project.policy(
        "[engine]\nrequest_timeout = \"1s\"\n\n[defaults]\nowner = \"you\"\nworking_dir = \".\"\n\n\
         [agents.bot]\nkind = \"subagent\"\n",
    );
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let clock = SystemClock::new();
    let until = clock.now().unwrap().after(Duration::from_secs(1));
    let grant = |scope: &str, to: &str| json!({ "agentId": "bot", "permissions": [to], "reason": "r", "scope": scope });
    for (scope, to) in [(&*format!("until {until}"), "@network"), ("always", "@events")] {
        assert_eq!(project.post(&you, "/v1/grants", &grant(scope, to)).await.status, 201);
    }
    let asked = project.classify(&bot, "node a.js").await["requestId"].as_str().unwrap().to_owned();
    project.end(Signal::KILL);
    clock.reaches(until.after(Duration::from_secs(1))).await;
    project.serve();
    assert_eq!(project.pending(&you).await, Vec::<Value>::new());
    let state = project.get(&bot, &format!("/api/hooks/requests/{asked}")).await.json;
    assert_eq!(state["status"], "expired", "{state}");
    let both = json!({ "permissions": ["@network", "@events"] });
    let held = project.post(&bot, "/v1/check", &both).await.json["results"].clone();
    assert_eq!((&held[0]["held"], &held[1]["held"]), (&json!("not_held"), &json!("held")), "{held}");
}

/// Equal calls join one request, and leave nothing behind in the memory of the server.
#[tokio::test]
async fn c50_thousands_of_equal_calls_need_no_further_memory() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let call = async |times: usize| {
        for _ in 0..times {
            let reply = project.classify(&bot, "node a.js").await;
            assert_eq!(reply["allow"], false, "{reply}");
        }
        project.memory()
    };
    let before = call(1_000).await;
    let after = call(3_000).await;
    assert_eq!(project.pending(&you).await.len(), 1);
    // A request with its decision and its events needs more than a KiB: without a bound, this would be several MiB.
    assert!(after < before + 1_536, "{before} KiB before, and {after} KiB after");
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

/// Every open connection learns that the server ends, and that this is no accident and no revocation.
#[tokio::test]
async fn a_signal_is_told_to_every_socket_and_stream() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let waiting = project.classify(&bot, "node a.js").await["requestId"].clone();
    let mut sockets = Vec::new();
    for (path, token) in [("/ws", &you), ("/ws", &bot), ("/ws/permissions", &you), ("/v1/events/ws", &you)] {
        let headers = [("authorization", &*format!("Bearer {token}"))];
        sockets.push((path, Socket::open(project.address(), path, &headers).await.unwrap()));
    }
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let events = Events::open(project.address(), "/v1/events", &headers).await;
    let mut events = events.unwrap_or_else(|reply| panic!("{reply:?}"));
    assert_eq!(project.end(Signal::TERM), Some(0));
    for (path, mut socket) in sockets {
        let code = loop {
            if let Err(code) = socket.next().await {
                break code;
            }
        };
        assert_eq!(code, 1001, "{path}");
    }
    let mut last = Value::Null;
    while let Some((_, event)) = events.next().await {
        last = event;
    }
    assert_eq!(last["code"], "unavailable", "{last}");
    project.serve();
    let [item] = &project.pending(&you).await[..] else { panic!("one waits") };
    assert_eq!(item["id"], waiting, "what waited waits");
}

/// A service manager is told when the server answers, and when it begins to end.
#[test]
fn a_service_manager_is_told_that_the_server_is_ready_and_that_it_stops() {
    let abstract_name = format!("bestow-test-{}", std::process::id());
    for is_abstract in [false, true] {
        let mut project = Project::new();
        let path = project.path().join("notify");
        let (address, name) = if is_abstract {
            (SocketAddr::from_abstract_name(&abstract_name).unwrap(), format!("@{abstract_name}").into())
        } else {
            (SocketAddr::from_pathname(&path).unwrap(), path.into_os_string())
        };
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        let mut command = std::process::Command::new(crate::support::BESTOW);
        command.env("NOTIFY_SOCKET", name);
        project.serve_as(command, "127.0.0.1:0");
        let told = || {
            let mut bytes = [0; 64];
            let length = manager.recv(&mut bytes).unwrap();
            String::from_utf8(bytes[..length].to_vec()).unwrap()
        };
        assert_eq!(told(), "READY=1");
        assert!(project.path().join("ready.json").exists() && TcpStream::connect(project.address()).is_ok());
        assert_eq!(project.end(Signal::TERM), Some(0));
        assert_eq!(told(), "STOPPING=1");
    }
}

/// A program that waits for the ready file never reads a part of it.
#[test]
fn the_ready_file_is_there_whole_or_not_at_all() {
    let mut project = Project::new();
    let file = project.path().join("ready.json");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !is_over.load(Ordering::Relaxed) {
                let Ok(text) = std::fs::read_to_string(&file) else { continue };
                let ready: Value = serde_json::from_str(&text).expect("a whole file");
                assert!(ready["url"].is_string() && text.ends_with('\n'), "{text}");
                seen.insert(ready["pid"].as_u64().unwrap());
            }
            seen
        });
        for round in 0..8 {
            project.serve();
            // A server that is killed leaves its file, which the next one replaces.
            project.end(if round % 2 == 0 { Signal::KILL } else { Signal::TERM });
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(!reader.join().unwrap().is_empty(), "the file was seen");
    });
}

/// As on a full disk: the file with the address cannot be written. An old one must not lead elsewhere.
#[test]
fn a_server_that_cannot_write_its_address_goes_on_and_says_so() {
    let project = Project::new();
    std::fs::create_dir_all(project.path().join("state/server.json/in-the-way")).unwrap();
    let mut command = std::process::Command::new(crate::support::BESTOW);
    command.args(["serve", "--state", "state", "--listen", "127.0.0.1:0"]).current_dir(project.path());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").map(str::to_owned);
    let answers = address.as_ref().is_some_and(|address| TcpStream::connect(address).is_ok());
    rustix::process::kill_process(rustix::process::Pid::from_child(&server), Signal::TERM).unwrap();
    let done = server.wait_with_output().unwrap();
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(answers && done.status.code() == Some(0), "{line} {told}");
    let address = address.unwrap();
    assert!(
        told.contains("state/server.json cannot be written: ") && told.contains(&format!("`--url http://{address}`")),
        "{told}"
    );
}

/// The attack of bad luck: a server is killed while it writes the ready file, and a later one has its process id. In a
/// container, all of them have.
#[test]
fn a_part_of_a_ready_file_of_before_stops_no_server() {
    let mut project = Project::new();
    let mut command = std::process::Command::new("sh");
    let script = "echo '{' > ready.json.$$; mkdir -p state; echo '{' > state/server.json.$$; exec \"$0\" \"$@\"";
    command.args(["-c", script, crate::support::BESTOW]);
    project.serve_as(command, "127.0.0.1:0");
    assert_eq!(project.end(Signal::TERM), Some(0));
    let left: Vec<_> = std::fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("ready.json")), "{left:?}");
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
        (&["--role", "operator", "--owner", "you"], 64, "--owner"),
        (&["--role", "boss"], 64, "boss"),
        (&["--role", "agent", "--agent", "bot", "--expires", "0s"], 64, "--expires"),
        (&["--role", "agent", "--agent", "bot", "--name", "a\nb"], 3, "name"),
        (&["--role", "agent", "--agent", "bot", "--config", "nothing.toml"], 3, "--owner"),
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
    let unread = created(&["--role", "agent", "--agent", "bot", "--owner", "you", "--config", "nothing.toml"]);
    assert!(unread.contains("nothing.toml cannot be read") && unread.contains("`--config`"), "{unread}");
    assert_eq!(created(&["--role", "operator", "--config", "nothing.toml"]), "");
}
