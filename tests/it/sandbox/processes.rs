//! Tests of time, limits, output, and the end of all processes that a command started.

use std::{fs, io::Read, path::Path, process::Command as Process, time::Duration};

use bestow::{
    Permission,
    sandbox::{Command, Limits, Profile, Sandbox, SandboxError},
};

use super::ground::{Ground, everywhere, shown};

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// Creates a pipe in the workspace. Its reader sees the end when every process that holds the pipe is gone.
fn lifeline(ground: &super::ground::Ground) -> fs::File {
    let path = ground.path("workspace/lifeline");
    let _ = fs::remove_file(&path);
    pipe(&path);
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    let reader = rustix::fs::open(&path, flags, rustix::fs::Mode::empty()).unwrap();
    rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::RDONLY).unwrap();
    fs::File::from(reader)
}

pub(super) fn pipe(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// Writes a program with this text. Another process writes it: a descriptor of this process could be inherited by a
/// child of another test.
pub(super) fn program(path: &Path, text: &str) {
    let words = ["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"", path.to_str().unwrap(), text];
    assert!(Process::new("sh").args(words).status().unwrap().success());
}

/// Runs a command that opens the lifeline and then tells `up`. When its time ends, no process holds the lifeline: the
/// read ends only then. A busy machine may need more than the first time to come so far, so the command gets more.
fn is_gone_with_its_time(ground: &super::ground::Ground, command: &str) {
    let mut told = [2, 4, 8, 16, 32].into_iter().map(|seconds| {
        let mut line = lifeline(ground);
        let profile = ground.profile().limited(limits(|limits| limits.time = Some(Duration::from_secs(seconds))));
        let done = ground.sh_under(&profile, command);
        assert!(done.timed_out && done.code.is_none(), "{ground}: {done:?}");
        let mut told = String::new();
        line.read_to_string(&mut told).unwrap();
        told
    });
    let up = told.find(|told| !told.is_empty());
    assert_eq!(up.as_deref(), Some("up\n"), "{ground}");
}

#[test]
pub(super) fn when_time_is_over_everything_it_started_is_gone() {
    everywhere(|ground| {
        let escape = "exec 7> lifeline; echo up >&7; trap '' TERM HUP; \
                      (setsid sh -c 'sleep 999 & sleep 999' & ) ; nohup sleep 999 >/dev/null 2>&1 & sleep 999";
        is_gone_with_its_time(ground, escape);
    });
}

#[test]
fn when_a_command_ends_what_it_left_running_ends_too() {
    everywhere(|ground| {
        let mut line = lifeline(ground);
        assert_eq!(ground.can("exec 7> lifeline; echo up >&7; (sleep 999 >/dev/null 2>&1 &); exit 0"), "");
        let mut told = String::new();
        line.read_to_string(&mut told).unwrap();
        assert_eq!(told, "up\n", "{ground}");
    });
}

#[test]
fn output_is_kept_up_to_its_limit_and_the_command_is_not_held_up() {
    everywhere(|ground| {
        let profile = ground.profile().limited(limits(|limits| limits.output = 1000));
        let done = ground.sh_under(&profile, "head -c 3000000 /dev/zero; echo done > ended");
        assert_eq!((done.stdout.bytes.len(), done.stdout.is_cut, done.code), (1000, true, Some(0)), "{ground}");
        assert!(!done.stderr.is_cut);
        assert_eq!(ground.world.content("workspace/ended"), "done\n");
    });
}

#[test]
fn limits_are_in_force_and_facts() {
    everywhere(|ground| {
        let limits = limits(|limits| {
            limits.file_size = Some(10_000);
            limits.open_files = Some(20);
            limits.cpu_seconds = Some(5);
            limits.memory = Some(512 << 20);
        });
        let profile = ground.profile().limited(limits);
        let done = ground.sh_under(&profile, "cat /proc/self/limits");
        let told = shown(&done.stdout.bytes);
        for (words, name, value) in [
            ("Max file size", "file_size", 10_000),
            ("Max open files", "open_files", 20),
            ("Max cpu time", "cpu_seconds", 5),
            ("Max data size", "memory", 512 << 20),
            ("Max core file size", "core", 0),
        ] {
            assert_eq!(done.facts.process_limits.get(name), Some(&value), "{ground}");
            let line = told.lines().find(|line| line.starts_with(words)).unwrap();
            let numbers: Vec<_> = line.strip_prefix(words).unwrap().split_whitespace().take(2).collect();
            assert_eq!(numbers, [value.to_string(), value.to_string()], "{ground}: {line}");
        }
        ground.cannot_under(&profile, "head -c 20000 /dev/zero > big");
        assert!(fs::metadata(ground.path("workspace/big")).unwrap().len() <= 10_000);
        ground.cannot_under(&profile, "ulimit -n 1000");
    });
}

/// Returns true if each process namespace has numbers of its own here, which bind root too.
fn namespaces_count() -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(14))
}

