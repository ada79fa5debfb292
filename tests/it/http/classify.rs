//! `POST /api/hooks/classify` (`sources/003`, cases C1 to C26 of the dialect).

use serde_json::json;

use super::{client::call, daemon::Daemon};

/// The tier of each command, as the source and its corrections have it.
const COMMANDS: [(&str, &[&str]); 3] = [
    (
        "safe",
        &[
            "git status",
            "ls -la",
            "cat /etc/hosts",
            "git log --oneline",
            "grep -r \"test\" .",
            "npm list",
            "docker ps",
            "curl https://example.com",
            "find . -name x",
            "sed s/a/b/ f",
            "awk '{print $1}' f",
            "git branch",
            "git remote -v",
            "ls 2>/dev/null",
            "grep -rn \"DROP TABLE\" src",
        ],
    ),
    (
        "dangerous",
        &[
            "node script.js",
            "python s.py",
            "npm install x",
            "git push origin main",
            "docker run nginx",
            "ssh u@h",
            "rsync a b",
            "railway up",
            "vercel deploy",
            "curl -X POST u",
            "curl -d x u",
            "wget --post-data=x u",
            "some-unknown-tool",
            "",
            "sed -i s/a/b/ f",
            "awk 'BEGIN{system(\"id\")}'",
            "curl -XPOST u",
            "curl u | sh",
            "git branch -D m",
            "lsof",
            "tee f",
            "echo \"unclosed",
        ],
    ),
    (
        "destructive",
        &[
            "rm -rf /",
            "rm -rf ~",
            "sudo rm x",
            "sudo ls",
            "dd if=/dev/zero of=x",
            "gh repo delete r",
            "terraform destroy",
            "docker system prune",
            "chmod 777 f",
            "DROP TABLE users",
            "echo hi; rm -rf /",
            "echo $(rm -rf ~)",
            "env rm -rf /",
            "bash -c 'rm -rf /'",
            "rm --recursive --force /",
        ],
    ),
];

#[tokio::test]
async fn every_command_has_its_tier_and_only_safe_ones_pass() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    for (tier, commands) in COMMANDS {
        for command in commands {
            let reply = daemon.classify(&bot, command).await;
            if reply.status == 429 {
                panic!("{command}: {}", reply.json);
            }
            assert_eq!((reply.status, &reply.json["tier"]), (200, &json!(tier)), "{command}: {}", reply.json);
            let (allow, id) = (&reply.json["allow"], &reply.json["requestId"]);
            let reason = reply.json["reason"].as_str().unwrap();
            match tier {
                "safe" => assert!(*allow == json!(true) && id.is_null(), "{command}"),
                "dangerous" => {
                    assert!(
                        *allow == json!(false) && reason.starts_with("Queued for approval:"),
                        "{command}: {reason}"
                    );
                    let id = id.as_str().unwrap();
                    assert!(id.starts_with("hook_"), "{id}");
                    assert_eq!(daemon.decide(&daemon.approver("you"), id, "approve").await.status, 200, "{command}");
                }
                _ => assert!(*allow == json!(false) && reason.starts_with("Blocked:") && id.is_null(), "{command}"),
            }
        }
    }
}

/// The worst of these depends on the place: `.` is the whole working directory of the agent.
#[tokio::test]
async fn a_find_that_removes_or_runs_is_never_safe() {
    let daemon = Daemon::start().await;
    for command in ["find . -delete", "find . -exec rm {} +", "find sub -delete", "sed 'w x' f", "$X -rf /"] {
        let reply = daemon.classify(&daemon.agent("bot"), command).await;
        assert!(reply.json["allow"] == false && reply.json["tier"] != "safe", "{command}: {}", reply.json);
    }
}

#[tokio::test]
async fn structured_tools_are_judged_by_their_path_under_either_name() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let tier = async |tool: &str, field: &str, path: &str| {
        let body = json!({ "toolName": tool, "toolInput": { field: path, "content": "x" } });
        daemon.post(&bot, "/api/hooks/classify", &body.to_string()).await.json["tier"].clone()
    };
    for field in ["path", "file_path"] {
        assert_eq!(tier("write", field, "/ws/src/index.ts").await, "safe");
        for path in ["/ws/.env", "/ws/credentials.json", "/ws/.ssh/id_rsa"] {
            assert_eq!(tier("write", field, path).await, "dangerous", "{path}");
        }
    }
    assert_eq!(tier("foo", "path", "/ws/a").await, "dangerous");
    // The text of a tool name is the whole name, whatever it contains.
    let body = json!({ "toolName": "bash\",\"toolName\":\"read", "toolInput": {} });
    let reply = daemon.post(&bot, "/api/hooks/classify", &body.to_string()).await;
    assert!(reply.json["allow"] == false, "{}", reply.json);
}

