//! Tests of restrictions that cover each other: each would be open if only the other one existed.

use std::{fs, process::Command as Process};

use bestow::{
    Permission,
    sandbox::{Command, Profile, ProfileError, Sandbox},
};
use rustix::fs::{IFlags, ioctl_getflags};

use super::ground::{everywhere, scope, shown, with_bubblewrap, with_landlock};

/// The calls FS_IOC_SETFLAGS with FS_NODUMP_FL, FS_IOC_FSSETXATTR with a project, and FS_IOC_SETVERSION.
const ATTRIBUTES: [&str; 3] =
    ["0x40086602, bytes([64,0,0,0,0,0,0,0])", "0x401c5820, bytes(28)", "0x40087602, bytes(8)"];

#[test]
fn an_ioctl_changes_no_attribute_of_a_file_that_is_only_read() {
    everywhere(|ground| {
        let flags = || ioctl_getflags(fs::File::open(ground.path("outside/secret")).unwrap());
        let Ok(before) = flags() else { return eprintln!("notice: files have no flags here; not tested") };
        assert!(!before.contains(IFlags::NODUMP), "{ground}");
        for words in ATTRIBUTES {
            ground.cannot(&format!("python3 -c 'import fcntl,sys; fcntl.ioctl(open(sys.argv[1]), {words})' $O/secret"));
        }
        assert_eq!(flags().unwrap(), before, "{ground}");
    });
}

