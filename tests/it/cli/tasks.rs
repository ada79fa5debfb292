//! Tests of `bestow tasks`.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use super::{bestow, text};

/// A policy file with tasks beside it.
struct Place(tempfile::TempDir);

impl Place {
    fn new(more: &str) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let agents = format!(
            "[defaults]\nowner = \"you\"\nworking_dir = \"work\"\n\n[agents.nightly]\nkind = \"cron\"\n\n\
             [agents.pulse]\nkind = \"heartbeat\"\n\n[tasks]\ndir = \"tasks\"\n{more}"
        );
        fs::create_dir_all(place.path("work")).unwrap();
        place.save("agents.toml", &agents);
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn save(&self, below: &str, text: &str) {
        fs::create_dir_all(self.path(below).parent().unwrap()).unwrap();
        fs::write(self.path(below), text).unwrap();
        fs::set_permissions(self.path(below), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn gate(&self, command: &str, more: &str) {
        let front = format!("title: Nightly\nschedule: \"@daily\"\ngate:\n  command: {command:?}\n{more}");
        self.save("tasks/cron/a/TASK.md", &format!("---\n{front}---\nDo it.\n"));
    }

    /// Returns the exit code, standard output and standard error.
    fn tasks(&self, words: &[&str]) -> (i32, String, String) {
        let config = self.path("agents.toml");
        let words: Vec<_> =
            ["tasks"].iter().chain(words).copied().chain(["--config", config.to_str().unwrap()]).collect();
        let told = bestow(&words, b"");
        (told.status.code().unwrap(), text(&told.stdout).to_owned(), text(&told.stderr).to_owned())
    }
}

#[test]
fn a_task_is_run_by_hand_and_listed_with_what_came_of_it() {
    let place = Place::new("");
    place.gate("echo ready", "");
    place.save("tasks/heartbeat/b.md", "# Beat\n\nLook around.");
    let (code, out, _) = place.tasks(&[]);
    assert_eq!((code, out.lines().count()), (0, 2));
    assert!(
        out.contains("cron/a")
            && out.contains("T00:00:00.000Z")
            && out.contains("never ran")
            && out.contains("(Nightly)"),
        "{out}"
    );
    let (code, out, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!((code, out.as_str()), (0, "Do it.\n\n## Gate output\n\nready\n"), "{err}");
    assert!(err.contains("the gate of cron/a passed; the task runs"), "{err}");
    let (_, out, _) = place.tasks(&["list"]);
    assert!(out.lines().next().unwrap().contains("Z done"), "{out}");
    let (code, out, _) = place.tasks(&["run", "heartbeat/b"]);
    assert_eq!((code, out.as_str()), (0, "# Beat\n\nLook around.\n"));
}

#[test]
fn the_exit_code_says_why_a_task_did_not_run_and_the_list_tells_it_later() {
    let place = Place::new("[gates]\non_missing = \"ask\"\n");
    place.gate("exit 4", "");
    let (code, out, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!((code, out.as_str(), err.as_str()), (3, "", "bestow: cron/a does not run: its gate failed with 4\n"));
    assert!(place.tasks(&[]).1.contains("skipped: its gate failed with 4"));
    place.gate("kill -9 $$", "");
    let (code, _, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!(code, 1, "it said nothing: {err}");
    assert!(err.contains("it was ended by signal KILL"), "{err}");
    place.gate("true", "  permissions: [\"@network\"]\n");
    let (code, _, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("the agent of its gate does not hold @network"), "{err}");
    let (code, _, err) = place.tasks(&["run", "cron/missing"]);
    assert_eq!((code, err.as_str()), (1, "bestow: task cron/missing does not exist: `bestow tasks` lists the tasks\n"));
    assert_eq!(place.tasks(&["run", "../a"]).0, 64);
    assert_eq!(place.tasks(&["run"]).0, 64);
    let place = Place::new("[gates]\non_missing = \"skip\"\n");
    place.gate("true", "  permissions: [\"@network\"]\n");
    assert_eq!(place.tasks(&["run", "cron/a"]).0, 3);
}

/// Problems of other tasks are not part of the answer.
#[test]
fn running_one_task_tells_nothing_about_the_others() {
    let place = Place::new("");
    place.gate("true", "");
    place.save("tasks/cron/wrong/TASK.md", "---\nschedule: 99 * * * *\n---\nx");
    place.save("tasks/cron/other/TASK.md", "---\nschedule: \"@daily\"\npermissions: [\"@network\"]\n---\nx");
    place.save("tasks/heartbeat/b.md", "x");
    let (code, out, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!((code, out.as_str()), (0, "Do it.\n"), "{err}");
    assert_eq!(err, "bestow: the gate of cron/a passed; the task runs\nbestow: cron/a runs as cron:a\n");
    let (code, _, err) = place.tasks(&["run", "cron/wrong"]);
    assert!(code == 1 && err.starts_with("bestow: cron/wrong/TASK.md:2: `schedule`"), "{err}");
    let (_, _, err) = place.tasks(&["run", "cron/other"]);
    assert!(err.contains("cron/other lists permissions, which have no effect"), "{err}");
}

#[test]
fn check_tells_everything_that_is_wrong_with_every_file() {
    let place = Place::new("");
    place.gate("true", "");
    assert_eq!(place.tasks(&["check"]).1, "cron/a/TASK.md:5: the gate runs: it is safe\n1 task, nothing wrong\n");
    place.save("tasks/cron/b/TASK.md", "---\nschedule: 99 * * * *\nagnet: x\n---\nx");
    place.save("tasks/heartbeat/c.md", "---\npermissions: [\"@network\"]\n---\nx");
    let (code, out, err) = place.tasks(&["check"]);
    assert_eq!((code, out.as_str()), (1, "cron/a/TASK.md:5: the gate runs: it is safe\n"));
    for expected in [
        "heartbeat/c.md: it lists permissions, which have no effect: @network",
        "cron/b/TASK.md:2: `schedule`",
        "cron/b/TASK.md:3: unknown key `agnet` in a task; did you mean `agent`?",
    ] {
        assert!(err.contains(expected), "{err}");
    }
    assert!(place.tasks(&[]).1.contains("cron/b/TASK.md"), "what is not taken is listed too");
}

#[test]
fn a_file_without_a_directory_of_tasks_says_so() {
    let place = Place::new("");
    let agents = fs::read_to_string(place.path("agents.toml")).unwrap();
    place.save("agents.toml", &agents.replace("dir = \"tasks\"", ""));
    let (code, _, err) = place.tasks(&[]);
    assert!(code == 1 && err.contains("write `dir` in `[tasks]`"), "{err}");
}

#[test]
fn check_tells_what_would_keep_a_good_file_from_running() {
    let place = Place::new("");
    place.save("tasks/cron/a/TASK.md", "---\nschedule: \"@daily\"\nagent: nigthly\n---\nx");
    place.save("tasks/cron/b/TASK.md", "---\nschedule: \"@daily\"\nagent: pulse\n---\nx");
    let (code, _, err) = place.tasks(&["check"]);
    assert_eq!(code, 1);
    assert!(err.contains("cron/a/TASK.md:3: there is no agent `nigthly`: there is `nightly`"), "{err}");
    assert!(err.contains("cron/b/TASK.md:3: pulse is of kind `heartbeat`") && err.contains("under `agents`"), "{err}");
    assert!(place.tasks(&[]).1.contains("cannot run: try `bestow tasks check`"));
}

#[test]
fn check_tells_what_a_gate_lacks_and_what_becomes_of_it() {
    let place = Place::new("");
    place.gate("true", "  permissions: [\"@network\", \"@write:files\"]\n");
    let (code, _, err) = place.tasks(&["check"]);
    assert_eq!(code, 0, "nothing is wrong with the file");
    let expected = "bestow: cron/a/TASK.md:5: the gate needs permissions that its agent does not hold, so the task \
        runs unchecked: @network\n";
    assert_eq!(err, expected);
}

#[test]
fn where_there_is_no_task_yet_it_says_where_they_would_be() {
    let place = Place::new("");
    fs::create_dir(place.path("tasks")).unwrap();
    for words in [&[][..], &["check"]] {
        let (code, out, _) = place.tasks(words);
        assert!(code == 0 && out.contains("cron/NAME/TASK.md") && out.contains("/tasks"), "{out}");
    }
}

#[test]
fn a_gate_that_fails_is_told_with_what_it_wrote() {
    let place = Place::new("");
    place.gate("echo looking; printf 'no inbox\\033[2J\\n' >&2; exit 4", "");
    let (code, out, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!((code, out.as_str()), (3, ""));
    let expected = "bestow: cron/a does not run: its gate failed with 4; it wrote:\n  looking\n  no inbox\\u{1b}[2J\n";
    assert_eq!(err, expected);
    let (_, out, _) = place.tasks(&[]);
    assert!(out.contains("skipped: its gate failed with 4: no inbox"), "{out}");
}

#[test]
fn check_tells_what_nobody_would_ever_look_at() {
    let place = Place::new("");
    place.gate("true", "  cwd: /nowhere/at/all\n");
    place.save("tasks/corn/b/TASK.md", "---\nschedule: \"@daily\"\n---\nx");
    place.save("tasks/notes/plan.txt", "for people");
    place.save("tasks/cron/lower/task.md", "---\nschedule: \"@daily\"\n---\nx");
    place.save("tasks/heartbeat/notes.txt", "x");
    place.save("tasks/heartbeat/more/c.md", "x");
    let (code, _, err) = place.tasks(&["check"]);
    assert_eq!(code, 1, "{err}");
    for expected in [
        "cron/a/TASK.md:5: its gate could not run: its `cwd` `/nowhere/at/all` is not a directory",
        "corn: the scheduler reads no tasks below this directory: did you mean `cron`?",
        "cron/lower/TASK.md: the file of a task must be named `TASK.md`, not `task.md`: rename it",
        "heartbeat/notes.txt: a task of the heartbeat ends in `.md`: call this `heartbeat/notes.md`",
        "heartbeat/more: a task of the heartbeat is a file",
    ] {
        assert!(err.contains(expected), "{expected}: {err}");
    }
    assert_eq!(err.lines().count(), 5, "what is for people is nobody's business: {err}");
}

#[test]
fn a_task_that_never_runs_for_what_its_gate_lacks_is_wrong() {
    let place = Place::new("[gates]\non_missing = \"skip\"\n");
    place.gate("true", "  permissions: [\"@network\"]\n");
    let (code, out, err) = place.tasks(&["check"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.contains(
            "cron/a/TASK.md:5: the gate needs permissions that its agent does not hold, so the task does not run"
        ),
        "{err}"
    );
}

#[test]
fn what_others_may_write_is_told_with_its_path_and_the_command_that_mends_it() {
    let place = Place::new("");
    place.save("tasks/heartbeat/b.md", "x");
    let file = place.path("tasks/heartbeat/b.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let (_, _, err) = place.tasks(&["check"]);
    let expected = format!(
        "heartbeat/b.md: users other than its owner may write `heartbeat/b.md` (mode 666): run `chmod go-w {}`",
        file.display()
    );
    assert!(err.contains(&expected), "{err}");
    let dir = place.path("tasks");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    let (_, _, err) = place.tasks(&["check"]);
    assert!(err.contains(&format!("(mode 777): run `chmod go-w {}`", dir.display())), "{err}");
}

#[test]
fn a_directory_of_tasks_that_is_not_there_is_told_with_the_key_that_names_it() {
    let place = Place::new("");
    let dir = place.path("tasks");
    let (code, _, err) = place.tasks(&[]);
    let expected =
        format!("does not exist, the directory of tasks (`dir` in `[tasks]`): run `mkdir -p {}`", dir.display());
    assert!(code == 1 && err.contains(&expected), "{err}");
    let (code, _, err) = place.tasks(&["run"]);
    assert!(
        code == 64 && err.contains("`<TASK>` is missing: The task, as in `cron/NAME`; `bestow tasks` lists them"),
        "{err}"
    );
}

#[test]
fn a_heartbeat_nobody_runs_is_told_that_its_agent_is_missing_and_not_that_it_names_none() {
    let place = Place::new("");
    let agents = fs::read_to_string(place.path("agents.toml")).unwrap();
    place.save("agents.toml", &agents.replace("\"heartbeat\"", "\"subagent\""));
    place.save("tasks/heartbeat/b.md", "x");
    let (_, _, err) = place.tasks(&["check"]);
    assert!(err.contains("there is no agent of kind `heartbeat`, and no other agent runs this"), "{err}");
}

#[test]
fn a_task_for_once_that_is_over_runs_again_by_hand() {
    let place = Place::new("");
    place.save("tasks/cron/a/TASK.md", "---\nschedule: \"@daily\"\nonce: true\n---\nDo it.");
    for _ in 0..2 {
        assert_eq!(place.tasks(&["run", "cron/a"]).1, "Do it.\n");
        assert!(place.tasks(&[]).1.contains("next never"));
    }
}

/// The mishap, not an attack: a person runs a task by hand while a program runs the tasks, and the task runs twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_by_hand_beside_a_program_that_runs_the_same_tasks_is_refused() {
    let place = Place::new("");
    place.save("tasks/cron/a/TASK.md", "---\nschedule: \"@daily\"\n---\nDo it.\n");
    let engine = bestow::Engine::open(place.path("agents.toml")).await.unwrap();
    let runner = |_: bestow::schedule::TaskRun| async { Ok(()) };
    let tasks = bestow::schedule::Scheduler::new(runner).start(&engine).await.unwrap();
    let (code, out, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains(&format!("process {} runs the tasks in", std::process::id())), "{err}");
    assert_eq!(place.tasks(&["check"]).0, 0, "who only looks is in nobody's way");
    tasks.stop().await;
    assert_eq!(place.tasks(&["run", "cron/a"]).0, 0);
}

/// The attack: a command that may only read takes the lock of the task runner, and no task runs any more.
#[test]
fn no_confined_command_keeps_the_tasks_from_running() {
    let worker = "[agents.worker]\nkind = \"permanent\"\n";
    let place = Place::new(worker);
    place.save("tasks/cron/a/TASK.md", "---\nschedule: \"@daily\"\n---\nDo it.\n");
    // An earlier version left this file.
    place.save("tasks/LOCK", "1\n");
    let alone = place.tasks(&["run", "cron/a"]);
    assert_eq!(alone.0, 0, "{alone:?}");
    let (config, lock) = (place.path("agents.toml"), place.path("tasks/LOCK"));
    let wait = place.path("over");
    let attack = format!(
        "exec 9< {0}; flock -n 9 && echo held; flock -n {0} echo held; flock -n -x {0} echo held; chmod 600 {0}; \
         echo tried; for i in $(seq 300); do test -e {1} && break; sleep 0.1; done",
        lock.display(),
        wait.display()
    );
    let words = ["exec", "--agent", "worker", "--config", config.to_str().unwrap(), "--", "bash", "-c", &attack];
    let mut child = super::started(&words);
    let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut said, &mut first).unwrap();
    let run = place.tasks(&["run", "cron/a"]);
    fs::write(wait, "").unwrap();
    let told = child.wait_with_output().unwrap();
    assert_eq!((first.as_str(), run.0), ("tried\n", 0), "{run:?} {}", text(&told.stderr));
}

#[test]
fn check_says_what_would_be_decided_about_a_gate() {
    let rule = "[[agents.nightly.rules]]\nverdict = \"deny\"\ncommand = \"git push **\"\nwhy = \"not at night\"\n";
    let place = Place::new(rule);
    place.gate("test -e /srv/inbox", "");
    let (code, out, err) = place.tasks(&["check"]);
    assert_eq!(
        (code, out.as_str()),
        (0, "cron/a/TASK.md:5: the gate runs: it is safe\n1 task, nothing wrong\n"),
        "{err}"
    );
    for (command, told) in [
        ("git push origin main", "the gate could not run, it is denied: "),
        ("git push origin main", "not at night"),
        ("git push origin main", "agents.toml:13"),
        ("rm -rf /srv", "the gate could not run, it is denied: "),
    ] {
        place.gate(command, "");
        let (code, out, err) = place.tasks(&["check"]);
        assert_eq!((code, out.as_str()), (1, ""), "{command}: {err}");
        assert!(err.starts_with("bestow: cron/a/TASK.md:5: ") && err.contains(told), "{command}: {err}");
        // The run confirms the message of `check`.
        let (code, _, err) = place.tasks(&["run", "cron/a"]);
        assert_eq!(code, 1, "{command}: {err}");
    }
    // A tier alone does not require approval for a gate, because a gate is confined to its declared permissions.
    place.gate("touch x", "  permissions: [\"@write:files\"]\n");
    let (code, out, err) = place.tasks(&["check"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("cron/a/TASK.md:5: the gate runs: it is "), "{out}");
}

/// A run by hand prints its prompt and ends, for any number of tasks (T2).
#[test]
fn a_run_by_hand_among_thousands_of_tasks_prints_its_prompt() {
    let place = Place::new("");
    place.gate("echo ready", "");
    for number in 0..5000 {
        place.save(&format!("tasks/heartbeat/t{number}.md"), "x");
    }
    let (code, out, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!((code, out.as_str()), (0, "Do it.\n\n## Gate output\n\nready\n"), "{err}");
}

/// A gate may write control characters. A terminal receives none of them, a program receives all (T4).
#[test]
fn what_a_gate_wrote_reaches_a_terminal_without_control_characters() {
    let place = Place::new("");
    place.gate("printf '\\033]0;gone\\007'", "");
    let (code, out, err) = place.tasks(&["run", "cron/a"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\u{1b}]0;gone"), "a program gets it as it is: {out:?}");
    let config = place.path("agents.toml");
    let program = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    let shown = std::process::Command::new("python3")
        .args(["-c", program, crate::support::BESTOW, "tasks", "run", "cron/a", "--config"])
        .arg(config)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("gone") && !shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
}
