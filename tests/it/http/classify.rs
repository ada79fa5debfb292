//! `POST /api/hooks/classify` (`sources/003`, cases C1 to C26 of the dialect).

use serde_json::json;

use super::{client::call, daemon::Daemon};
use crate::support::World;

/// The least tier of each command, by the number of its case. `+` stands for this tier or a worse one.
const COMMANDS: &[(&str, &str, &[&str])] = &[
    ("C1", "safe", &["git status"]),
    ("C2", "dangerous", &["node script.js"]),
    ("C3", "destructive", &["rm -rf /"]),
    (
        "C4",
        "safe",
        &[
            "ls -la",
            "cat /etc/hosts",
            "git log --oneline",
            "grep -r \"test\" .",
            "npm list",
            "docker ps",
            "curl https://example.com",
        ],
    ),
    (
        "C5",
        "dangerous",
        &[
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
        ],
    ),
    (
        "C6",
        "destructive",
        &[
            "rm -rf ~",
            "sudo rm x",
            "sudo ls",
            "dd if=/dev/zero of=x",
            "mkfs.ext4 d",
            "fdisk d",
            "gh repo delete r",
            "gh repo edit r --visibility public",
            "terraform destroy",
            "railway service delete",
            "docker system prune",
            "chmod 777 f",
            "chown u f",
            "DROP TABLE users",
            "TRUNCATE t",
            "DELETE FROM t",
        ],
    ),
    ("C7", "dangerous", &["some-unknown-tool", ""]),
    (
        "C8",
        "destructive",
        &[
            "echo hi; rm -rf /",
            "echo hi && rm -rf /",
            "echo hi || rm -rf /",
            "echo hi | rm -rf /",
            "echo hi & rm -rf /",
            "echo hi\nrm -rf /",
        ],
    ),
    ("C9", "destructive", &["echo $(rm -rf ~)", "echo `rm -rf ~`", "cat <(rm -rf /)"]),
    (
        "C10",
        "destructive",
        &["env rm -rf /", "nohup rm -rf /", "xargs rm -rf /", "bash -c 'rm -rf /'", "/bin/rm -rf /", "\\rm -rf /"],
    ),
    (
        "C11",
        "destructive",
        &["rm -fr /", "rm -r -f /", "rm -Rf /", "rm -rf -- /", "rm --recursive --force /", "rm -rf \"/\"", "rm -rf /*"],
    ),
    ("C12", "safe", &["find . -name x"]),
    // The worst of these depends on the place: `.` is the whole working directory of the agent.
    ("C12", "dangerous+", &["find . -delete", "find . -exec rm {} +", "find sub -delete"]),
    ("C13", "safe", &["sed s/a/b/ f"]),
    ("C13", "dangerous", &["sed -i s/a/b/ f", "sed 'w x' f"]),
    ("C14", "safe", &["awk '{print $1}' f"]),
    ("C14", "dangerous", &["awk 'BEGIN{system(\"id\")}'"]),
    (
        "C15",
        "dangerous",
        &["curl -XPOST u", "curl --data x u", "curl -F a=b u", "curl -T f u", "curl --json {} u", "curl -o f u"],
    ),
    ("C16", "dangerous+", &["curl u | sh"]),
    ("C17", "safe", &["git branch", "git remote -v"]),
    ("C17", "dangerous", &["git branch -D m", "git remote set-url o u"]),
    ("C18", "dangerous", &["lsof", "catalog-drop", "idx_build"]),
    ("C19", "dangerous+", &["echo x > /etc/passwd", "echo x > ~/.bashrc", "tee f", "sort -o f g"]),
    ("C20", "safe", &["ls 2>/dev/null", "grep -rn \"DROP TABLE\" src"]),
    ("C21", "dangerous+", &["echo \"unclosed", "$X -rf /", "eval \"$Y\""]),
];

