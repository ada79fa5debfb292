//! bubblewrap: the program that creates namespaces and mounts.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{Profile, mounts::Mount, own_mounts::CAPABILITIES, trusted::is_the_systems};

/// An installed bubblewrap program.
#[derive(Clone, Debug)]
pub(super) struct Bubblewrap {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

impl Bubblewrap {
    /// Finds bubblewrap, in `/usr/bin` first. On systems that restrict user namespaces, that copy is the one allowed to
    /// create them. The search executes a program to ask its version only if no agent and no other user can have put it
    /// there.
    pub(super) fn find() -> Option<Bubblewrap> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let first = [PathBuf::from("/usr/bin")];
        let found = first.into_iter().chain(std::env::split_paths(&path).filter(|dir| dir.is_absolute()));
        found.map(|dir| dir.join("bwrap")).filter(|path| is_the_systems(path)).find_map(|path| Bubblewrap::at(&path))
    }

    fn at(path: &Path) -> Option<Bubblewrap> {
        let told = std::process::Command::new(path).arg("--version").env_clear().output().ok()?;
        let version = String::from_utf8(told.stdout).ok()?;
        let version = version.strip_prefix("bubblewrap ")?.trim().to_owned();
        told.status.success().then(|| Bubblewrap { path: path.to_owned(), version })
    }
}

/// The arguments of every run. The command gets no access to the host's processes, names, capabilities, terminal and
/// environment.
const ALWAYS: [&str; 10] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
];

/// The program that bubblewrap starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Starts {
    /// The helper. It makes mounts itself, and later forbids everything that bubblewrap would forbid.
    Helper,
    /// The command itself.
    Command,
}

/// The size limit of `/dev/shm`, which is memory: 1 GiB, in bytes.
const SCRATCH: &str = "1073741824";

/// Builds the arguments of bubblewrap, up to and including the `--` before the program that it starts.
pub(super) fn words<'m>(
    profile: &Profile,
    starts: Starts,
    mounts: impl Iterator<Item = (&'m Path, Mount)>,
) -> Vec<OsString> {
    let more: &[&str] = match starts {
        Starts::Helper => &CAPABILITIES,
        Starts::Command => &["--disable-userns"],
    };
    let mut words: Vec<OsString> = ALWAYS.iter().chain(more).map(OsString::from).collect();
    // A network that is limited to some hosts needs its own namespace. That namespace contains only a listener.
    if !profile.network || profile.is_kept_to_hosts() {
        words.push("--unshare-net".into());
    }
    words
        .extend(["--ro-bind", "/", "/", "--dev", "/dev", "--size", SCRATCH, "--tmpfs", "/dev/shm"].map(OsString::from));
    // Devices stay writable. Other files in `/dev` could fill the memory of the machine.
    words.extend(["--remount-ro", "/dev", "--proc", "/proc"].map(OsString::from));
    for (path, mount) in mounts {
        let path = path.as_os_str();
        match mount {
            Mount::Write | Mount::Pinned => words.extend([OsStr::new("--bind"), path, path].map(OsString::from)),
            Mount::ReadOnly | Mount::Link | Mount::Place => {
                words.extend([OsStr::new("--ro-bind"), path, path].map(OsString::from));
            }
            // Only the helper makes such a mount.
            Mount::Open => {}
            Mount::HiddenDirectory => words.extend(empty("0000", path)),
            Mount::Absent => words.extend(empty("0555", path)),
            Mount::HiddenFile => {
                words.extend([OsStr::new("--ro-bind"), OsStr::new("/dev/null"), path].map(OsString::from));
            }
        }
    }
    // The command can reach the working directory of bubblewrap's own process in the sandbox. That directory must not
    // lie below mounts that come later.
    let cwd = match starts {
        Starts::Helper => "/",
        Starts::Command => profile.cwd.as_str(),
    };
    words.extend(["--chdir", cwd, "--"].map(OsString::from));
    words
}

/// Builds the arguments for a read-only empty directory.
fn empty(mode: &str, path: &OsStr) -> [OsString; 6] {
    let [perms, tmpfs, remount] = ["--perms", "--tmpfs", "--remount-ro"].map(OsString::from);
    [perms, mode.into(), tmpfs, path.into(), remount, path.into()]
}
