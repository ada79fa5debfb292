//! bubblewrap: the program that makes namespaces and mounts.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{Profile, mounts::Mount, own_mounts::CAPABILITIES, trusted::is_the_systems};

/// The program, as it was found.
#[derive(Clone, Debug)]
pub(super) struct Bubblewrap {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

impl Bubblewrap {
    /// `/usr/bin` first: where user namespaces are rationed, that is the one that is trusted to make them. Only one that no
    /// agent and no other user can have put there is even asked what it is.
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

/// What is always there: nothing of the host's processes, names, capabilities, terminal and environment.
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

/// Who the program is that bubblewrap starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Starts {
    /// The helper, which makes mounts itself, and then forbids what bubblewrap would forbid.
    Helper,
    /// The command.
    Command,
}

/// How much a command may keep in `/dev/shm`, which is memory: 1 GiB, in bytes.
const SCRATCH: &str = "1073741824";

/// The words for bubblewrap, up to and with the `--` before what it starts.
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
    // Kept to some hosts, it has a network of its own, with nothing but a door in it.
    if !profile.network || profile.is_kept_to_hosts() {
        words.push("--unshare-net".into());
    }
    words
        .extend(["--ro-bind", "/", "/", "--dev", "/dev", "--size", SCRATCH, "--tmpfs", "/dev/shm"].map(OsString::from));
    // Devices can be written all the same; files beside them would fill the machine's memory.
    words.extend(["--remount-ro", "/dev", "--proc", "/proc"].map(OsString::from));
    for (path, mount) in mounts {
        let path = path.as_os_str();
        match mount {
            Mount::Write | Mount::Pinned => words.extend([OsStr::new("--bind"), path, path].map(OsString::from)),
            Mount::ReadOnly | Mount::Link | Mount::Place => {
                words.extend([OsStr::new("--ro-bind"), path, path].map(OsString::from));
            }
            Mount::HiddenDirectory => words.extend(empty("0000", path)),
            Mount::Absent => words.extend(empty("0555", path)),
            Mount::HiddenFile => {
                words.extend([OsStr::new("--ro-bind"), OsStr::new("/dev/null"), path].map(OsString::from));
            }
        }
    }
    // Where bubblewrap's own process in there stands, the command can stand too: it must not be below mounts that come later.
    let cwd = match starts {
        Starts::Helper => "/",
        Starts::Command => profile.cwd.as_str(),
    };
    words.extend(["--chdir", cwd, "--"].map(OsString::from));
    words
}

/// A directory with nothing in it, and nothing to be put in it.
fn empty(mode: &str, path: &OsStr) -> [OsString; 6] {
    let [perms, tmpfs, remount] = ["--perms", "--tmpfs", "--remount-ro"].map(OsString::from);
    [perms, mode.into(), tmpfs, path.into(), remount, path.into()]
}
