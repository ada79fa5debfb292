//! `bestow dashboard` and `bestow demo`, as processes of their own, and the pages that the server sends.
#![cfg(feature = "cli")]

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{client::call, project::Project};
use crate::support::BESTOW;

/// Returns the token of the session that a link opens.
async fn session(link: &str) -> (std::net::SocketAddr, Value) {
    let (url, secret) = link.trim().split_once("/#link=").unwrap();
    let address = url.strip_prefix("http://").unwrap().parse().unwrap();
    let body = json!({ "link": secret }).to_string();
    let opened = call(address, "POST", "/v1/session", &[("content-type", "application/json")], &body).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    (address, opened.json)
}

#[tokio::test]
async fn a_printed_link_opens_a_session_for_the_only_owner() {
    let mut project = Project::new();
    project.serve();
    let printed = project.bestow(&["dashboard", "--print-link", "--by", "ann"]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let (address, opened) = session(&String::from_utf8(printed.stdout).unwrap()).await;
    assert_eq!(address, project.address());
    assert_eq!((&opened["session"]["ownerId"], &opened["session"]["by"]), (&json!("you"), &json!("ann")));
    let bot = project.agent();
    project.classify(&bot, "node a.js").await;
    let waiting = project.get(opened["token"].as_str().unwrap(), "/v1/requests").await.json;
    assert_eq!(waiting["requests"][0]["question"]["action"]["resource"], "node a.js");
}

#[tokio::test]
async fn without_a_server_or_with_several_owners_the_way_out_is_named() {
    let mut project = Project::new();
    let refused = |project: &Project, words: &[&str]| {
        let output = project.bestow(words);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let none = refused(&project, &["dashboard", "--print-link"]);
    assert!(none.contains("`bestow serve --state state`"), "{none}");
    project.serve();
    project.policy(
        "[defaults]\nworking_dir = \".\"\n[agents.bot]\nkind = \"subagent\"\nowner = \"you\"\n\
         [agents.other]\nkind = \"subagent\"\nowner = \"them\"\n",
    );
    let several = refused(&project, &["dashboard", "--print-link"]);
    assert!(several.contains("`--owner`") && several.contains("`them`, `you`"), "{several}");
    project.end(Signal::KILL);
    let dead = refused(&project, &["dashboard", "--print-link", "--owner", "you"]);
    assert!(dead.contains("no server runs on the state directory state"), "{dead}");
}

#[tokio::test]
async fn the_pages_are_sent_with_a_policy_that_allows_nothing_from_elsewhere() {
    let mut project = Project::new();
    project.serve();
    let page = call(project.address(), "GET", "/", &[], "").await;
    assert_eq!(page.status, 200);
    for header in [
        "content-type: text/html; charset=utf-8",
        "default-src 'none'; script-src 'self'; style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "cross-origin-opener-policy: same-origin",
    ] {
        assert!(page.head.to_lowercase().contains(header), "{header}: {}", page.head);
    }
    for name in ["main.js", "style.css"] {
        assert_eq!(call(project.address(), "GET", &format!("/dashboard/{name}"), &[], "").await.status, 200, "{name}");
    }
    for name in ["tsconfig.json", "types.d.ts", "..%2Fsrc%2Flib.rs", "%2e%2e/Cargo.toml", "", "x.js"] {
        assert_eq!(call(project.address(), "GET", &format!("/dashboard/{name}"), &[], "").await.status, 404, "{name}");
    }
}

#[test]
fn the_pages_together_are_smaller_than_150_kilobytes_and_name_nothing_outside() {
    let directory = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/bestow-http/dashboard"));
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if !["html", "css", "js", "svg"].contains(&path.extension().unwrap().to_str().unwrap()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        bytes += text.len();
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
            assert!(!text.contains(forbidden), "{} has `{forbidden}`", path.display());
        }
        let outside = text.replace("http://www.w3.org/", "");
        assert!(!outside.contains("https://"), "{} names something outside", path.display());
    }
    assert!((30_000..150_000).contains(&bytes), "{bytes}");
}

#[tokio::test]
async fn the_demo_shows_waiting_agents_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(BESTOW);
    command.args(["demo", "--print-link"]).env("TMPDIR", home.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut demo = command.spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let (address, opened) = session(&lines.next().unwrap().unwrap()).await;
    let token = opened["token"].as_str().unwrap();
    let headers = [("authorization", &*format!("Bearer {token}"))];
    loop {
        let waiting = call(address, "GET", "/v1/requests", &headers, "").await.json;
        if waiting["requests"].as_array().unwrap().len() == 3 {
            break;
        }
        tokio::task::yield_now().await;
    }
    let tasks = call(address, "GET", "/v1/tasks", &headers, "").await.json;
    let task = &tasks["tasks"][0];
    assert_eq!((&task["schedule"], task["upcoming"].as_array().unwrap().len()), (&json!("0 3 * * *"), 5), "{tasks}");
    assert_eq!(task["gate"]["missing"], json!(["@network"]), "{tasks}");
    let config = call(address, "GET", "/v1/config", &headers, "").await.json;
    assert_eq!((&config["problems"], config["text"].is_string()), (&json!([]), true), "{config}");
    kill_process(Pid::from_child(&demo), Signal::TERM).unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}
