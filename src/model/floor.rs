//! The floor: paths that no grant covers in any engine. They are keys and passwords, processes, and disks.
//!
//! This module works with names only. The location of a home directory, the target of a link and the mount points of
//! proc file systems must be read from the disk. The code that starts an engine provides them.

use std::sync::Arc;

use super::{Access, SanitizedPath, is_device_name};

/// The beginning of the names of files in a home directory that have a credential of bestow: `.bestow-claude`.
pub(crate) const OF_BESTOW: &str = ".bestow-";

/// Paths below the home directory: keys, tokens and passwords of the person, and of the coding agents that run there.
/// The files of bestow are those that its manual names; an engine adds those that it finds ([`OF_BESTOW`]).
const IN_HOME: [&str; 42] = [
    ".aws",
    ".azure",
    ".bestow-claude",
    ".bestow-codex",
    ".bestow-copilot",
    ".bestow-gemini",
    ".bestow-lead",
    ".bitcoin",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/.credentials.json",
    ".codex/auth.json",
    ".config/1Password",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/github-copilot",
    ".config/op",
    ".config/rclone",
    ".copilot/config.json",
    ".copilot/mcp-oauth-config",
    ".docker",
    ".gem/credentials",
    ".gemini/a2a-oauth-tokens.json",
    ".gemini/gemini-credentials.json",
    ".gemini/mcp-oauth-tokens.json",
    ".gemini/oauth_creds.json",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
];

/// Paths of the machine: passwords, sudo rules, host keys, kernel internals.
const OF_THE_SYSTEM: [&str; 13] = [
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/kubernetes",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/root/.gnupg",
    "/root/.ssh",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
];

/// Files of the proc file system that describe the machine and no process.
const OPEN_IN_PROC: [&str; 16] = [
    "cpuinfo",
    "devices",
    "filesystems",
    "loadavg",
    "meminfo",
    "stat",
    "sys/fs/file-max",
    "sys/kernel/osrelease",
    "sys/kernel/ostype",
    "sys/kernel/pid_max",
    "sys/kernel/threads-max",
    "sys/kernel/version",
    "sys/vm/overcommit_memory",
    "uptime",
    "version",
    "vmstat",
];

/// Paths that no grant covers in any engine. Paths can be added and never removed.
///
/// `/proc` is closed by name, except a few system-wide files that can be read. Disks and the memory of the machine
/// below `/dev` are closed by name too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floor {
    protected: Arc<[SanitizedPath]>,
    /// The protected paths that belong to the engine.
    of_engine: Arc<[SanitizedPath]>,
    /// The mount points of proc file systems besides `/proc`.
    proc: Arc<[SanitizedPath]>,
}

impl Default for Floor {
    /// Returns the protected paths of the machine, without any home directory.
    fn default() -> Floor {
        let protected = parsed(OF_THE_SYSTEM.map(str::to_owned)).collect();
        Floor { protected, of_engine: Arc::default(), proc: Arc::default() }
    }
}

impl Floor {
    /// Adds the protected paths of this home directory.
    #[must_use]
    pub fn with_home(self, home: &SanitizedPath) -> Floor {
        let paths: Vec<_> = Floor::in_home(home).collect();
        self.with(paths)
    }

    /// Adds these paths.
    #[must_use]
    pub fn with(self, paths: impl IntoIterator<Item = SanitizedPath>) -> Floor {
        let mut all: Vec<_> = self.protected.iter().cloned().chain(paths).collect();
        all.sort();
        all.dedup();
        Floor { protected: all.into(), ..self }
    }

    /// Adds the paths of the engine, such as its state directory. They often lie in a project, so a person may let a
    /// search of the project read them.
    #[must_use]
    pub(crate) fn with_engine_at(self, paths: Vec<SanitizedPath>) -> Floor {
        Floor { of_engine: paths.clone().into(), ..self.with(paths) }
    }

