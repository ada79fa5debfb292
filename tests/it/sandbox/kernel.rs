//! Tests of the system calls that a command can use, and of the processes that it can reach.

use super::ground::{everywhere, shown, with_landlock};

/// Returns a line that makes a system call by number, and prints its result.
fn call(number: i64, arguments: &str) -> String {
    format!(
        "exec python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); \
         print(c.syscall(*[ctypes.c_long(a) for a in [{number}, {arguments}]]), ctypes.get_errno())'"
    )
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_calls_that_lead_around_the_walls_are_refused() {
    everywhere(|ground| {
        // io_uring_setup, ptrace, process_vm_readv, keyctl, mount, umount2, unshare, setns, bpf, userfaultfd,
        // perf_event_open, chroot, open_by_handle_at, open_tree, fsopen, pidfd_getfd; clone with a user namespace.
        for number in [425, 101, 310, 250, 165, 166, 272, 308, 321, 323, 298, 161, 304, 428, 430, 438] {
            let told = ground.can(&call(number, "0, 0, 0, 0, 0, 0"));
            assert_eq!(told.trim(), "-1 1", "{ground}: {number}");
        }
        assert_eq!(ground.can(&call(56, "0x10000000, 0, 0, 0, 0, 0")).trim(), "-1 1", "{ground}: clone");
        assert_eq!(ground.can(&call(435, "0, 0, 0, 0, 0, 0")).trim(), "-1 38", "{ground}: clone3");
        // The x32 numbers of such calls. A kernel without x32 reports that they do not exist.
        for number in [425 + 0x4000_0000_i64, 41 + 0x4000_0000, 521 + 0x4000_0000] {
            let told = ground.can(&call(number, "1, 1, 0, 0, 0, 0"));
            assert!(["-1 1", "-1 38"].contains(&told.trim()), "{ground}: {number}: {told}");
        }
    });
}

#[test]
fn nothing_is_typed_into_a_terminal() {
    everywhere(|ground| {
        for request in ["0x5412", "0x541c", "0x100005412"] {
            let told = ground.can(&call(16, &format!("0, {request}, 0, 0, 0, 0")));
            assert_eq!(told.trim(), "-1 1", "{ground}: {request}");
        }
        ground.cannot("echo > /dev/tty");
    });
}

#[test]
pub(super) fn a_command_has_no_capability_and_gains_none() {
    everywhere(|ground| {
        let status = ground.can("cat /proc/self/status");
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
            line.unwrap_or_else(|| panic!("{name}")).trim().to_owned()
        };
        assert_eq!(value("NoNewPrivs"), "1", "{ground}");
        assert_eq!(value("Seccomp"), "2", "{ground}");
        for set in ["CapEff", "CapPrm", "CapInh", "CapAmb"] {
            assert_eq!(value(set), "0000000000000000", "{ground}: {set}");
        }
        if ground.is_root || ground.over == "bubblewrap" {
            assert_eq!(value("CapBnd"), "0000000000000000", "{ground}");
        }
    });
}

#[test]
fn root_is_not_root_in_there() {
    everywhere(|ground| {
        for line in [
            "mount -o remount,bind,rw /",
            "mount -t tmpfs none .",
            "umount -l .git || umount -l .",
            "mknod n c 1 3",
            "chroot . /bin/true",
            "nsenter -t 1 -m true",
            "unshare -U true",
            "echo 1 > /proc/sys/kernel/printk",
            "echo x > /proc/sysrq-trigger",
            "su -c true nobody",
        ] {
            ground.cannot(line);
        }
    });
}

#[test]
pub(super) fn other_processes_are_neither_seen_nor_signalled() {
    everywhere(|ground| {
        let host = std::process::id();
        for line in [
            format!("kill -0 {host}"),
            format!("cat /proc/{host}/environ"),
            format!("ls /proc/{host}/root/"),
            format!("ls /proc/{host}/cwd/"),
            format!("ls -l /proc/{host}/fd/"),
            format!("echo x > /proc/{host}/root{}/outside/new", ground.world.root()),
            format!("python3 -c 'import resource; resource.prlimit({host}, resource.RLIMIT_NOFILE, (9, 9))'"),
        ] {
            ground.cannot(&line);
        }
    });
}

#[test]
fn the_environment_is_the_commands_own() {
    everywhere(|ground| {
        let told = ground.can("exec env");
        let mut names: Vec<&str> = told.lines().filter_map(|line| line.split('=').next()).collect();
        names.sort_unstable();
        names.retain(|name| !["PWD", "_", "SHLVL", "OLDPWD"].contains(name));
        let expected: &[&str] =
            if ground.over == "bubblewrap" { &["LANG", "O", "PATH", "TMPDIR"] } else { &["LANG", "O", "PATH"] };
        assert_eq!(names, expected, "{ground}");
    });
}

#[test]
fn without_namespaces_nothing_is_shared_by_name() {
    with_landlock(|ground| {
        for line in ["ipcmk -M 4096", "ipcmk -S 1", "ipcmk -Q"] {
            ground.cannot(line);
        }
        let done = ground.sh("setsid true");
        assert_ne!(done.code, Some(0), "{ground}: {}", shown(&done.stderr.bytes));
    });
}

#[test]
fn a_program_that_would_make_it_the_superuser_does_not() {
    everywhere(|ground| {
        if ground.is_root || !rustix::process::geteuid().is_root() && !ground.world.exists("as-root") {
            return;
        }
        let without = std::process::Command::new(ground.path("as-root")).arg("-u").output().unwrap();
        assert_eq!(without.stdout, b"0\n", "without the sandbox it does");
        assert_ne!(ground.can("$O/../as-root -u").trim(), "0", "{ground}");
    });
}

#[test]
fn processes_beside_it_are_not_killed() {
    everywhere(|ground| {
        // A process of this user, and a child of this parent.
        let mut beside = std::process::Command::new("sleep").arg("999").spawn().unwrap();
        for line in
            [format!("kill -9 {}", beside.id()), "kill -9 $PPID && test -e /proc/$PPID".into(), "kill -9 -1".into()]
        {
            let done = ground.sh(&line);
            assert!(done.code != Some(0) || line.ends_with("-1"), "{ground}: {line}: {done:?}");
        }
        assert!(beside.try_wait().unwrap().is_none(), "{ground}");
        beside.kill().unwrap();
        beside.wait().unwrap();
    });
}

#[test]
fn the_root_of_another_process_is_no_way_out() {
    everywhere(|ground| {
        for line in [
            "echo x > /proc/1/root$O/new",
            "echo x > /proc/$PPID/root$O/new",
            "echo x > /proc/self/root$O/new",
            "echo x > /proc/$PPID/cwd/../outside/new",
        ] {
            ground.cannot(line);
        }
    });
}
