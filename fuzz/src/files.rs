//! The files that people and agents write: the policy file, and the files of tasks.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bestow::{PolicyFile, policy::ConfigError, schedule::task_in};

/// Checks the policy file. It is a policy or a list of mistakes, and a second reader finds the same.
pub fn policy(text: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agents.toml");
    fs::write(&path, text).unwrap();
    let read = || PolicyFile::new(&path).with_home(home(directory.path())).load();
    let told = |read: &Result<_, ConfigError>| read.as_ref().err().map(ToString::to_string);
    let (one, other) = (read(), read());
    assert_eq!(told(&one), told(&other));
    match one {
        Ok(policy) => {
            assert!(policy.agents.keys().all(|agent| !agent.as_str().is_empty()));
            assert!(std::str::from_utf8(text).is_ok());
        }
        Err(why) => assert!(!why.to_string().is_empty()),
    }
}

fn home(directory: &Path) -> PathBuf {
    let home = directory.join("home");
    fs::create_dir_all(&home).unwrap();
    home
}

/// Checks the file of a task. It is a task with a prompt, or a list of problems.
pub fn task(text: &str) {
    for id in ["cron/a", "heartbeat/a"] {
        let id = id.parse().unwrap();
        match task_in(&id, text) {
            Ok(task) => {
                assert!(task.id == id && !task.prompt.trim().is_empty() && !task.title.is_empty());
                assert!(text.contains(&*task.prompt), "the prompt is the person's text");
            }
            Err(problems) => {
                assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.to_string().is_empty()));
            }
        }
    }
}
