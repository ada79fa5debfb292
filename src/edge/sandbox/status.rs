//! What the kernel says of a process, from outside.

use std::os::fd::OwnedFd;

use rustix::{fs::fstat, process::Pid};

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

impl Status {
    pub(super) fn of(pid: Pid) -> Result<Status, String> {
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
        status.complaint().map_or(Ok(status), Err)
    }

    /// What is not in force that must be.
    fn complaint(&self) -> Option<String> {
        let has_capabilities = self.capabilities.is_empty() || self.capabilities.chars().any(|digit| digit != '0');
        [
            (!self.no_new_privs, "no_new_privs is not in force"),
            (self.seccomp_filters == 0, "seccomp is not in force"),
            (has_capabilities, "capabilities are left"),
        ]
        .into_iter()
        .find_map(|(is_wrong, what)| is_wrong.then(|| what.to_owned()))
    }
}