/// Without a configured limit of processes, a command of an ordinary user under bubblewrap is counted alone, and
/// limited.
#[test]
fn a_command_is_bound_by_default_in_memory_and_where_it_is_counted_alone_in_processes() {
    everywhere(|ground| {
        let done = ground.sh_under(&ground.profile(), "cat /proc/self/limits");
        let told = shown(&done.stdout.bytes);
        let of_kernel = |name: &str| {
            let line = told.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse::<u64>().ok()
        };
        let limits = &done.facts.process_limits;
        assert_eq!(
            (of_kernel("Max data size"), limits.contains_key("memory")),
            (limits.get("memory").copied(), true),
            "{ground}"
        );
        let is_root = rustix::process::geteuid().is_root();
        let by = |name: &str| done.facts.limited_by.iter().any(|by| by == name);
        let in_namespace = ground.over == "bubblewrap" && (!is_root || namespaces_count());
        let is_counted_alone = in_namespace || by("cgroup");
        assert_eq!(limits.get("processes").copied(), is_counted_alone.then_some(4096), "{ground}");
        let by_namespace = in_namespace && is_root && !by("cgroup");
        assert_eq!((by("rlimits"), by("pid_namespace")), (true, by_namespace), "{ground}");
        if by("cgroup") {
            let of_machine = limits["memory"];
            assert_eq!(limits.get("total_memory"), Some(&(of_machine / 4 * 3)), "{ground}");
        } else if by_namespace {
            assert_eq!(ground.can("cat /proc/sys/kernel/pid_max").trim(), "4098", "{ground}");
        } else if is_counted_alone {
            assert_eq!(of_kernel("Max processes"), Some(4096), "{ground}: {told}");
        }
        let all = ["memory", "processes", "total_memory"].into_iter().fold(Limits::default(), |mut limits, name| {
            limits.set(name, "unlimited").unwrap();
            limits
        });
        let done = ground.sh_under(&ground.profile().limited(all), "true");
        let left: Vec<_> = done.facts.process_limits.keys().map(String::as_str).collect();
        assert_eq!(left, ["core", "open_files", "output", "time_ms"], "{ground}");
    });
}

#[test]
fn words_are_words_and_no_shell_reads_them() {
    everywhere(|ground| {
        let words = ["a b", "$(touch pwned)", "`x`", "\"'\n;", "*", "--", "-n", ""];
        let done = ground.sandbox.run(&ground.profile(), &Command::new("printf").arg("%s|").args(words)).unwrap();
        assert_eq!(shown(&done.stdout.bytes), words.join("|") + "|", "{ground}");
    });
}

#[test]
fn how_it_ended_is_told_and_a_program_that_is_not_there_did_not_run() {
    everywhere(|ground| {
        assert_eq!(ground.sh("exit 7").code, Some(7));
        let none = ground.sandbox.run(&ground.profile(), &Command::new("no-such-program"));
        assert!(matches!(none, Err(SandboxError::NotStarted(_))), "{ground}: {none:?}");
        let said = none.unwrap_err().to_string();
        assert!(said.contains("`no-such-program`: the program is not on its PATH (/usr/local/bin"), "{said}");
        let none = ground.sandbox.run(&ground.profile(), &Command::new("./no-such-program"));
        let said = none.unwrap_err().to_string();
        assert!(
            said.contains("`./no-such-program`: the program or its interpreter does not exist in"),
            "{ground}: {said}"
        );
        // The input is empty, and reading it does not block.
        assert_eq!(ground.can("cat"), "");
    });
}

/// A line that starts three hundred processes, or as many as allowed, and prints their number.
const BOMB: &str = "i=0; while [ $i -lt 300 ]; do sleep 999 & i=$((i+1)); done 2>/dev/null; echo $i";

