//! One line gets one answer, whichever door brings it to the real `bestow serve`.
#![cfg(feature = "cli")]

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use super::{client::call, project::Project};
use crate::support::{ROOT, cases};

const POLICY: &str = "\
[engine]
max_pending = 100000
max_asks_per_minute = 1000000

[defaults]
owner = \"you\"
working_dir = \"work\"

[agents.bot]
kind = \"permanent\"
permissions = [\"@write:work\"]

[[agents.bot.rules]]
verdict = \"deny\"
path = \"**/.env\"
why = \"it has secrets\"

[[agents.bot.rules]]
verdict = \"deny\"
path = \"work/secrets\"

[[agents.bot.rules]]
verdict = \"deny\"
command = \"curl **\"

[[agents.bot.rules]]
verdict = \"ask\"
command = \"make **\"

[[agents.bot.rules]]
verdict = \"allow\"
command = \"npm test **\"
children = true
";

/// A served tree with denied, ignored, linked and missing names.
fn project() -> Project {
    let mut project = Project::new();
    project.policy(POLICY);
    let work = project.path().join("work");
    for name in ["src/main.rs", "sub/.env", "secrets/a.txt", "plain/c.rs", ".env", "README.md"] {
        fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
        fs::write(work.join(name), "x\n").unwrap();
    }
    symlink("secrets", work.join("link")).unwrap();
    project.serve();
    project
}

/// Returns lines about this tree, and lines of all sets of this project.
fn lines() -> Vec<String> {
    let names = [".", "..", "secrets", "link/a.txt", ".env", "missing", "*", "/etc/passwd"];
    let programs = ["ls", "cat", "grep -r x", "cp -r plain", "rm -r", "make", "npm test", "curl -d x", "frob"];
    let mut lines: Vec<String> =
        programs.iter().flat_map(|program| names.iter().map(move |name| format!("{program} {name}"))).collect();
    let mut of_sets = Vec::new();
    for entry in fs::read_dir(std::path::Path::new(ROOT).join("tests/cases")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        of_sets.extend(rows.filter_map(|row| Some(row.get("command")?.as_str()?.to_owned())));
    }
    of_sets.sort_unstable();
    let step = (of_sets.len() / cases(80) as usize).max(1);
    lines.extend(of_sets.into_iter().step_by(step));
    lines
}

/// The answer of a door about a line: the decision, and the tier where the door tells one.
#[derive(Debug)]
struct Said {
    door: &'static str,
    decision: String,
    tier: Option<String>,
}

impl Said {
    fn new(door: &'static str, decision: &Value, tier: &Value) -> Said {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Said { door, decision: text(decision).unwrap_or_else(|| panic!("{door}: no decision")), tier: text(tier) }
    }
}

struct Doors {
    project: Project,
    bot: String,
}

impl Doors {
    async fn post(&self, path: &str, body: &Value) -> Value {
        let reply = self.project.post(&self.bot, path, body).await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json
    }

    async fn explain(&self, line: &str, as_tool: bool) -> Said {
        let body = body(line, as_tool);
        let json = self.post("/v1/explain", &body).await;
        let decision = &json["decision"];
        Said::new("/v1/explain", &decision["decision"], &decision["tier"])
    }

    async fn authorize(&self, line: &str, as_tool: bool) -> Said {
        let json = self.post("/v1/authorize", &body(line, as_tool)).await;
        Said::new("/v1/authorize", &json["decision"], &json["tier"])
    }

    async fn classify(&self, line: &str) -> Said {
        let body = json!({ "toolName": "bash", "toolInput": { "command": line } });
        let json = self.post("/api/hooks/classify", &body).await;
        let decision = match (json["allow"].as_bool(), json["requestId"].is_string()) {
            (Some(true), _) => "allow",
            (_, true) => "ask",
            (_, false) => "deny",
        };
        Said::new("/api/hooks/classify", &json!(decision), &json["tier"])
    }

    /// A coding agent asks. Its session is an agent that `bot` creates.
    async fn host_call(&self, line: &str) -> Said {
        let caller = json!({ "session": "s", "workingDir": self.project.path().join("work") });
        let body = json!({
            "caller": caller, "toolName": "Bash", "toolInput": { "command": line },
            "waitMs": 1, "unanswered": "withdraw",
        });
        let json = self.post("/v1/hosts/call", &body).await;
        let decision = match json["answer"].as_str().unwrap() {
            "allowed" => "allow",
            "denied" => "deny",
            "waits" | "not_granted" => "ask",
            other => panic!("{other}: {json}"),
        };
        Said::new("/v1/hosts/call", &json!(decision), &Value::Null)
    }

    async fn mcp(&self, line: &str, as_tool: bool) -> Said {
        let arguments = if as_tool {
            json!({ "tool_name": "Bash", "tool_input": { "command": line } })
        } else {
            json!({ "operation": "command.execute", "resource": line })
        };
        let params = json!({ "name": "explain", "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let authorization = format!("Bearer {}", self.bot);
        let headers = [
            ("authorization", authorization.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let reply = call(self.project.address(), "POST", "/mcp", &headers, &message.to_string()).await;
        let content = &reply.json["result"]["structuredContent"];
        assert!(content.is_object(), "{reply:?}");
        Said::new("MCP explain", &content["decision"], &content["tier"])
    }

    fn check(&self, line: &str, as_tool: bool) -> Said {
        let input = json!({ "command": line }).to_string();
        let action = if as_tool { vec!["--tool", "Bash", "--input", &input] } else { vec!["--command", line] };
        let words: Vec<_> = ["check", "--agent", "bot", "--json"].into_iter().chain(action).collect();
        let output = self.project.bestow(&words);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {output:?}"));
        Said::new("bestow check", &json["decision"], &json["tier"])
    }
}

fn body(line: &str, as_tool: bool) -> Value {
    if as_tool {
        json!({ "toolName": "Bash", "toolInput": { "command": line } })
    } else {
        json!({ "operation": "command.execute", "resource": line })
    }
}

#[tokio::test]
async fn every_door_gives_a_line_the_same_answer() {
    let project = project();
    let bot = project.agent();
    let doors = Doors { project, bot };
    for (at, line) in lines().iter().enumerate() {
        let expected = doors.explain(line, false).await;
        let mut answers = vec![
            doors.explain(line, true).await,
            doors.authorize(line, false).await,
            doors.authorize(line, true).await,
            doors.classify(line).await,
            doors.host_call(line).await,
            doors.mcp(line, false).await,
            doors.mcp(line, true).await,
        ];
        // A process is started for each of these, so not every line gets one.
        if at % 8 == 0 {
            answers.extend([doors.check(line, false), doors.check(line, true)]);
        }
        for said in answers {
            assert_eq!(said.decision, expected.decision, "{} about {line:?}: {expected:?}", said.door);
            if said.tier.is_some() {
                assert_eq!(said.tier, expected.tier, "{} about {line:?}", said.door);
            }
        }
    }
}

/// The layout of the quick start: the policy file, the state directory and `.env` lie in the project.
#[tokio::test]
async fn daily_work_beside_the_files_of_the_engine_is_not_denied() {
    let mut project = Project::new();
    let rule = "[[agents.bot.rules]]\nverdict = \"deny\"\npath = \"**/.env\"\n";
    let file = "[engine]\nprotected = [\".env\"]\n\n[agents.bot]\nowner = \"you\"\nkind = \"foreground\"\n\
                working_dir = \".\"\npermissions = [\"@write:src\"]\n\n";
    project.policy(&format!("{file}{rule}"));
    let root = project.path().to_owned();
    fs::create_dir_all(root.join("src")).unwrap();
    for (name, text) in
        [("src/a.py", "TODO"), (".env", "A=1"), (".gitignore", "state\n.env\nagents.toml\n"), ("b.rs", "TODO")]
    {
        fs::write(root.join(name), text).unwrap();
    }
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git").args(words).current_dir(&root).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    };
    git(&["init", "-q", "."]);
    git(&["add", "."]);
    git(&["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "begin"]);
    project.serve();
    let bot = project.agent();
    let doors = Doors { project, bot };
    let daily = [
        "ls",
        "ls *",
        "ls -la",
        "git status",
        "git log --oneline",
        "git show",
        "git diff",
        "git diff HEAD",
        "git diff main...HEAD",
        "git checkout .",
        "git restore .",
        "git restore --staged .",
        "git add -A",
        "git check-ignore .env",
        "git rm --cached .env",
        "git stash",
        "git commit -am x",
        "rg TODO",
        "git grep TODO",
        "grep -rn TODO .",
        "grep -rn TODO . --include='*.py'",
        "grep -rn TODO --exclude-dir=node_modules .",
        "find . -name '*.py' -exec grep -l TODO {} +",
        "tar czf /tmp/x.tgz .",
        "cp -r . /tmp/backup",
        "test -f .env",
        "stat agents.toml",
        "du -sh .",
        "tree",
        "cargo build",
        "npm test",
        "make",
        "python3 src/a.py",
        "wc -l src/*",
    ];
    let mut denied = Vec::new();
    for line in daily {
        if doors.explain(line, false).await.decision == "deny" {
            denied.push(line);
        }
    }
    assert!(denied.is_empty(), "{denied:#?}");
    for line in ["cat .env", "cat state/*", "cp state/approver-token x", "echo > agents.toml", "rm -rf state"] {
        assert_eq!(doors.explain(line, false).await.decision, "deny", "{line}");
    }
}
