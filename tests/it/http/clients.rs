//! The example clients in Python and TypeScript, as they are in `examples/clients`, against `bestow serve`.
#![cfg(feature = "cli")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use serde_json::{Value, json};

use super::project::Project;
use crate::support::ROOT;

/// A command that a person has to approve. It computes its output, so that no client can print it without running it.
const COMMAND: &str = "python3 -c 'print(6 * 7)'";

/// A language of the clients.
#[derive(Clone, Copy, Debug)]
enum Language {
    Python,
    TypeScript,
}

impl Language {
    /// Returns the languages that run here. In CI both have to.
    fn all() -> impl Iterator<Item = Language> {
        [Language::Python, Language::TypeScript].into_iter().filter(|language| {
            let runs = language.interpreter().arg("--version").output().is_ok_and(|told| told.status.success());
            if !runs {
                assert!(std::env::var_os("CI").is_none(), "{language:?} is needed");
                eprintln!("notice: the interpreter is missing or too old; not tested: {language:?}");
            }
            runs
        })
    }

    fn interpreter(self) -> Command {
        let (program, words): (_, &[&str]) = match self {
            Language::Python => ("python3", &["-B"]),
            // Node.js 20 has sockets only with this word, and later versions accept it.
            Language::TypeScript => ("node", &["--no-warnings", "--experimental-websocket"]),
        };
        let mut command = Command::new(program);
        command.args(words).env_remove("http_proxy").env_remove("NODE_OPTIONS");
        command
    }

    /// Starts a program of `examples/clients`.
    fn start(self, project: &Project, token: &str, name: &str, words: &[&str]) -> Child {
        let file = match self {
            Language::Python => format!("{ROOT}/examples/clients/python/{name}.py"),
            Language::TypeScript => format!("{ROOT}/examples/clients/typescript/{name}.mjs"),
        };
        let mut command = self.interpreter();
        command.arg(file).args(words).current_dir(project.path());
        command.env("BESTOW_URL", format!("http://{}", project.address())).env("BESTOW_TOKEN", token);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

fn ended(child: Child) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

/// Returns the first request that waits, as soon as one does.
async fn waiting(project: &Project, approver: &str, agent: &mut Child) -> Value {
    loop {
        if let Some(item) = project.pending(approver).await.into_iter().next() {
            return item;
        }
        assert_eq!(agent.try_wait().unwrap(), None, "the agent waits");
        tokio::task::yield_now().await;
    }
}

/// Lets an approver answer the one request that waits. Returns what the approver prints.
fn answered(project: &Project, language: Language, token: &str, item: &Value, decision: &str, why: &str) -> String {
    let mut child = language.start(project, token, "approver", &[]);
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut told = line_with(&mut from, "bot wants bash (dangerous)");
    let line = match language {
        Language::Python => format!("{decision} {why}\n"),
        Language::TypeScript => format!("{decision} {} {why}\n", item["code"].as_str().unwrap()),
    };
    to.write_all(line.as_bytes()).unwrap();
    drop(to);
    told += &line_with(&mut from, "done: ");
    let (code, rest) = ended(child);
    assert_eq!(code, Some(0), "{told}{rest}");
    told
}

/// Reads lines up to one that contains `words`.
fn line_with(from: &mut BufReader<ChildStdout>, words: &str) -> String {
    let mut all = String::new();
    loop {
        let start = all.len();
        assert_ne!(from.read_line(&mut all).unwrap(), 0, "no line has {words:?}: {all}");
        if all[start..].contains(words) {
            return all;
        }
    }
}

#[tokio::test]
async fn an_agent_runs_its_command_when_an_approver_has_approved_it() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    for language in Language::all() {
        let mut agent = language.start(&project, &bot, "agent", &[COMMAND]);
        let item = waiting(&project, &you, &mut agent).await;
        let told = answered(&project, language, &you, &item, "approve", "");
        assert!(told.contains("6 * 7") && told.contains("done: approve"), "{language:?}: {told}");
        assert_eq!(ended(agent), (Some(0), "42\n".to_owned()), "{language:?}");
    }
}

#[tokio::test]
async fn an_agent_whose_command_is_rejected_does_not_run_it_and_learns_why() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    for language in Language::all() {
        let mut agent = language.start(&project, &bot, "agent", &[COMMAND]);
        let item = waiting(&project, &you, &mut agent).await;
        let told = answered(&project, language, &you, &item, "reject", "use bc instead");
        assert!(told.contains("done: reject"), "{language:?}: {told}");
        assert_eq!(ended(agent), (Some(1), "not run: use bc instead\n".to_owned()), "{language:?}");
    }
}

#[tokio::test]
async fn an_agent_runs_the_input_that_the_approver_wants_instead() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    for language in Language::all() {
        let mut agent = language.start(&project, &bot, "agent", &[COMMAND]);
        let item = waiting(&project, &you, &mut agent).await;
        let changed = "python3 -c 'print(6 * 6)'";
        let body = json!({ "requestId": item["id"], "decision": "approve", "modifiedInput": changed });
        assert_eq!(project.post(&you, "/api/permissions", &body).await.status, 200);
        let (code, told) = ended(agent);
        assert!(code == Some(0) && told.ends_with("\n36\n"), "{language:?}: {told}");
    }
}

#[tokio::test]
async fn a_safe_command_runs_at_once_and_without_an_answer_none_runs() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    for language in Language::all() {
        let safe = ended(language.start(&project, &bot, "agent", &["echo safe"]));
        assert_eq!(safe, (Some(0), "safe\n".to_owned()), "{language:?}");
        for (token, command) in [(&*bot, "rm -rf /"), (&*you, "echo safe"), ("nonsense", "echo safe")] {
            let (code, told) = ended(language.start(&project, token, "agent", &[command]));
            assert!(code == Some(1) && told.starts_with("not run: "), "{language:?} {command}: {told}");
        }
        for token in [&*bot, "nonsense"] {
            let approver = language.start(&project, token, "approver", &[]);
            assert_eq!(ended(approver).0, Some(1), "{language:?}: no approver");
        }
    }
    assert!(project.pending(&you).await.is_empty());
}
