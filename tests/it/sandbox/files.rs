//! Tests of the parts of the file system that a command can change.

use std::{fs, os::fd::AsRawFd, process::Command as Process};

use bestow::{
    Permission,
    policy::SensitiveName,
    sandbox::{Command, Profile},
};

use super::ground::{everywhere, shown, with_bubblewrap};

#[test]
pub(super) fn a_command_writes_its_workspace_and_its_null_device() {
    everywhere(|ground| {
        ground.can("echo new > new && mkdir -p d/e && echo x > d/e/f && mv d/e/f g && rm g && echo x > /dev/null");
        assert_eq!(ground.world.content("workspace/new"), "new\n");
    });
}

#[test]
pub(super) fn a_command_reads_outside_and_changes_nothing_there() {
    everywhere(|ground| {
        assert_eq!(ground.can("cat $O/secret"), "secret");
        for line in [
            "echo x > $O/new",
            "echo x > $O/secret",
            "echo x >> $O/secret",
            "truncate -s 0 $O/secret",
            "mv $O/secret $O/other",
            "rm $O/secret",
            "mkdir $O/d",
            "ln $O/secret h",
            "mv $O/secret .",
            "ln -s $O/secret l && echo x > l",
            "mkfifo $O/p",
            "rmdir $O/dir || rm -r $O/dir",
            "cd $O && echo x > new",
        ] {
            ground.cannot(line);
        }
    });
}

#[test]
fn a_command_changes_no_mode_owner_time_or_attribute_outside() {
    everywhere(|ground| {
        let before = fs::metadata(ground.path("outside/secret")).unwrap();
        for line in [
            "chmod 777 $O/secret",
            "touch -d 2001-01-01 $O/secret",
            "chown $(id -u):$(id -g) $O/secret",
            "python3 -c 'import os,sys; os.setxattr(sys.argv[1], \"user.x\", b\"y\")' $O/secret",
            "python3 -c 'import os,sys; os.fchmod(os.open(sys.argv[1], os.O_RDONLY), 0o777)' $O/secret",
            "python3 -c 'import os,sys; os.utime(os.open(sys.argv[1], os.O_RDONLY))' $O/secret",
        ] {
            ground.cannot(line);
        }
        let after = fs::metadata(ground.path("outside/secret")).unwrap();
        assert_eq!(before.permissions(), after.permissions(), "{ground}");
        assert_eq!(before.modified().unwrap(), after.modified().unwrap(), "{ground}");
    });
}

#[test]
fn a_pipe_outside_is_not_written_although_a_read_only_mount_would_let_it() {
    everywhere(|ground| {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            ground.path("outside/dir/pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o666),
            0,
        )
        .unwrap();
        ground.cannot("timeout 5 sh -c 'echo x <> $O/dir/pipe >&0'");
    });
}

#[test]
fn other_directories_that_everybody_writes_are_not_written_or_are_private() {
    everywhere(|ground| {
        let name = format!("bestow-test-{}-{}", std::process::id(), ground.is_root);
        for dir in ["/tmp", "/var/tmp", "/dev/shm", "$HOME"] {
            ground.sh(&format!("echo x > {dir}/{name}"));
        }
        for dir in ["/tmp", "/var/tmp", "/dev/shm", "/", "/root"] {
            assert!(!std::path::Path::new(dir).join(&name).exists(), "{ground}: {dir}");
        }
    });
}

#[test]
pub(super) fn what_is_sensitive_in_the_workspace_stays_as_it_is() {
    with_bubblewrap(|ground| {
        for line in [
            "echo x > .git/config",
            "echo x > .git/hooks/old",
            "echo x > .git/hooks/pre-commit",
            "echo x > ./.git/../.git//config",
            "rm -rf .git || exit 1",
            "mv .git other",
            "mv .git/hooks .git/h",
            "rm .git/config",
            "chmod 777 .git/hooks",
        ] {
            ground.cannot(line);
        }
        assert_eq!(ground.world.content("workspace/.git/config"), "inside");
        assert!(!ground.world.exists("workspace/.git/hooks/pre-commit"));
    });
}

