//! The ground of a test: a workspace that a command may write, and an outside that it may not, as root and as nobody,
//! over each back end.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::PathBuf,
    process::Command as Process,
};

use bestow::{
    Permission,
    action::ExecScope,
    grant::PermissionSet,
    sandbox::{Command, Finished, Profile, Sandbox},
};
use rustix::process::geteuid;

use crate::fs::{process::as_ordinary_user, world::World};

/// The user that owns nothing else.
pub(crate) const NOBODY: u32 = 65_534;

pub(crate) struct Ground {
    pub(crate) world: World,
    pub(crate) sandbox: Sandbox,
    pub(crate) is_root: bool,
    pub(crate) over: &'static str,
}

/// Runs `test` as root (if root runs the tests) and as an ordinary user, over bubblewrap and over Landlock alone.
pub(crate) fn everywhere(test: impl Fn(&Ground) + Sync) {
    for over in ["bubblewrap", "landlock"] {
        over_backend(over, &test);
    }
}

/// Runs `test` as `everywhere` does, over bubblewrap only.
pub(crate) fn with_bubblewrap(test: impl Fn(&Ground) + Sync) {
    over_backend("bubblewrap", &test);
}

/// Runs `test` as `everywhere` does, over Landlock only.
pub(crate) fn with_landlock(test: impl Fn(&Ground) + Sync) {
    over_backend("landlock", &test);
}

fn over_backend(over: &'static str, test: &(impl Fn(&Ground) + Sync)) {
    if over == "bubblewrap" && !can_run("bwrap") {
        assert!(std::env::var_os("CI").is_none(), "bubblewrap is needed");
        return eprintln!("notice: bubblewrap is missing; not tested");
    }
    if geteuid().is_root() {
        test(&Ground::new(over, true));
    }
    let ground = Ground::new(over, false);
    as_ordinary_user(|| test(&ground));
}

pub(crate) fn can_run(program: &str) -> bool {
    Process::new(program).arg("--version").output().is_ok_and(|told| told.status.success())
}

impl Ground {
    fn new(over: &'static str, is_root: bool) -> Ground {
        let world = World::empty();
        for file in ["workspace/f", "workspace/repo/src/lib.rs", "workspace/.git/config", "workspace/.git/hooks/old"] {
            world.file(file, "inside");
        }
        for file in ["outside/secret", "outside/dir/s"] {
            world.file(file, "secret");
        }
        // The helper is copied, because the machine's own target directory may be closed to the user nobody.
        // Another process copies it: a descriptor of this process could be inherited by a child of another test.
        let words = ["-m", "755", crate::support::BESTOW];
        assert!(Process::new("install").args(words).arg(world.path("helper")).status().unwrap().success());
        fs::set_permissions(world.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        let sandbox = Sandbox::with_helper(world.path("helper"));
        let sandbox = if over == "landlock" { sandbox.without_bubblewrap() } else { sandbox };
        let ground = Ground { world, sandbox, is_root, over };
        if !is_root && geteuid().is_root() {
            ground.give_away();
            // A setuid program of root that runs with root's user.
            let words = ["-m", "4755", "/usr/bin/id"];
            assert!(Process::new("install").args(words).arg(ground.path("as-root")).status().unwrap().success());
        }
        ground
    }

    /// Gives all files to the ordinary user, including the outside, so that only the sandbox protects them.
    fn give_away(&self) {
        let mut directories = vec![self.world.path("")];
        while let Some(directory) = directories.pop() {
            chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
            for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    directories.push(entry.path());
                } else {
                    std::os::unix::fs::lchown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap();
                }
            }
        }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.world.path(below)
    }

    /// Returns a profile that writes the workspace, reads everything, and allows nothing else.
    pub(crate) fn profile(&self) -> Profile {
        self.profile_with(&[])
    }

    /// Returns this profile with more permissions.
    pub(crate) fn profile_with(&self, more: &[Permission]) -> Profile {
        self.profile_hiding(more, &[])
    }

    /// Returns this profile with more permissions, and with these paths below the ground hidden.
    pub(crate) fn profile_hiding(&self, more: &[Permission], hidden: &[&str]) -> Profile {
        let workspace = Permission::write(self.world.workspace().parse().unwrap());
        let named: Vec<_> = [workspace].into_iter().chain(more.iter().cloned()).collect();
        let hidden = hidden.iter().map(|path| self.world.text(path).parse().unwrap());
        let profile = Profile::of(&scope(&self.world.workspace(), &named), hidden).unwrap();
        if self.over == "landlock" { profile.without_guard() } else { profile }
    }

    /// Runs a shell line in the workspace.
    pub(crate) fn sh(&self, line: &str) -> Finished {
        self.sh_under(&self.profile(), line)
    }

    pub(crate) fn sh_under(&self, profile: &Profile, line: &str) -> Finished {
        let command = Command::new("sh").args(["-c", line]).env("O", self.world.text("outside"));
        self.sandbox.run(profile, &command).unwrap_or_else(|why| panic!("{self}: {line}: {why}"))
    }

    /// Runs a line that must succeed, and returns its output.
    pub(crate) fn can(&self, line: &str) -> String {
        let done = self.sh(line);
        assert_eq!(done.code, Some(0), "{self}: {line}: {}{}", shown(&done.stdout.bytes), shown(&done.stderr.bytes));
        shown(&done.stdout.bytes)
    }

    /// Runs a line that must fail. The outside must be unchanged.
    pub(crate) fn cannot(&self, line: &str) {
        self.cannot_under(&self.profile(), line);
    }

    pub(crate) fn cannot_under(&self, profile: &Profile, line: &str) {
        let done = self.sh_under(profile, line);
        assert!(!done.timed_out, "{self}: {line}");
        assert_ne!(done.code, Some(0), "{self}: {line}: {}", shown(&done.stdout.bytes));
        assert_eq!(self.world.content("outside/secret"), "secret", "{self}: {line}");
        assert_eq!(self.world.content("outside/dir/s"), "secret", "{self}: {line}");
        assert_eq!(fs::read_dir(self.path("outside")).unwrap().count(), 2, "{self}: {line}");
    }
}

impl std::fmt::Display for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "over {} as {}", self.over, if self.is_root { "root" } else { "nobody" })
    }
}

pub(crate) fn scope(working_dir: &str, named: &[Permission]) -> ExecScope {
    let mut caller = PermissionSet::empty(working_dir.parse().unwrap());
    named.iter().for_each(|permission| caller.insert(permission.clone()));
    ExecScope::of(&caller, named).unwrap()
}

pub(crate) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
