//! Limits for a command with everything that it starts, and the facts about them.

use std::{fs, os::unix::fs::chown, path::PathBuf};

use bestow::{
    Engine, Event, InitialGrants, Kind, Permission, Settings,
    agent::Mode,
    process::ProcessOptions,
    sandbox::{Command, Finished, Limits, Profile, SandboxError},
};

use super::ground::{Ground, NOBODY, everywhere, scope, shown, with_bubblewrap};

fn limits(set: &[(&str, &str)]) -> Limits {
    let mut limits = Limits::default();
    set.iter().for_each(|(name, value)| limits.set(name, value).unwrap());
    limits
}

fn has_groups(done: &Finished) -> bool {
    done.facts.limited_by.iter().any(|by| by == "cgroup")
}

#[test]
fn facts_list_the_limits_in_force_and_no_other() {
    everywhere(|ground| {
        let facts = ground.sh("true").facts;
        let has = |facts: &bestow::event::SandboxFacts, name: &str| facts.process_limits.get(name).copied();
        assert_eq!((has(&facts, "time_ms"), has(&facts, "output")), (Some(120_000), Some(1 << 20)), "{ground}");
        let forever = ground.profile().limited(limits(&[("time", "unlimited"), ("output", "unlimited")]));
        let facts = ground.sh_under(&forever, "true").facts;
        assert_eq!((has(&facts, "time_ms"), has(&facts, "output")), (None, None), "{ground}");
        let alone = ground.sandbox.clone().without_control_groups();
        let done = alone.run(&ground.profile(), &Command::new("true")).unwrap();
        assert!(!has_groups(&done) && has(&done.facts, "total_memory").is_none(), "{ground}: {:?}", done.facts);
    });
}

#[test]
fn a_long_running_process_has_no_limit_of_time_and_output() {
    with_bubblewrap(|ground| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let engine = Engine::new(Settings::default()).unwrap();
            let stands = ground.world.workspace().parse().unwrap();
            let profile =
                bestow::Profile::new("worker".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
            let agent = engine.register(profile.in_mode(Mode::Bypass), InitialGrants::nothing()).await.unwrap();
            let mut events = engine.subscribe();
            let command = Command::new("true");
            agent.process_start(&ground.sandbox, command, &[], ProcessOptions::default()).await.unwrap();
            let facts = loop {
                if let Event::SandboxApplied { facts, .. } = &events.next().await.unwrap().event {
                    break facts.clone();
                }
            };
            let names: Vec<_> = facts.process_limits.keys().map(String::as_str).collect();
            assert!(!names.contains(&"time_ms") && !names.contains(&"output"), "{ground}: {names:?}");
            assert!(names.contains(&"memory") && names.contains(&"processes"), "{ground}: {names:?}");
            engine.shutdown().await;
        });
    });
}

#[test]
fn a_total_that_nothing_enforces_is_refused_by_name() {
    everywhere(|ground| {
        let alone = ground.sandbox.clone().without_control_groups();
        let profile = ground.profile().limited(limits(&[("total_memory", "64MiB")]));
        let why = alone.run(&profile, &Command::new("touch").arg("ran")).unwrap_err();
        assert!(matches!(&why, SandboxError::Unavailable(all) if all[0].contains("`total_memory`")), "{ground}: {why}");
        assert!(!ground.world.exists("workspace/ran"), "{ground}");
        let unlimited = ground.profile().limited(limits(&[("total_memory", "unlimited")]));
        alone.run(&unlimited, &Command::new("true")).unwrap();
    });
}

/// The directories of control groups that this process can use here.
fn groups_with(name: &str) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = mounts.lines().filter(|line| line.contains(" - cgroup"));
    let mounts: Vec<_> = mounts.filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from).collect();
    let (mut found, mut next) = (Vec::new(), mounts);
    while let Some(directory) = next.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().filter_map(Result::ok) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                next.push(entry.path());
                found.extend(Some(entry.path()).filter(|path| path.ends_with(name)));
            }
        }
    }
    found
}