#[test]
fn what_is_sensitive_and_missing_cannot_be_made_and_nothing_is_left_behind() {
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        for name in [".git", ".codex", ".claude", ".vscode", ".mcp.json", ".npmrc", "agents.toml"] {
            ground.cannot(&format!("mkdir -p {name} && echo x > {name}/config"));
            ground.cannot(&format!("rmdir {name} && mkdir {name}"));
            ground.cannot(&format!("mv {name} other"));
            assert!(!ground.world.exists(&format!("workspace/{name}")), "{ground}: {name}");
        }
    });
}

#[test]
fn what_holds_a_place_stays_until_the_last_command_ends_and_goes_after_a_crash() {
    with_bubblewrap(|ground| {
        use std::os::unix::fs::PermissionsExt;
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        // A crash would leave this state.
        fs::create_dir(ground.path("workspace/.git")).unwrap();
        fs::set_permissions(ground.path("workspace/.git"), fs::Permissions::from_mode(0o1500)).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            ground.path("workspace/go"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        std::thread::scope(|scope| {
            let long = scope.spawn(|| ground.sh("cat go > went && mkdir .git/x"));
            let mut go = fs::OpenOptions::new().write(true).open(ground.path("workspace/go")).unwrap();
            ground.can("true");
            assert!(ground.world.exists("workspace/.git"), "the one who came last took it from the one who needs it");
            std::io::Write::write_all(&mut go, b"!").unwrap();
            drop(go);
            assert_ne!(long.join().unwrap().code, Some(0));
        });
        assert!(!ground.world.exists("workspace/.git"), "{ground}");
    });
}

#[test]
pub(super) fn the_directory_above_what_is_protected_cannot_be_renamed_away() {
    with_bubblewrap(|ground| {
        fs::create_dir_all(ground.path("workspace/repo/.git/hooks")).unwrap();
        if !ground.is_root && rustix::process::geteuid().is_root() {
            return;
        }
        let attack = "mv repo repo2 && mkdir -p repo/.git/hooks && echo x > repo/.git/hooks/pre-commit";
        ground.cannot(attack);
        assert!(!ground.world.exists("workspace/repo2"), "{ground}");
        // Without pinned directories in between, these mounts do not stop the attack.
        let hooks = ground.world.text("workspace/repo/.git");
        let workspace = ground.world.workspace();
        let naive = Process::new("bwrap")
            .args(["--unshare-user", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", &workspace, &workspace])
            .args(["--ro-bind", &hooks, &hooks, "--chdir", &workspace, "sh", "-c", attack])
            .status()
            .unwrap();
        assert!(naive.success() && ground.world.exists("workspace/repo/.git/hooks/pre-commit"), "{ground}");
    });
}

#[test]
pub(super) fn what_is_hidden_is_not_read_by_any_name() {
    with_bubblewrap(|ground| {
        ground.world.link(ground.path("outside/secret"), "workspace/l");
        let profile = ground.profile_hiding(&[], &["outside/secret", "outside/dir", "workspace/f"]);
        for line in [
            "cat $O/secret",
            "cat l",
            "cp $O/secret c",
            "ls $O/dir/s",
            "cat $O/dir/s",
            "cat f",
            "ln f alias && cat alias",
            "cat /proc/self/cwd/f",
            "rm f",
            "mv f g",
            "chmod 700 $O/dir && cat $O/dir/s",
        ] {
            ground.cannot_under(&profile, line);
        }
        assert_eq!(ground.world.content("workspace/f"), "inside", "{ground}");
    });
}

#[test]
fn what_is_hidden_and_missing_cannot_be_made() {
    with_bubblewrap(|ground| {
        let profile = ground.profile_hiding(&[], &["workspace/etc/agents.toml"]);
        ground.cannot_under(&profile, "mkdir -p etc && echo x > etc/agents.toml");
        assert!(!ground.world.exists("workspace/etc"), "{ground}");
    });
}

#[test]
fn a_permission_that_names_something_sensitive_opens_that_and_nothing_beside_it() {
    with_bubblewrap(|ground| {
        let git = Permission::write(ground.world.text("workspace/.git").parse().unwrap());
        let profile = ground.profile_with(&[git]);
        let done = ground.sh_under(&profile, "echo x > .git/index");
        assert_eq!(done.code, Some(0), "{ground}: {}", shown(&done.stderr.bytes));
        ground.cannot_under(&profile, "echo x > .git/hooks/pre-commit");
        ground.cannot_under(&profile, "mv .git/hooks .git/h && mkdir .git/hooks && echo x > .git/hooks/pre-commit");
        ground.cannot_under(&profile, "mkdir .vscode/x");
    });
}

#[test]
fn a_descriptor_that_the_host_left_open_does_not_reach_the_command() {
    everywhere(|ground| {
        let open = fs::OpenOptions::new().read(true).write(true).open(ground.path("outside/secret")).unwrap();
        let dir = fs::File::open(ground.path("outside")).unwrap();
        for fd in [open.as_raw_fd(), dir.as_raw_fd()] {
            let this = format!("{}", std::process::id());
            assert!(std::path::Path::new(&format!("/proc/{this}/fd/{fd}")).exists());
        }
        rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
        rustix::io::fcntl_setfd(&dir, rustix::io::FdFlags::empty()).unwrap();
        // Without the sandbox the shell has them.
        let without = Process::new("sh").args(["-c", &format!("test -e /proc/self/fd/{}", open.as_raw_fd())]).status();
        assert!(without.unwrap().success());
        ground.cannot(&format!("test -e /proc/self/fd/{}", open.as_raw_fd()));
        ground.cannot(&format!("echo x > /proc/self/fd/{}/new", dir.as_raw_fd()));
        assert_eq!(ground.can("ls /proc/self/fd | wc -l").trim(), "4", "0, 1, 2 and the one that lists");
    });
}

#[test]
fn standing_somewhere_is_no_permission_to_write_there() {
    everywhere(|ground| {
        let workspace = Permission::write(ground.world.workspace().parse().unwrap());
        let outside = super::ground::scope(&ground.world.text("outside"), &[workspace]);
        let profile = bestow::sandbox::Profile::of(&outside, []).unwrap();
        let profile = if ground.over == "landlock" { profile.without_guard() } else { profile };
        ground.cannot_under(&profile, "echo x > new");
        let done = ground.sandbox.run(&profile, &Command::new("pwd")).unwrap();
        assert_eq!(shown(&done.stdout.bytes).trim(), ground.world.text("outside"));
    });
}

#[test]
fn what_agents_editors_shells_and_tools_obey_stays_as_it_is_wherever_it_stands() {
    with_bubblewrap(|ground| {
        let files = [
            ".vscode/tasks.json",
            ".mcp.json",
            ".claude/settings.json",
            ".env",
            ".env.local",
            ".bashrc",
            ".npmrc",
            "deploy.PEM",
            "repo/.idea/workspace.xml",
            "repo/src/.Envrc",
            "repo/credentials",
        ];
        for file in files {
            let below = format!("workspace/{file}");
            // The ground belongs to the ordinary user, so that user creates the files.
            assert!(
                Process::new("mkdir").arg("-p").arg(ground.path(&below).parent().unwrap()).status().unwrap().success()
            );
            fs::write(ground.path(&below), "inside").unwrap();
        }
        for file in files {
            for line in [
                format!("echo x > {file}"),
                format!("rm {file}"),
                format!("mv {file} other"),
                format!("echo x > new && mv new {file}"),
                format!("ln -f f {file}"),
            ] {
                ground.cannot(&line);
                assert_eq!(ground.world.content(&format!("workspace/{file}")), "inside", "{ground}: {line}");
            }
        }
    });
}

#[test]
fn names_that_were_added_are_as_sensitive_as_the_built_in_ones() {
    with_bubblewrap(|ground| {
        fs::write(ground.path("workspace/repo/src/key.P12"), "inside").unwrap();
        fs::create_dir(ground.path("workspace/deploy")).unwrap();
        let workspace = Permission::write(ground.world.workspace().parse().unwrap());
        let named = ["*.p12", "deploy", "prod.yml"].map(|name| name.parse::<SensitiveName>().unwrap());
        let scope = super::ground::scope(&ground.world.workspace(), &[workspace]);
        let profile = Profile::guarding(&scope, [], named).unwrap();
        for line in ["echo x > repo/src/key.P12", "echo x > deploy/x", "echo x > prod.yml", "mv deploy d"] {
            ground.cannot_under(&profile, line);
        }
        assert!(!ground.world.exists("workspace/prod.yml"), "{ground}");
        assert_eq!(ground.sh_under(&profile, "echo x > f").code, Some(0), "{ground}");
        // Without the names this profile allows it.
        ground.can("echo x > deploy/x");
    });
}

#[test]
fn writing_below_something_sensitive_that_is_named_opens_nothing_beside_it() {
    with_bubblewrap(|ground| {
        fs::create_dir_all(ground.path("workspace/.vscode/y")).unwrap();
        let inner = Permission::write(ground.world.text("workspace/.vscode/y").parse().unwrap());
        let profile = ground.profile_with(&[inner]);
        assert_eq!(ground.sh_under(&profile, "echo x > .vscode/y/made && echo x > f").code, Some(0), "{ground}");
        ground.cannot_under(&profile, "echo x > .vscode/tasks.json");
        ground.cannot_under(&profile, "mv .vscode/y .vscode/z");
        ground.cannot_under(&profile, "mv .vscode v");
    });
}

#[test]
fn what_is_hidden_in_procfs_is_hidden_and_processes_are_seen_by_nobody_else() {
    let cpus: bestow::path::SanitizedPath = "/proc/cpuinfo".parse().unwrap();
    let this: bestow::path::SanitizedPath = format!("/proc/{}", std::process::id()).parse().unwrap();
    everywhere(|ground| {
        let scope = super::ground::scope(&ground.world.workspace(), &[]);
        let profile = Profile::of(&scope, [cpus.clone(), this.clone(), "/proc/self".parse().unwrap()]).unwrap();
        if ground.over == "landlock" {
            // The command would see the command line of this process.
            let missing = ground.sandbox.cannot_enforce(&profile).join("; ");
            assert!(missing.contains("`/proc/cpuinfo`") && missing.contains(&format!("`{this}`")), "{missing}");
            assert!(ground.sandbox.run(&profile, &Command::new("true")).is_err());
            return;
        }
        ground.cannot_under(&profile, "grep -q . /proc/cpuinfo");
        ground.cannot_under(&profile, &format!("grep -q . {this}/cmdline && ! grep -q sh {this}/cmdline"));
        ground.can("grep -q . /proc/cpuinfo");
    });
}

#[test]
fn a_directory_to_stand_in_that_is_a_link_is_where_it_leads() {
    everywhere(|ground| {
        ground.world.link(ground.path("outside"), "workspace/out");
        let workspace = Permission::write(ground.world.workspace().parse().unwrap());
        let scope = super::ground::scope(&ground.world.text("workspace/out"), &[workspace]);
        let profile = Profile::of(&scope, []).unwrap();
        let profile = if ground.over == "landlock" { profile.without_guard() } else { profile };
        ground.cannot_under(&profile, "echo x > new");
        fs::remove_file(ground.path("workspace/out")).unwrap();
    });
}

/// A command that may not write cannot fill the memory either.
#[test]
pub(super) fn scratch_is_bounded_and_nothing_is_made_beside_the_devices() {
    with_bubblewrap(|ground| {
        let line = "echo x > /dev/new; echo x > /dev/null && echo x > /dev/shm/fine && \
            dd if=/dev/zero of=/dev/shm/big bs=64M count=17 2>&1 >/dev/null | tail -3; wc -c < /dev/shm/big";
        let done = ground.sh_under(&ground.profile(), line);
        let told = shown(&done.stdout.bytes) + &shown(&done.stderr.bytes);
        assert!(told.contains("/dev/new"), "{ground}: {told}");
        let kept: u64 = shown(&done.stdout.bytes).lines().last().unwrap().trim().parse().unwrap_or(u64::MAX);
        assert!(kept <= 1 << 30, "{ground}: {told}");
    });
}