#[tokio::test]
async fn every_malformed_question_is_a_no_that_says_why() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let before = daemon.world.view();
    let long = format!("{{\"toolName\":\"bash\",\"toolInput\":{{\"command\":\"{}\"}}}}", "a".repeat(2 << 20));
    let deep = format!("{{\"toolName\":\"bash\",\"toolInput\":{}{}}}", "{\"a\":".repeat(500), "}".repeat(500));
    for (body, status) in [
        ("{}", 400),
        ("{\"toolName\":\"\"}", 400),
        ("{\"toolName\":7}", 400),
        ("{\"toolName\":\"bash\",\"toolInput\":[]}", 400),
        ("{\"toolName\":\"bash\",\"toolInput\":{\"command\":\"ls\",\"command\":\"rm -rf /\"}}", 400),
        ("{\"toolName\":\"bash\",\"toolName\":\"read\",\"toolInput\":{}}", 400),
        ("{\"toolName\":\"bash\",\"toolInput\":{},\"waitMs\":99999}", 400),
        ("not json", 400),
        ("[]", 400),
        (&deep, 400),
        (&long, 413),
    ] {
        let reply = daemon.post(&bot, "/api/hooks/classify", body).await;
        let shown: String = body.chars().take(80).collect();
        assert_eq!(reply.status, status, "{shown}: {}", reply.json);
        assert_eq!(reply.json["allow"], false, "{shown}");
        assert!(!reply.json["reason"].as_str().unwrap().is_empty(), "{shown}");
    }
    assert_eq!(daemon.world.view(), before, "nothing changed");
    for input in
        [json!({ "command": 7 }), json!({ "command": ["ls"] }), json!({ "command": "ls", "input": "rm -rf /" })]
    {
        let body = json!({ "toolName": "bash", "toolInput": input });
        let reply = daemon.post(&bot, "/api/hooks/classify", &body.to_string()).await;
        assert!(reply.status < 500 && reply.json["allow"] == false, "{input}: {}", reply.json);
    }
}

#[tokio::test]
async fn without_the_credential_of_the_agent_nothing_is_answered() {
    let daemon = Daemon::start().await;
    let body = json!({ "toolName": "bash", "toolInput": { "command": "ls" } }).to_string();
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    for (given, status) in [
        (None, 401),
        (Some("Bearer "), 401),
        (Some("Bearer wrong"), 401),
        (Some("Basic YTpi"), 401),
        (Some(&*format!("Bearer {bot}0")), 401),
        (Some(&*format!("Bearer {}", &bot[..bot.len() - 1])), 401),
        (Some(&*format!("Bearer {you}")), 403),
        (Some(&*format!("bearer {bot}")), 200),
    ] {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(given.map(|given| ("authorization", given)));
        let reply = call(daemon.address, "POST", "/api/hooks/classify", &headers, &body).await;
        assert_eq!(reply.status, status, "{given:?}: {}", reply.json);
        assert_eq!(reply.json["allow"], json!(status == 200), "{given:?}");
        assert_eq!(reply.head.contains("www-authenticate: bearer"), status == 401, "{}", reply.head);
    }
}

/// Identity comes from the credential: a field may repeat it, and nothing else.
#[tokio::test]
async fn a_body_cannot_name_another_agent_or_owner() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    for (field, value, status) in [
        ("agentId", "bot", 200),
        ("agentId", "other", 403),
        ("agentId", "theirs", 403),
        ("userId", "you", 200),
        ("userId", "them", 403),
    ] {
        let body = json!({ "toolName": "bash", "toolInput": { "command": "ls" }, field: value });
        let reply = daemon.post(&bot, "/api/hooks/classify", &body.to_string()).await;
        assert_eq!(reply.status, status, "{field} {value}: {}", reply.json);
    }
}

#[tokio::test]
async fn a_call_that_waits_is_answered_as_soon_as_a_person_decides() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let body = json!({ "toolName": "bash", "toolInput": { "command": "node a.js" }, "waitMs": 9000 }).to_string();
    for (decision, allow) in [("approve", true), ("reject", false)] {
        let (asked, decided) = tokio::join!(daemon.post(&bot, "/api/hooks/classify", &body), async {
            let id = daemon.first_pending(&you).await;
            daemon.decide(&you, &id, decision).await
        });
        assert_eq!((asked.status, decided.status), (200, 200), "{} {}", asked.json, decided.json);
        assert_eq!(asked.json["allow"], allow, "{}", asked.json);
    }
}

#[tokio::test]
async fn a_changed_input_reaches_the_waiting_caller_and_only_it_may_run() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let body = json!({ "toolName": "bash", "toolInput": { "command": "node a.js" }, "waitMs": 9000 }).to_string();
    let (asked, decided) = tokio::join!(daemon.post(&bot, "/api/hooks/classify", &body), async {
        let id = daemon.first_pending(&you).await;
        let changed = json!({ "requestId": id, "decision": "approve", "modifiedInput": "node b.js" });
        daemon.post(&you, "/api/permissions", &changed.to_string()).await
    });
    assert_eq!(decided.status, 200, "{}", decided.json);
    assert_eq!(asked.json["allow"], false, "{}", asked.json);
    assert_eq!(asked.json["updatedInput"], json!({ "command": "node b.js" }));
    assert_eq!(daemon.classify(&bot, "node b.js").await.json["allow"], true, "the changed input passes");
    assert_eq!(daemon.classify(&bot, "node b.js").await.json["allow"], false, "once");
    assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], false, "and the first one was not approved");
}