/// Checks the limit of processes for root where there are no control groups.
fn without_groups(ground: &Ground, profile: &Profile) {
    let sandbox = ground.sandbox.clone().without_control_groups();
    // The kernel cannot limit root to so few, so the command does not run.
    let missing = sandbox.cannot_enforce(profile).join("; ");
    assert!(missing.contains("superuser"), "{ground}: {missing}");
    let refused = sandbox.run(profile, &Command::new("touch").arg("ran"));
    assert!(matches!(refused, Err(SandboxError::Unavailable(_))), "{ground}: {refused:?}");
    assert!(!ground.world.exists("workspace/ran"));
    if ground.over == "bubblewrap" && namespaces_count() {
        let before = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
        let profile = profile.clone().limited(limits(|limits| limits.processes = Some(300)));
        let bomb = Command::new("sh").args(["-c", &BOMB.replace("300", "600")]);
        let done = sandbox.run(&profile, &bomb).unwrap();
        let told = shown(&done.stdout.bytes);
        assert!(told.trim().parse::<u32>().is_ok_and(|count| count <= 300) || told.is_empty(), "{ground}: {told}");
        assert_eq!(done.facts.process_limits.get("processes"), Some(&300), "{ground}");
        assert!(done.facts.limited_by.contains(&"pid_namespace".to_owned()), "{ground}: {:?}", done.facts);
        assert_eq!(fs::read_to_string("/proc/sys/kernel/pid_max").unwrap(), before, "the host keeps its own");
    }
}

#[test]
fn a_fork_bomb_is_stopped_by_its_limit() {
    everywhere(|ground| {
        let profile = ground.profile().limited(limits(|limits| {
            limits.processes = Some(40);
            limits.time = Some(Duration::from_secs(20));
        }));
        if ground.is_root {
            without_groups(ground, &profile);
            if ground.sandbox.cannot_enforce(&profile).is_empty() {
                let done = ground.sh_under(&profile, BOMB);
                assert_ne!(shown(&done.stdout.bytes), "300\n", "{ground}: {done:?}");
                assert!(done.facts.limited_by.contains(&"cgroup".to_owned()), "{ground}: {:?}", done.facts);
            }
            return;
        }
        let done = ground.sh_under(&profile, BOMB);
        assert_ne!(shown(&done.stdout.bytes), "300\n", "{ground}: {done:?}");
        assert_eq!(done.facts.process_limits.get("processes"), Some(&40), "{ground}");
    });
}

#[test]
fn a_fork_bomb_without_a_limit_is_gone_with_its_time() {
    everywhere(|ground| {
        is_gone_with_its_time(ground, &format!("exec 7> lifeline; {BOMB}; echo up >&7; sleep 999"));
    });
}

#[test]
fn a_busy_loop_and_a_hoard_of_memory_or_descriptors_end_at_their_limits() {
    everywhere(|ground| {
        let profile = ground.profile().limited(limits(|limits| {
            limits.cpu_seconds = Some(1);
            limits.memory = Some(512 << 20);
            limits.open_files = Some(30);
            limits.time = Some(Duration::from_secs(60));
        }));
        let busy = ground.sh_under(&profile, "while :; do :; done");
        assert!(!busy.timed_out && busy.code != Some(0), "{ground}: {busy:?}");
        ground.cannot_under(&profile, "python3 -c 'x = bytearray(1 << 30)'");
        ground.cannot_under(&profile, "python3 -c 'f = [open(\"/dev/null\") for _ in range(10000)]'");
    });
}

#[test]
fn commands_that_run_fail_and_are_refused_leave_no_descriptor_behind() {
    let name = "sandbox::processes::commands_that_run_fail_and_are_refused_leave_no_descriptor_behind";
    crate::fs::process::alone(name, &[], || {
        everywhere(|ground| {
            let short = ground.profile().limited(limits(|limits| limits.time = Some(Duration::from_millis(300))));
            let events = Profile::of(&super::ground::scope("/", &[Permission::Events]), []).unwrap();
            let round = || {
                ground.sh("echo x; exit 3");
                ground.sh_under(&short, "sleep 999");
                assert!(ground.sandbox.run(&ground.profile(), &Command::new("no-such-program")).is_err());
                assert!(ground.sandbox.run(&events, &Command::new("true")).is_err());
                assert!(Sandbox::with_helper("/bin/true").run(&ground.profile(), &Command::new("true")).is_err());
            };
            let open = || fs::read_dir("/proc/self/fd").unwrap().count();
            let before = open();
            (0..5).for_each(|_| round());
            assert_eq!(open(), before, "{ground}");
        });
    });
}
