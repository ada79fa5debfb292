//! Runs a test as another user, under a filter, or alone in a separate process.

use std::{env, process::Command, thread};

use rustix::{
    process::{Gid, Uid, geteuid},
    thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid},
};

/// A variable that is set in the process in which a test runs alone.
const ALONE: &str = "BESTOW_TEST_ALONE";

/// The user and group that own nothing.
const NOBODY: u32 = 65_534;

/// The wrapper for a separate mount namespace. A user namespace makes root unnecessary.
pub(crate) const WITH_MOUNTS: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];

/// Runs `work` in a process in which only the test `name` runs, started through `wrapper`.
pub(crate) fn alone(name: &str, wrapper: &[&str], work: impl FnOnce()) {
    if env::var_os(ALONE).is_some() {
        return work();
    }
    let this = env::current_exe().unwrap();
    let words: Vec<_> = wrapper.iter().map(AsRef::as_ref).chain([this.as_os_str()]).collect();
    let output = Command::new(words[0]).args(&words[1..]).args(["--exact", name]).env(ALONE, "1").output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("1 passed"), "the test was not found under the name it gave: {told}");
}

/// Runs a program that must succeed.
pub(crate) fn run(program: &str, args: &[&str]) {
    assert!(Command::new(program).args(args).status().unwrap().success(), "{program} {args:?}");
}

/// Runs `work` as a user without privileges: as nobody if root runs the tests, as the current user otherwise.
pub(crate) fn as_ordinary_user(work: impl FnOnce() + Send) {
    on_own_thread(|| {
        if geteuid().is_root() {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            set_thread_groups(&[]).unwrap();
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
        }
        work();
    });
}

/// Runs `work` on a new thread. Its changes of the user and its filters end with the thread.
pub(crate) fn on_own_thread(work: impl FnOnce() + Send) {
    thread::scope(|scope| {
        if let Err(panic) = scope.spawn(work).join() {
            std::panic::resume_unwind(panic);
        }
    });
}
