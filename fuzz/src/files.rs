//! The files that people, agents and the program itself write: the policy file, the files of tasks, and the directories
//! that a sandbox remembers.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bestow::{PolicyFile, policy::ConfigError, sandbox::cache_reads, schedule::task_in};

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

/// Checks the directories that a sandbox remembers. Bytes that are read would be written in the same way, and a part of
/// them is nothing. Returns the number of directories.
pub fn cache(bytes: &[u8]) -> usize {
    let count = cache_reads(bytes);
    if let (Some(_), Some((_, part))) = (count, bytes.split_last()) {
        assert_eq!(cache_reads(part), None);
        assert_eq!(cache_reads(&[bytes, b"\0"].concat()), None);
    }
    count.unwrap_or(0)
}
