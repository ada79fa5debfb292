//! The state of a process, as the kernel reports it to the host.

use std::{
    borrow::Cow,
    collections::HashMap,
    ffi::OsString,
    io,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::PathBuf,
};

use rustix::{fs::fstat, process::Pid};

use super::mounts::{HIDDEN_DIRECTORY, HIDDEN_FILE, Mount, Mounts, STOCK, said};

/// Checks that a descriptor of a process is the socket that the host sent. Returns its description for the facts.
pub(super) fn reaches(pid: Pid, fd: i32, socket: &OwnedFd) -> Result<String, String> {
    let said = |why: &dyn std::fmt::Display| format!("the socket of the engine cannot be verified: {why}");
    let there = std::fs::read_link(format!("/proc/{}/fd/{fd}", pid.as_raw_nonzero())).map_err(|why| said(&why))?;
    let inode = fstat(socket).map_err(|why| said(&why))?.st_ino;
    if there.as_os_str() != format!("socket:[{inode}]").as_str() {
        return Err(said(&"it is another one"));
    }
    Ok(format!("descriptor {fd}: the engine"))
}

/// Checks that a process is not in the network namespace of the host.
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

/// The lines of `/proc/<pid>/status` that show the confinement.
#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) no_new_privs: bool,
    pub(super) seccomp_filters: u32,
    pub(super) capabilities: String,
}

/// The capability sets of a process, of its children, and of the programs that it executes.
const CAPABILITIES: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];

impl Status {
    /// Reads the status of a process, and checks that it has no capabilities. In a user namespace of its own, the
    /// process must also have an empty bounding set, so that it can never regain one.
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

    /// Returns the first required restriction that is not in force.
    fn complaint(&self) -> Option<String> {
        [(!self.no_new_privs, "no_new_privs is not in force"), (self.seccomp_filters == 0, "seccomp is not in force")]
            .into_iter()
            .find_map(|(is_wrong, what)| is_wrong.then(|| what.to_owned()))
    }
}

/// A mount, as the kernel reports it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mounted<'t> {
    /// The directory of the file system that is mounted, as the kernel writes it.
    root: &'t [u8],
    is_read_only: bool,
    file_system: &'t [u8],
}

impl<'t> Mounted<'t> {
    /// Parses a line of `mountinfo`. Returns the mount with its path.
    fn read(line: &'t [u8]) -> Option<(Cow<'t, [u8]>, Mounted<'t>)> {
        let mut words = line.split(|byte| *byte == b' ');
        let root = words.nth(3)?;
        let place = decoded(words.next()?);
        let is_read_only = words.next()?.split(|byte| *byte == b',').any(|option| option == b"ro");
        let file_system = words.skip_while(|word| *word != b"-").nth(1)?;
        Some((place, Mounted { root, is_read_only, file_system }))
    }

    fn is_empty_one(&self) -> bool {
        self.is_read_only && self.file_system == b"tmpfs"
    }

    /// Returns true if the root of the mount has this name.
    fn is_named(&self, name: &str) -> bool {
        self.root.rsplit(|byte| *byte == b'/').next() == Some(name.as_bytes())
    }

    fn is(&self, mount: Mount) -> bool {
        match mount {
            Mount::Pinned | Mount::Write | Mount::Open => true,
            Mount::ReadOnly | Mount::Link | Mount::Place => self.is_read_only,
            Mount::HiddenFile => self.is_empty_one() && self.is_named(HIDDEN_FILE),
            // bubblewrap, and a directory with others that stay open, have an empty file system of their own.
            Mount::Absent | Mount::HiddenDirectory => {
                self.is_empty_one() && (self.is_named(HIDDEN_DIRECTORY) || self.root == b"/")
            }
        }
    }
}

/// Returns the text of the kernel about the mounts that a process sees.
pub(super) fn mountinfo(process: &str) -> io::Result<Vec<u8>> {
    std::fs::read(format!("/proc/{process}/mountinfo"))
}

/// Returns the mounts in a text of `mountinfo`, by path. If several are stacked on one path, the topmost counts.
pub(super) fn mounts_in(text: &[u8]) -> HashMap<Cow<'_, [u8]>, Mounted<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(Mounted::read).collect()
}

/// Checks that a process sees all of these mounts.
pub(super) fn sees(pid: Pid, mounts: &Mounts) -> Result<(), String> {
    let text = mountinfo(&pid.as_raw_nonzero().to_string());
    let text = text.map_err(|why| format!("the mounts cannot be read back: {why}"))?;
    let seen = mounts_in(&text);
    if seen.get(STOCK.as_bytes()).is_some_and(|seen| seen.file_system == b"tmpfs") {
        return Err("what hides paths is still at its place of preparation".into());
    }
    // An open directory is no protection, and may be gone by now.
    let mut promised = mounts.iter().filter(|(_, mount)| *mount != Mount::Open);
    match promised.find(|(path, mount)| !seen.get(path.as_os_str().as_bytes()).is_some_and(|seen| seen.is(*mount))) {
        None => Ok(()),
        Some((path, _)) => Err(format!("`{}` is not protected, because its mount is missing", said(path))),
    }
}

/// Decodes a path of `mountinfo`, in which blanks, line ends and backslashes are three octal digits.
pub(super) fn unescaped(text: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(decoded(text).into_owned()))
}

fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return text.into();
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { more.get(3..).unwrap_or_default() } else { more };
    }
    bytes.into()
}