/// A server whose limits of questions are those of a test with many of them.
async fn patient() -> Daemon {
    let world = World::with(|settings| {
        settings.reads = bestow::grant::Reads::Anywhere;
        settings.max_asks_per_minute = 1_000;
    });
    Daemon::of(world, bestow_http::Limits::default(), |_| {}).await
}

#[tokio::test]
async fn c1_to_c21_every_command_has_its_tier_and_only_safe_ones_pass() {
    let daemon = patient().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    for (case, tier, commands) in COMMANDS {
        for command in *commands {
            let reply = daemon.classify(&bot, command).await;
            assert_eq!(reply.status, 200, "{case}: {command}: {}", reply.json);
            let (told, allow, id) = (&reply.json["tier"], &reply.json["allow"], &reply.json["requestId"]);
            match tier.strip_suffix('+') {
                None => assert_eq!(told, tier, "{case}: {command}: {}", reply.json),
                Some(_) => assert!(told == "dangerous" || told == "destructive", "{case}: {command}: {told}"),
            }
            let reason = reply.json["reason"].as_str().unwrap();
            match told.as_str().unwrap() {
                "safe" => assert!(*allow == json!(true) && id.is_null() && !reason.is_empty(), "{case}: {command}"),
                "dangerous" => {
                    assert!(*allow == json!(false) && reason.starts_with("Queued for approval:"), "{case}: {reason}");
                    let id = id.as_str().unwrap();
                    assert!(id.starts_with("hook_"), "{case}: {id}");
                    assert_eq!(daemon.decide(&you, id, "approve").await.status, 200, "{case}: {command}");
                }
                _ => {
                    assert!(*allow == json!(false) && reason.starts_with("Blocked:") && id.is_null(), "{case}: {told}")
                }
            }
            assert_eq!(daemon.pending(&you).await.len(), 0, "{case}: {command} waits for nobody any more");
        }
    }
    let body = json!({ "toolName": "foo", "toolInput": {} }).to_string();
    assert_eq!(daemon.post(&bot, "/api/hooks/classify", &body).await.json["tier"], "dangerous", "C7");
    let numbers = (1..=21).map(|number| format!("C{number}"));
    assert!(numbers.into_iter().all(|number| COMMANDS.iter().any(|(case, ..)| *case == number)), "each is a row");
}

#[tokio::test]
async fn c22_and_c23_structured_tools_are_judged_by_their_path_under_either_name() {
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
    for field in ["path", "file_path"] {
        for path in ["/ws/src/index.ts", "/etc/hosts", "/anywhere/else", "/ws/.env"] {
            assert_eq!(tier("read", field, path).await, "safe", "{path}");
        }
    }
    assert_eq!(tier("foo", "path", "/ws/a").await, "dangerous");
}

/// The text of a tool name is the whole name, whatever it contains.
#[tokio::test]
async fn c45_a_name_that_looks_like_two_fields_is_one_unknown_name() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let body = json!({ "toolName": "bash\",\"toolName\":\"read", "toolInput": {} });
    let reply = daemon.post(&bot, "/api/hooks/classify", &body.to_string()).await;
    assert!(reply.json["allow"] == false, "{}", reply.json);
}

#[tokio::test]
async fn c24_to_c26_every_malformed_question_is_a_no_that_says_why() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let before = daemon.state().await;
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
    assert_eq!(daemon.state().await, before, "nothing changed");
    for input in
        [json!({ "command": 7 }), json!({ "command": ["ls"] }), json!({ "command": "ls", "input": "rm -rf /" })]
    {
        let body = json!({ "toolName": "bash", "toolInput": input });
        let reply = daemon.post(&bot, "/api/hooks/classify", &body.to_string()).await;
        assert!(reply.status < 500 && reply.json["allow"] == false, "{input}: {}", reply.json);
    }
}

#[tokio::test]
async fn c25_without_the_credential_of_the_agent_nothing_is_answered() {
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
