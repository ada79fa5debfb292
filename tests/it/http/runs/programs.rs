//! The programs of bots: no agent decides what a program runs that nothing confines.

use std::{fs, path::Path, process::Command};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::say;
use crate::{
    http::{client::Socket, project::Project},
    support::BESTOW,
};

/// The helper may write in `work` and in `tools`, and everybody else nowhere.
const HELPER: &str = r#"
[defaults]
owner = "you"
working_dir = "quiet"

[agents.helper]
kind = "permanent"
permissions = ["@write:work", "@write:tools"]
"#;

/// Commands that run what is in `work` or `tools`, from `work` if true, and otherwise from `quiet`.
const COMMANDS: [(bool, &[&str]); 19] = [
    (true, &["sh", "bot.sh"]),
    (true, &["./bot.sh"]),
    (true, &["python3", "-m", "bot"]),
    (true, &["python3", "."]),
    (true, &["sh", "-c", "sh bot.sh"]),
    (true, &["make", "run"]),
    (false, &["make", "-C", "../work", "run"]),
    (false, &["make", "-C../work", "run"]),
    (false, &["make", "--directory=../work", "run"]),
    (false, &["env", "-C", "../work", "sh", "bot.sh"]),
    (false, &["sh", "-c", "cd ..; cd work && sh bot.sh"]),
    (false, &["sh", "-c", "cd '../'\"work\" && make run"]),
    (false, &["sh", "../work/later.sh"]),
    (false, &["sh", "linked.sh"]),
    (false, &["sh", "-c", ". ./link/bot.sh"]),
    (false, &["sh", "-c", "sh $PWD/../work/bot.sh"]),
    (false, &["sh", "-c", "for each in ../work/*.sh; do sh $each; done"]),
    (false, &["python3", "../quiet/uses_neighbour.py", "../work"]),
    (false, &["in-tools"]),
];

/// A program that leaves a mark where no agent may.
fn marking(project: &Project) -> String {
    format!("touch {}/owned\n", project.path().display())
}

fn project() -> Project {
    let project = Project::new();
    let at = |name: &str| project.path().join(name);
    ["work", "quiet", "tools"].iter().for_each(|name| fs::create_dir(at(name)).unwrap());
    let mark = marking(&project);
    fs::write(at("work/bot.sh"), &mark).unwrap();
    fs::write(at("work/Makefile"), format!("run:\n\t{mark}")).unwrap();
    let python = format!("open({:?}, 'w')\n", at("owned"));
    ["work/bot.py", "work/__main__.py", "quiet/uses_neighbour.py"]
        .iter()
        .for_each(|name| fs::write(at(name), &python).unwrap());
    ["work/bot.sh", "tools/in-tools"].iter().for_each(|name| make_program(&at(name), &format!("#!/bin/sh\n{mark}")));
    std::os::unix::fs::symlink("../work/bot.sh", at("quiet/linked.sh")).unwrap();
    std::os::unix::fs::symlink("../work", at("quiet/link")).unwrap();
    project
}

fn make_program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the table of an agent whose program nothing confines.
fn unconfined(id: &str, working_dir: &str, command: &[&str]) -> String {
    format!(
        "[agents.{id}]\nkind = \"subagent\"\nworking_dir = \"{working_dir}\"\ncommand = {}\nsandbox = false\n\n",
        json!(command)
    )
}

/// Starts a run of one agent. Returns the error, or the end of the run.
async fn run(you: &mut Socket, agent: &str) -> Value {
    say(you, json!({ "type": "prepare_run", "agents": [agent] })).await;
    let run = loop {
        let frame = you.next().await.unwrap();
        if frame["type"] == "run_prepared" {
            break frame["runId"].clone();
        }
    };
    say(you, json!({ "type": "start_run", "runId": run })).await;
    loop {
        let frame = you.next().await.unwrap();
        if matches!(frame["type"].as_str(), Some("error" | "strategy_completed" | "strategy_error")) {
            return frame;
        }
    }
}

/// Serves the project with `tools` in the search path.
fn serve(project: &mut Project) {
    let mut command = Command::new("env");
    let path = std::env::var("PATH").unwrap();
    command.arg(format!("PATH={}/tools:{path}", project.path().display())).arg(BESTOW);
    project.serve_as(command, "127.0.0.1:0");
}

/// The attack: an agent writes what a person starts later, and has the authority of the server.
#[tokio::test]
async fn a_program_that_nothing_confines_is_not_started_where_an_agent_can_write() {
    let mut project = project();
    let bots = COMMANDS.iter().enumerate().map(|(number, (is_work, command))| {
        unconfined(&format!("bot{number}"), if *is_work { "work" } else { "quiet" }, command)
    });
    project.policy(&format!("{HELPER}{}", bots.collect::<String>()));
    let token = project.approver();
    serve(&mut project);
    let mut you = project.socket(&token).await;
    for (number, (_, command)) in COMMANDS.iter().enumerate() {
        let end = run(&mut you, &format!("bot{number}")).await;
        let why = end["message"].as_str().unwrap_or_default();
        assert!(why.contains("the agent helper may write") && why.contains("`sandbox = true`"), "{command:?}: {end}");
        assert!(!project.path().join("owned").exists(), "{command:?}");
    }
}

/// Such a command runs where no agent may write: it is refused for that reason alone.
#[tokio::test]
async fn a_program_that_nothing_confines_is_started_where_no_agent_can_write() {
    let mut project = project();
    let policy = HELPER.replace("\"@write:work\", \"@write:tools\"", "");
    project.policy(&format!("{policy}{}", unconfined("bot", "work", &["sh", "bot.sh"])));
    let token = project.approver();
    serve(&mut project);
    let mut you = project.socket(&token).await;
    assert_eq!(run(&mut you, "bot").await["type"], "strategy_completed");
    assert!(project.path().join("owned").exists());
}

/// The attack: the agent wrote the program before its permission went.
#[tokio::test]
async fn a_permission_that_has_gone_still_counts() {
    let mut project = project();
    let policy = |permissions: &str| {
        let helper = HELPER.replace("\"@write:work\", \"@write:tools\"", permissions);
        format!("{helper}{}", unconfined("bot", "work", &["python3", "-m", "bot"]))
    };
    project.policy(&policy("\"@write:work/sub\""));
    let token = project.approver();
    serve(&mut project);
    project.end(Signal::TERM);
    project.policy(&policy(""));
    serve(&mut project);
    let mut you = project.socket(&token).await;
    let end = run(&mut you, "bot").await;
    assert!(end["message"].as_str().unwrap_or_default().contains("an agent was able to write"), "{end}");
    assert!(!project.path().join("owned").exists());
}

/// Another agent that writes the file of a confined program would act as its agent.
#[tokio::test]
async fn a_confined_program_is_not_started_if_another_agent_can_write_it() {
    let mut project = project();
    let bot = unconfined("bot", "quiet", &["sh", "../work/bot.sh"]).replace("sandbox = false", "");
    project.policy(&format!("{HELPER}{bot}"));
    let token = project.approver();
    serve(&mut project);
    let mut you = project.socket(&token).await;
    let end = run(&mut you, "bot").await;
    assert!(end["message"].as_str().unwrap_or_default().contains("the agent helper may write"), "{end}");
    assert!(!project.path().join("owned").exists());
}