#[test]
pub(super) fn no_user_namespace_is_made_and_no_setting_of_the_kernel_changed() {
    with_bubblewrap(|ground| {
        // The command already runs in a user namespace.
        let ids = ground.can("id -u; cat /proc/self/uid_map");
        let own = rustix::process::geteuid().as_raw().to_string();
        assert!(ids.starts_with(&format!("{own}\n")), "{ground}: {ids}");
        for name in ["user/max_user_namespaces", "kernel/pid_max", "kernel/hostname", "kernel/domainname"] {
            ground.cannot(&format!("echo 1000 > /proc/sys/{name}"));
            ground.cannot(&format!("chmod 666 /proc/sys/{name}"));
        }
        ground.cannot("unshare -U true");
        ground.cannot("mount -o remount,bind,rw /proc/sys");
    });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn without_landlock_the_other_walls_hold_and_the_facts_name_what_does_not() {
    with_bubblewrap(|ground| {
        crate::fs::process::on_own_thread(|| {
            super::refusing::without_landlock();
            for line in [
                "echo x > .git/config",
                "mv .git g",
                "echo x > $O/secret",
                "echo 1000 > /proc/sys/kernel/pid_max",
                "echo 1000 > /proc/sys/user/max_user_namespaces",
            ] {
                ground.cannot(line);
            }
            let facts = ground.sh("true").facts;
            assert_eq!((facts.enforced.as_str(), facts.not_enforced.len()), ("partial", 1), "{facts:?}");
            assert!(facts.not_enforced[0].contains("no Landlock"), "{facts:?}");
        });
    });
}

#[test]
fn the_facts_say_what_is_not_in_force() {
    with_bubblewrap(|ground| {
        let facts = ground.sh("true").facts;
        assert_eq!((facts.enforced.as_str(), facts.not_enforced.len()), ("full", 0), "{facts:?}");
        let facts = ground.sh_under(&ground.profile().without_guard(), "true").facts;
        assert_eq!((facts.enforced.as_str(), facts.not_enforced.len()), ("partial", 1), "{facts:?}");
        assert!(facts.not_enforced[0].contains("sensitive names"), "{facts:?}");
    });
    with_landlock(|ground| {
        let facts = ground.sh("true").facts;
        assert_eq!(facts.enforced, "partial", "{ground}");
        for what in ["processes are seen", "killed together", "ioctl", "sensitive names"] {
            assert!(facts.not_enforced.iter().any(|told| told.contains(what)), "{ground}: {what}: {facts:?}");
        }
        // The fact is correct.
        let host = std::process::id();
        ground.can(&format!("grep -q . /proc/{host}/comm"));
    });
}

#[test]
pub(super) fn what_stands_above_a_mount_is_no_way_below_it() {
    with_bubblewrap(|ground| {
        let root = Permission::write(ground.world.workspace().parse().unwrap());
        for below in ["workspace/repo", "workspace"] {
            fs::create_dir_all(ground.path("workspace/repo/.git")).unwrap();
            let profile = Profile::of(&scope(&ground.world.text(below), std::slice::from_ref(&root)), []).unwrap();
            for process in ["1", "self", "$PPID", "2"] {
                for way in ["cwd", "root"] {
                    let place = if way == "cwd" { String::new() } else { ground.world.text(below) };
                    for name in [".git", "repo/.git", "../repo/.git"] {
                        let line = format!("mkdir /proc/{process}/{way}/{place}/{name}/hooks");
                        ground.cannot_under(&profile, &line);
                    }
                }
            }
            ground.cannot_under(&profile, &format!("mv {0}/repo {0}/other", ground.world.workspace()));
        }
        assert_eq!(fs::read_dir(ground.path("workspace/repo/.git")).unwrap().count(), 0, "{ground}");
    });
}

#[test]
fn a_workspace_below_a_directory_of_agents_is_guarded_like_any_other() {
    with_bubblewrap(|ground| {
        ground.world.file("tree/.claude/worktrees/one/src/lib.rs", "inside");
        ground.world.file("tree/.claude/worktrees/one/sub/.git/config", "inside");
        let root = ground.world.text("tree/.claude/worktrees/one");
        let profile = Profile::of(&scope(&root, &[Permission::write(root.parse().unwrap())]), []).unwrap();
        for line in [
            "mkdir -p .claude && echo x > .claude/settings.json",
            "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
            "echo x > .mcp.json",
            "echo x > sub/.git/config",
            "mv sub other",
            "echo x > ../../settings.json",
        ] {
            ground.cannot_under(&profile, line);
        }
        assert_eq!(ground.sh_under(&profile, "echo x > new && echo x > src/lib.rs").code, Some(0), "{ground}");
    });
}

#[test]
fn no_command_writes_where_sandboxes_keep_what_they_hold() {
    everywhere(|ground| {
        ground.can("true");
        let own = format!("/dev/shm/bestow-{}", rustix::process::geteuid().as_raw());
        let _ = fs::create_dir(&own);
        let inside = format!("{own}/seen");
        let _ = fs::create_dir(&inside);
        for root in [own.as_str(), inside.as_str(), "/dev/shm"] {
            let profile = Profile::of(&scope(root, &[Permission::write(root.parse().unwrap())]), []).unwrap();
            let profile = if ground.over == "landlock" { profile.without_guard() } else { profile };
            let line = format!("echo x > {own}/seen/ran || echo x > {own}/ran");
            match ground.sandbox.run(&profile, &Command::new("sh").args(["-c", &line])) {
                Ok(done) => assert!(root == "/dev/shm" && done.code != Some(0), "{ground}: {root}: {done:?}"),
                Err(why) => assert!(why.to_string().contains(&own), "{ground}: {root}: {why}"),
            }
            let is_there = |name: &str| std::path::Path::new(&own).join(name).exists();
            assert!(!is_there("ran") && !is_there("seen/ran"), "{ground}: {root}");
        }
    });
}

#[test]
fn a_wrong_home_does_not_open_the_real_one() {
    let name = "sandbox::walls::a_wrong_home_does_not_open_the_real_one";
    crate::fs::process::alone(name, &["env", "HOME=/nonexistent"], || {
        let own = rustix::process::geteuid().as_raw().to_string();
        let users = fs::read_to_string("/etc/passwd").unwrap();
        let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let home =
            fields.filter(|fields| fields.get(2) == Some(&own.as_str())).find_map(|fields| fields.get(5).copied());
        let Some(home) = home.filter(|home| fs::metadata(home).is_ok()) else {
            return eprintln!("notice: this user has no home; not tested");
        };
        let profile = Profile::of(&scope("/", &[Permission::write(home.parse().unwrap())]), []);
        assert!(matches!(profile, Err(ProfileError::TooWide(_))), "{profile:?}");
    });
}

/// Returns the result of `Sandbox::find` in a process with this `PATH`.
fn found(path: &std::path::Path) -> String {
    let mut host = Process::new(std::env::current_exe().unwrap());
    host.args(["--exact", "sandbox::walls::a_host_that_looks_for_its_helper", "--nocapture"]);
    let told = host.env("BESTOW_TEST_FIND", "1").env("PATH", path).output().unwrap();
    shown(&told.stdout)
}

/// The host of the test below, in another process. Alone it does nothing.
#[test]
fn a_host_that_looks_for_its_helper() {
    if std::env::var_os("BESTOW_TEST_FIND").is_some() {
        println!("found: {:?}", Sandbox::find().map_err(|why| why.to_string()));
    }
}

#[test]
fn a_helper_is_not_found_where_others_could_have_put_it() {
    use std::os::unix::fs::PermissionsExt;
    everywhere(|ground| {
        let mode = |path: &str, mode| fs::set_permissions(ground.path(path), fs::Permissions::from_mode(mode)).unwrap();
        fs::create_dir_all(ground.path("workspace/bin")).unwrap();
        fs::copy("/bin/true", ground.path("workspace/bin/bestow")).unwrap();
        let told = found(&ground.path("workspace/bin"));
        assert!(told.contains("found: Ok"), "{ground}: {told}");
        for (path, open) in [("workspace/bin", 0o777), ("workspace", 0o775), ("workspace/bin/bestow", 0o757)] {
            mode(path, open);
            let told = found(&ground.path("workspace/bin"));
            assert!(
                told.contains("found: Err") && told.contains("no other user can write"),
                "{ground}: {path}: {told}"
            );
            mode(path, 0o755);
        }
        let told = found(std::path::Path::new("workspace/bin"));
        assert!(told.contains("found: Err"), "{ground}: a place that depends on where one stands: {told}");
        // The only helper lies in a directory that this command may write.
        let sandbox = Sandbox::with_helper(ground.path("workspace/bin/bestow"));
        let sandbox = if ground.over == "landlock" { sandbox.without_bubblewrap() } else { sandbox };
        let why = sandbox.run(&ground.profile(), &Command::new("true")).unwrap_err().to_string();
        assert!(why.contains("install it in another directory"), "{ground}: {why}");
    });
}
