//! What the kernel says of a process, from outside.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
    path::PathBuf,
};

use rustix::{fs::fstat, process::Pid};

use super::mounts::{Mount, Mounts, said};

/// The descriptor of a process that is the very socket it was handed, as facts name it.
pub(super) fn reaches(pid: Pid, fd: i32, socket: &OwnedFd) -> Result<String, String> {
    let said = |why: &dyn std::fmt::Display| format!("the way to the engine cannot be read back: {why}");
    let there = std::fs::read_link(format!("/proc/{}/fd/{fd}", pid.as_raw_nonzero())).map_err(|why| said(&why))?;
    let inode = fstat(socket).map_err(|why| said(&why))?.st_ino;
    if there.as_os_str() != format!("socket:[{inode}]").as_str() {
        return Err(said(&"it is another one"));
    }
    Ok(format!("descriptor {fd}: the engine"))
}

/// Checks that a process does not stand in the network of this one.
pub(super) fn has_a_network_of_its_own(pid: Pid) -> Result<(), String> {
    let of = |process: &str| {
        let path = format!("/proc/{process}/ns/net");
        std::fs::read_link(path).map_err(|why| format!("which network it is in cannot be read back: {why}"))
    };
    if of("self")? == of(&pid.as_raw_nonzero().to_string())? {
        return Err("it is in the network of the host".into());
    }
    Ok(())
}

/// The lines of `/proc/<pid>/status` that tell whether it is confined.
#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) no_new_privs: bool,
    pub(super) seccomp_filters: u32,
    pub(super) capabilities: String,
}

/// What a process, its children, and whatever it becomes could have.
const CAPABILITIES: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];

impl Status {
    /// Of a process that is to have no capabilities; and none ever again, where it stands in a user namespace of its own.
    pub(super) fn of(pid: Pid, has_namespaces: bool) -> Result<Status, String> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()))
            .map_err(|why| format!("what is in force cannot be read back: {why}"))?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(str::trim).unwrap_or_default()
        };
        let filters = if value("Seccomp") == "2" { value("Seccomp_filters").parse().unwrap_or(1) } else { 0 };
        let status = Status {
            no_new_privs: value("NoNewPrivs") == "1",
            seccomp_filters: filters,
            capabilities: value("CapEff").to_owned(),
        };
        let is_left = |set: &&&str| value(set).is_empty() || value(set).chars().any(|digit| digit != '0');
        match CAPABILITIES.iter().filter(|set| has_namespaces || **set != "CapBnd").find(is_left) {
            Some(set) => Err(format!("capabilities are left ({set})")),
            None => status.complaint().map_or(Ok(status), Err),
        }
    }

    /// What is not in force that must be.
    fn complaint(&self) -> Option<String> {
        [(!self.no_new_privs, "no_new_privs is not in force"), (self.seccomp_filters == 0, "seccomp is not in force")]
            .into_iter()
            .find_map(|(is_wrong, what)| is_wrong.then(|| what.to_owned()))
    }
}

/// One mount, as the kernel says it.
#[derive(Debug)]
pub(super) struct Mounted {
    /// The place in its file system that is seen there.
    root: PathBuf,
    is_read_only: bool,
    file_system: String,
}

impl Mounted {
    /// A line of `mountinfo`, and the place that it is about.
    fn read(line: &[u8]) -> Option<(PathBuf, Mounted)> {
        let mut words = line.split(|byte| *byte == b' ');
        let root = unescaped(words.nth(3)?);
        let place = unescaped(words.next()?);
        let is_read_only = words.next()?.split(|byte| *byte == b',').any(|option| option == b"ro");
        let file_system = words.skip_while(|word| *word != b"-").nth(1)?;
        let file_system = String::from_utf8_lossy(file_system).into_owned();
        Some((place, Mounted { root, is_read_only, file_system }))
    }

    fn is(&self, mount: Mount) -> bool {
        match mount {
            Mount::Pinned | Mount::Write => true,
            Mount::ReadOnly | Mount::Link | Mount::Place => self.is_read_only,
            Mount::HiddenFile => self.is_read_only && self.root.ends_with("null"),
            Mount::Absent | Mount::HiddenDirectory => self.is_read_only && self.file_system == "tmpfs",
        }
    }
}

/// The mounts that a process sees, each by its place; where several lie on each other, the uppermost.
pub(super) fn mount_points(process: &str) -> io::Result<BTreeMap<PathBuf, Mounted>> {
    let text = std::fs::read(format!("/proc/{process}/mountinfo"))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(Mounted::read).collect())
}

/// Checks that a process sees every one of these mounts.
pub(super) fn sees(pid: Pid, mounts: &Mounts) -> Result<(), String> {
    let seen = mount_points(&pid.as_raw_nonzero().to_string());
    let seen = seen.map_err(|why| format!("the mounts cannot be read back: {why}"))?;
    match mounts.iter().find(|(path, mount)| !seen.get(*path).is_some_and(|seen| seen.is(*mount))) {
        None => Ok(()),
        Some((path, _)) => Err(format!("`{}` is not kept as it is: its mount is not there", said(path))),
    }
}

/// A path of `mountinfo`: blanks, line ends and backslashes are three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { more.get(3..).unwrap_or_default() } else { more };
    }
    PathBuf::from(OsString::from_vec(bytes))
}
