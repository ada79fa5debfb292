//! The floor of this machine: the homes, the targets of protected links, and the mount points of proc file systems.

use std::{collections::BTreeSet, fs as disk};

use crate::{
    fs,
    model::{Floor, OF_BESTOW, SanitizedPath},
};

impl Floor {
    /// Returns the floor of this machine, for the user of this process. It contains the homes from the password
    /// database and from `HOME`, the targets of links at protected paths, the process entry of this process, and the
    /// mounted proc file systems.
    ///
    /// The result is a snapshot. It does not contain links and mounts that are created later.
    pub fn of_this_machine() -> Floor {
        let homes = homes();
        let named = homes.iter().fold(Floor::default(), Floor::with_home);
        let named = named.with(homes.iter().flat_map(credentials_of_bestow));
        let led = named.protected().to_vec();
        let led = led.iter().filter_map(real);
        let of_this_process = format!("/proc/{}", std::process::id()).parse();
        named.with(led.chain(of_this_process)).with_proc_at(proc_mounts())
    }
}

/// Returns the files in a home that have a credential of bestow, by their names.
fn credentials_of_bestow(home: &SanitizedPath) -> Vec<SanitizedPath> {
    let entries = disk::read_dir(home.as_path()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(OF_BESTOW)).filter_map(|name| format!("{home}/{name}").parse().ok()).collect()
}

/// Returns the homes of the user of this process, from the password database and from `HOME`.
pub(crate) fn homes() -> BTreeSet<SanitizedPath> {
    passwd_home().into_iter().chain(env_home()).collect()
}

/// Returns the target of `path`. Returns none if this process may not resolve it. The path then stays protected by its
/// name.
fn real(path: &SanitizedPath) -> Option<SanitizedPath> {
    fs::real(path.as_str()).ok().map(|real| real.path().clone())
}

fn env_home() -> Option<SanitizedPath> {
    std::env::var("HOME").ok()?.parse().ok()
}

/// Returns the home of the effective user of this process. A wrong `HOME` does not change it.
fn passwd_home() -> Option<SanitizedPath> {
    home_in(&disk::read_to_string("/etc/passwd").ok()?, rustix::process::geteuid().as_raw())
}

/// Returns the home of `user` from the lines of a password database (passwd(5)).
fn home_in(passwd: &str, user: u32) -> Option<SanitizedPath> {
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    lines.find_map(|fields| match fields.as_slice() {
        [_, _, uid, _, _, home, ..] if uid.parse() == Ok(user) => home.parse().ok(),
        _ => None,
    })
}

/// Returns every path outside of `/proc` at which a proc file system, or a part of one, is mounted
/// (proc_pid_mountinfo(5)).
fn proc_mounts() -> Vec<SanitizedPath> {
    let mounts = disk::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    proc_in(&mounts).filter(|path| !is_below_proc(path)).collect()
}

fn is_below_proc(path: &SanitizedPath) -> bool {
    path.as_str() == "/proc" || path.as_str().starts_with("/proc/")
}

fn proc_in(mountinfo: &str) -> impl Iterator<Item = SanitizedPath> {
    mountinfo.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let is_proc = after.split(' ').next() == Some("proc");
        let place = before.split(' ').nth(4).filter(|_| is_proc)?;
        unescaped(place).parse().ok()
    })
}

/// Decodes spaces, tabs, line feeds and backslashes, which mountinfo writes as three octal digits.
fn unescaped(text: &str) -> String {
    [(r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", r"\")]
        .iter()
        .fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_the_sixth_field_of_the_line_with_the_users_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1000:1::/b:\n";
        let home = |user| home_in(passwd, user).map(String::from);
        assert_eq!((home(0).as_deref(), home(1000).as_deref()), (Some("/root"), Some("/home/ann")));
        assert_eq!(home(5), None);
    }

    #[test]
    fn proc_file_systems_are_found_by_their_type_wherever_they_are_mounted() {
        let mounts = "22 1 0:5 / /proc rw shared:1 - proc proc rw\n\
            23 1 0:6 / /sys rw - sysfs sysfs rw\n\
            24 1 0:7 /1/environ /mnt/a\\040b rw,nosuid - proc none rw\n\
            25 1 8:1 / /proc-like rw - ext4 /dev/proc rw\n";
        let found: Vec<String> = proc_in(mounts).map(String::from).collect();
        assert_eq!(found, ["/proc", "/mnt/a b"]);
    }
}