    /// Returns the protected paths that do not belong to the engine.
    pub(crate) fn of_machine(&self) -> impl Iterator<Item = &SanitizedPath> {
        self.protected.iter().filter(|path| !self.of_engine.contains(path))
    }

    /// Adds mount points of proc file systems. No file below them is open.
    #[must_use]
    pub fn with_proc_at(self, paths: impl IntoIterator<Item = SanitizedPath>) -> Floor {
        Floor { proc: self.proc.iter().cloned().chain(paths).collect(), ..self }
    }

    /// Returns the protected paths. Only a line of a file that names exactly one of them gives access to it.
    pub fn protected(&self) -> &[SanitizedPath] {
        &self.protected
    }

    /// Returns the mount points besides `/proc` to which nothing gives access.
    pub fn proc(&self) -> &[SanitizedPath] {
        &self.proc
    }

    /// Returns the names that are protected in a home directory and on the machine.
    #[cfg_attr(not(feature = "config"), allow(dead_code, reason = "only a file follows them"))]
    pub(crate) fn names(home: Option<&SanitizedPath>) -> impl Iterator<Item = SanitizedPath> {
        home.into_iter().flat_map(Floor::in_home).chain(parsed(OF_THE_SYSTEM.map(str::to_owned)))
    }

    fn in_home(home: &SanitizedPath) -> impl Iterator<Item = SanitizedPath> {
        parsed(IN_HOME.map(|path| format!("{home}/{path}")))
    }
}

/// Parses the paths. An invalid path is skipped: it is too long, so no permission can name it either.
fn parsed<const N: usize>(paths: [String; N]) -> impl Iterator<Item = SanitizedPath> {
    paths.into_iter().filter_map(|path| path.parse().ok())
}

/// The status of a path by its name alone, independent of the object at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByName {
    /// Not closed by its name.
    Open,
    /// A disk, or the memory of the machine.
    Device,
    /// A file of a process, or of the kernel.
    Proc,
}

/// Classifies a path without links by its name alone.
#[inline]
pub(crate) fn by_name(access: Access, path: &str) -> ByName {
    if let Some(name) = below(path, "/proc") {
        return if is_open_in_proc(access, name) { ByName::Open } else { ByName::Proc };
    }
    match below(path, "/dev") {
        Some(name) if is_device_name(name, |_| false) => ByName::Device,
        Some(_) | None => ByName::Open,
    }
}

/// Returns true for a file of the proc file system that every process may read. `name` is relative to the root of that
/// file system.
fn is_open_in_proc(access: Access, name: &str) -> bool {
    access == Access::Read && OPEN_IN_PROC.contains(&name)
}

/// Returns the part of `path` below `root`, compared by components.
fn below<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    match path.strip_prefix(root)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_proc_only_a_few_files_about_the_machine_are_open_and_only_for_reading() {
        for open in OPEN_IN_PROC {
            assert_eq!(by_name(Access::Read, &format!("/proc/{open}")), ByName::Open, "{open}");
            assert_eq!(by_name(Access::Write, &format!("/proc/{open}")), ByName::Proc, "{open}");
        }
        for closed in ["", "/", "/1/environ", "/self", "/cmdline", "/kcore", "/cpuinfo/x", "/sys/kernel/core_pattern"] {
            assert_eq!(by_name(Access::Read, &format!("/proc{closed}")), ByName::Proc, "{closed}");
        }
        assert_eq!(by_name(Access::Read, "/process/x"), ByName::Open);
    }

    #[test]
    fn disks_and_memory_are_closed_and_other_devices_are_not() {
        for disk in ["sda", "sda1", "nvme0n1p2", "mapper/root", "dm-0", "mem", "kmem", "port", "vdb", "loop3"] {
            assert_eq!(by_name(Access::Read, &format!("/dev/{disk}")), ByName::Device, "{disk}");
        }
        for open in ["null", "zero", "urandom", "shm/x", "stdout", "tty"] {
            assert_eq!(by_name(Access::Write, &format!("/dev/{open}")), ByName::Open, "{open}");
        }
    }
}