/// Checks that a group bounds a command, that the command cannot leave it, and that it goes with the command.
fn bounds_what_a_command_starts(ground: &Ground) {
    let own = "sed -n 's,.*/\\(bestow-.*\\),\\1,p' /proc/self/cgroup | sort -u";
    let name = ground.can(own).trim().to_owned();
    assert!(name.starts_with("bestow-") && !name.contains('\n'), "{ground}: {name:?}");
    assert_eq!(groups_with(&name), Vec::<PathBuf>::new(), "{ground}: the group is gone with its command");
    let leave = "for procs in $(find /sys/fs/cgroup -name cgroup.procs -o -name tasks 2>/dev/null); do \
                 echo $$ > $procs && echo left; done 2>/dev/null; \
                 for file in $(find /sys/fs/cgroup -path '*bestow-*' -type f 2>/dev/null); do \
                 echo max > $file && echo $file; done 2>/dev/null; ";
    let told = ground.can(&format!("{leave} {own}"));
    assert!(told.starts_with("bestow-") && told.lines().count() == 1, "{ground}: {told}");
    let small = ground.profile().limited(limits(&[("total_memory", "100MiB"), ("time", "30s"), ("processes", "50")]));
    let one = ground.sh_under(&small, "python3 -c 'x = bytearray(48 << 20)'");
    assert_eq!((one.code, has_groups(&one)), (Some(0), true), "{ground}: {one:?}");
    assert_eq!(one.facts.process_limits.get("total_memory"), Some(&(100 << 20)), "{ground}");
    // Each child stops when it has its memory, or is killed.
    let hoard = "python3 -c '\nimport os\nall = []\nfor _ in range(4):\n    pid = os.fork()\n    if pid == 0:\n        \
                 x = bytearray(48 << 20)\n        x[::4096] = b\"x\" * len(x[::4096])\n        \
                 os._exit(0) if os.read(0, 1) else os.kill(os.getpid(), 19)\n    all.append(pid)\n\
                 ends = [os.waitpid(pid, os.WUNTRACED)[1] for pid in all]\n\
                 print(sum(1 for end in ends if os.WIFSIGNALED(end) and os.WTERMSIG(end) == 9))\n'";
    let done = ground.sh_under(&small, hoard);
    let killed = shown(&done.stdout.bytes);
    assert!(!done.timed_out && killed != "0\n", "{ground}: four times 48 MiB do not fit: {done:?}");
    let bomb = "i=0; while [ $i -lt 300 ]; do sleep 999 & i=$((i+1)); done 2>/dev/null; echo $i";
    let done = ground.sh_under(&small, bomb);
    assert_ne!(shown(&done.stdout.bytes), "300\n", "{ground}: {done:?}");
}

#[test]
pub(super) fn a_group_bounds_what_a_command_starts_where_this_user_can_make_one() {
    everywhere(|ground| {
        if has_groups(&ground.sh("true")) {
            bounds_what_a_command_starts(ground);
        } else if ground.is_root {
            eprintln!("notice: {ground}: root can make no control group here; not tested");
        }
    });
}

/// Gives this process groups of its own, which belong to the ordinary user, and takes them away at the end.
struct Delegated(Vec<(PathBuf, PathBuf)>);

impl Delegated {
    fn of_this_process() -> Delegated {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let of = |controller: &str| {
            let line = own.lines().find(|line| line.split(':').nth(1) == Some(controller))?;
            let above = PathBuf::from(format!("/sys/fs/cgroup/{controller}{}", line.splitn(3, ':').nth(2)?));
            let below = above.join(format!("test-{}", std::process::id()));
            fs::create_dir(&below).ok()?;
            for path in [below.clone(), below.join("cgroup.procs")] {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            fs::write(below.join("cgroup.procs"), std::process::id().to_string()).unwrap();
            Some((above, below))
        };
        Delegated(["memory", "pids"].into_iter().filter_map(of).collect())
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        for (above, below) in &self.0 {
            fs::write(above.join("cgroup.procs"), std::process::id().to_string()).unwrap();
            fs::remove_dir(below).unwrap();
        }
    }
}

#[test]
fn a_group_that_belongs_to_an_ordinary_user_bounds_its_commands() {
    let name = "sandbox::limits::a_group_that_belongs_to_an_ordinary_user_bounds_its_commands";
    crate::fs::process::alone(name, &[], || {
        let delegated = Delegated::of_this_process();
        if delegated.0.len() < 2 {
            return eprintln!("notice: no group of version 1 can be delegated here; not tested");
        }
        everywhere(|ground| {
            if !ground.is_root {
                bounds_what_a_command_starts(ground);
            }
        });
    });
}

#[test]
fn a_root_that_reaches_control_groups_is_refused() {
    everywhere(|ground| {
        let write = Permission::write("/sys/fs/cgroup".parse().unwrap());
        let profile = Profile::of(&scope(&ground.world.workspace(), &[write]), []).unwrap().without_guard();
        if has_groups(&ground.sh("true")) {
            let why = ground.sandbox.run(&profile, &Command::new("true")).unwrap_err().to_string();
            assert!(why.contains("/sys/fs/cgroup") && why.contains("control groups"), "{ground}: {why}");
        }
    });
}
