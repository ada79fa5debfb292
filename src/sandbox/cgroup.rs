//! Control groups: limits for a command together with everything that it starts.
//!
//! The host makes one group for each command, beside or below the group of its own. It moves the helper into the group
//! before the helper becomes the command. The file system of groups is read-only for the command, so no process leaves
//! the group. A unified hierarchy (version 2) comes first. The hierarchies of version 1 are used for a controller that
//! the unified hierarchy does not offer.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::{
    fs::{Access, AtFlags, CWD, accessat},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, test_kill_process},
};
use std::os::fd::AsFd;

use super::status::unescaped;
use crate::model::{Escaped, Limits, SanitizedPath};

/// The beginning of the name of each group.
const PREFIX: &str = "bestow";

/// The time that killed processes have to end. A group with a process that takes longer is removed by a later run.
const TO_END: Duration = Duration::from_secs(5);

/// The number of groups that this process has made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// A directory in which this process can make groups.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    directory: PathBuf,
    is_unified: bool,
}

/// The control groups that this process can make on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ControlGroups {
    memory: Option<Place>,
    processes: Option<Place>,
    /// The mount points of all hierarchies.
    mounts: Vec<PathBuf>,
}

impl ControlGroups {
    /// Returns the control groups of this process.
    pub(super) fn here() -> ControlGroups {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
        ControlGroups::of(&own, &Hierarchy::all(&mounts))
    }

    /// Returns the control groups for a process with these groups (`/proc/self/cgroup`) and hierarchies.
    fn of(own: &str, hierarchies: &[Hierarchy]) -> ControlGroups {
        let offered = |name: &str| {
            let unified = hierarchies.iter().filter(|hierarchy| hierarchy.controllers.is_empty());
            let unified = unified.filter_map(|hierarchy| hierarchy.own(own)).find_map(|(mount, at)| {
                let above = at.parent().filter(|_| at != mount).map(Path::to_owned);
                above.into_iter().chain([at]).find(|directory| is_offered(directory, name))
            });
            let unified = unified.map(|directory| Place { directory, is_unified: true });
            unified.or_else(|| {
                let has_it = |hierarchy: &&Hierarchy| hierarchy.controllers.iter().any(|one| one == name);
                let (_, at) = hierarchies.iter().find(has_it)?.own(own)?;
                is_writable(&at).then_some(Place { directory: at, is_unified: false })
            })
        };
        let mounts = hierarchies.iter().map(|hierarchy| hierarchy.mount.clone()).collect();
        ControlGroups { memory: offered("memory"), processes: offered("pids"), mounts }
    }

    /// Returns true if the memory of a command can be limited as a whole.
    pub(super) fn can_limit_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Returns true if the processes of a command can be counted.
    pub(super) fn can_count_processes(&self) -> bool {
        self.processes.is_some()
    }

    /// Returns the first of these roots through which a command could write the limits of groups.
    pub(super) fn written<'r>(&self, mut roots: impl Iterator<Item = &'r SanitizedPath>) -> Option<&'r SanitizedPath> {
        roots.find(|root| {
            self.mounts.iter().any(|mount| mount.starts_with(root.as_path()) || root.as_path().starts_with(mount))
        })
    }

    /// Makes a group with these limits, or none if no limit needs one. Groups that killed hosts have left are removed.
    ///
    /// # Errors
    ///
    /// Fails if the kernel does not accept a group or a limit.
    pub(super) fn make(&self, limits: &Limits) -> io::Result<Option<Group>> {
        let wanted = |limit: Option<u64>| limit.filter(|limit| *limit != Limits::UNLIMITED);
        let memory = self.memory.as_ref().zip(wanted(limits.total_memory));
        let processes = self.processes.as_ref().zip(wanted(limits.processes));
        let mut group = Group {
            name: name(),
            directories: Vec::new(),
            memory: memory.map(|(_, limit)| limit),
            counts_processes: processes.is_some(),
        };
        let names = [("memory", memory.map(|(place, _)| place)), ("pids", processes.map(|(place, _)| place))];
        for (controller, place) in names.into_iter().filter_map(|(name, place)| Some((name, place?))) {
            group.make_in(place, controller)?;
        }
        if let Some((place, limit)) = memory {
            group.limit_memory(place, limit)?;
        }
        if let Some((place, limit)) = processes {
            write(&place.directory.join(&group.name).join("pids.max"), &limit.to_string())?;
        }
        Ok(Some(group).filter(|group| !group.directories.is_empty()))
    }
}

/// Returns the number of hierarchies in a text of `mountinfo`. Also reads the text as that of an own group and as a
/// name.
pub(super) fn hierarchies_in(text: &[u8]) -> usize {
    let all = Hierarchy::all(text);
    let own = String::from_utf8_lossy(text);
    let is_inside = |(mount, at): &(PathBuf, PathBuf)| at.starts_with(mount);
    assert!(
        all.iter().filter_map(|hierarchy| hierarchy.own(&own)).all(|found| is_inside(&found)),
        "a group is outside"
    );
    all.len() + host_of(&own).iter().count()
}

/// A mounted hierarchy of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hierarchy {
    mount: PathBuf,
    /// The group that is mounted.
    root: PathBuf,
    /// The controllers of a hierarchy of version 1. The unified hierarchy has none here.
    controllers: Vec<String>,
}

impl Hierarchy {
    /// Returns all hierarchies in `mountinfo`.
    fn all(mountinfo: &[u8]) -> Vec<Hierarchy> {
        mountinfo.split(|byte| *byte == b'\n').filter_map(Hierarchy::read).collect()
    }

    fn read(line: &[u8]) -> Option<Hierarchy> {
        let mut words = line.split(|byte| *byte == b' ');
        let (root, mount) = (unescaped(words.nth(3)?), unescaped(words.next()?));
        let mut rest = words.skip_while(|word| *word != b"-").skip(1);
        let (kind, options) = (rest.next()?, rest.nth(1)?);
        let options = String::from_utf8_lossy(options);
        let controllers = match kind {
            b"cgroup2" => Vec::new(),
            b"cgroup" => options.split(',').map(str::to_owned).collect(),
            _ => return None,
        };
        Some(Hierarchy { mount, root, controllers })
    }

    /// Returns the mount point, and the directory of the own group in this hierarchy. `own` is the text of
    /// `/proc/self/cgroup`.
    fn own(&self, own: &str) -> Option<(PathBuf, PathBuf)> {
        let group = own.lines().find_map(|line| {
            let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
            let is_this = match self.controllers.is_empty() {
                true => controllers.is_empty(),
                false => {
                    controllers.split(',').any(|name| !name.is_empty() && self.controllers.iter().any(|c| c == name))
                }
            };
            is_this.then_some(group)
        })?;
        let below = Path::new(group).strip_prefix(&self.root).ok()?;
        let is_inside = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        is_inside.then(|| (self.mount.clone(), self.mount.components().chain(below.components()).collect()))
    }
}

/// Returns true if this process can make groups in a directory and move processes into them.
fn is_writable(directory: &Path) -> bool {
    let may = |path: &Path| accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    may(directory) && may(&directory.join("cgroup.procs"))
}

/// Returns true if groups in a directory of the unified hierarchy have this controller, or can get it.
fn is_offered(directory: &Path, controller: &str) -> bool {
    if !is_writable(directory) {
        return false;
    }
    if has_word(&directory.join("cgroup.subtree_control"), controller) {
        return true;
    }
    // Only the root group can have processes and pass controllers on.
    let is_root = !directory.join("cgroup.type").exists();
    let is_empty = || fs::read_to_string(directory.join("cgroup.procs")).is_ok_and(|text| text.is_empty());
    has_word(&directory.join("cgroup.controllers"), controller) && (is_root || is_empty())
}

fn has_word(file: &Path, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|one| one == word))
}

/// Writes a file of a group, which exists already.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut open = fs::OpenOptions::new().write(true).open(file).map_err(|why| of(file, &why))?;
    open.write_all(text.as_bytes()).map_err(|why| of(file, &why))
}

fn of(file: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("`{}`: {why}", Escaped(&file.to_string_lossy())))
}

/// The group of one command. Dropping it kills all processes in it and removes it.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    directories: Vec<PathBuf>,
    memory: Option<u64>,
    counts_processes: bool,
}

impl Group {
    /// Returns the limit of the memory of all processes together.
    pub(super) fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Returns true if the group limits the number of processes.
    pub(super) fn counts_processes(&self) -> bool {
        self.counts_processes
    }

    fn make_in(&mut self, place: &Place, controller: &str) -> io::Result<()> {
        if place.is_unified && !has_word(&place.directory.join("cgroup.subtree_control"), controller) {
            write(&place.directory.join("cgroup.subtree_control"), &format!("+{controller}"))?;
        }
        let directory = place.directory.join(&self.name);
        if self.directories.contains(&directory) {
            return Ok(());
        }
        sweep(&place.directory);
        fs::create_dir(&directory).map_err(|why| of(&directory, &why))?;
        self.directories.push(directory);
        Ok(())
    }

    fn limit_memory(&self, place: &Place, limit: u64) -> io::Result<()> {
        let at = place.directory.join(&self.name);
        let limit = limit.to_string();
        if place.is_unified {
            write(&at.join("memory.max"), &limit)?;
            write(&at.join("memory.oom.group"), "1")?;
            return if_there(write(&at.join("memory.swap.max"), "0"));
        }
        write(&at.join("memory.limit_in_bytes"), &limit)?;
        if_there(write(&at.join("memory.memsw.limit_in_bytes"), &limit))
    }

    /// Moves a process into the group, and reads back that it is there.
    pub(super) fn enter(&self, pid: Pid) -> Result<(), String> {
        let pid = pid.as_raw_nonzero();
        for directory in &self.directories {
            write(&directory.join("cgroup.procs"), &pid.to_string())
                .map_err(|why| format!("the command cannot enter its control group: {why}"))?;
        }
        let told = fs::read_to_string(format!("/proc/{pid}/cgroup"))
            .map_err(|why| format!("the control group of the command cannot be read back: {why}"))?;
        let inside = told.lines().filter(|line| line.rsplit('/').next() == Some(&self.name)).count();
        match inside < self.directories.len() {
            true => Err("the command is not in its control group".into()),
            false => Ok(()),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A later run removes a group that cannot be removed now.
        self.directories.iter().for_each(|directory| remove(directory));
    }
}

/// Accepts that a file does not exist.
fn if_there(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|why| if why.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(why) })
}

#[expect(clippy::disallowed_methods, reason = "the kernel ends processes in real time")]
fn now() -> Instant {
    Instant::now()
}

/// Kills all processes in a group, waits for their end, and removes the group.
fn remove(directory: &Path) {
    // No process starts meanwhile.
    let _ = write(&directory.join("pids.max"), "0");
    let _ = write(&directory.join("cgroup.kill"), "1");
    let until = now() + TO_END;
    loop {
        let processes = processes_in(directory);
        if processes.is_empty() || now() > until {
            break;
        }
        processes.into_iter().for_each(|pid| kill(pid, until));
    }
    let _ = fs::remove_dir(directory);
}

fn processes_in(directory: &Path) -> Vec<Pid> {
    let told = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    told.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect()
}

/// Kills a process and waits for its end.
fn kill(pid: Pid, until: Instant) {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let _ = pidfd_send_signal(&process, Signal::KILL);
    let left = until.saturating_duration_since(now());
    let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
    let _ = poll(&mut [PollFd::new(process.as_fd(), PollFlags::POLLIN)], left);
}

/// Removes the groups in a directory whose hosts are gone.
fn sweep(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let (mut known, own) = (BTreeMap::new(), namespace());
    for entry in entries.filter(|entry| entry.file_name().as_bytes().starts_with(PREFIX.as_bytes())) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((_, pid, since)) = host_of(&name).filter(|(there, ..)| Some(*there) == own) else { continue };
        if *known.entry((pid.as_raw_nonzero(), since)).or_insert_with(|| is_gone(pid, since)) {
            remove(&entry.path());
        }
    }
}

/// Returns a new name of a group. It names the host by its process namespace, its process id and its start.
fn name() -> String {
    let pid = getpid();
    let (namespace, since) = (namespace().unwrap_or_default(), started(pid).unwrap_or_default());
    format!("{PREFIX}-{namespace}-{}-{since}-{}", pid.as_raw_nonzero(), MADE.fetch_add(1, Ordering::Relaxed))
}

/// Parses the name of a group: the process namespace, the process id and the start of its host.
fn host_of(name: &str) -> Option<(u64, Pid, u64)> {
    let mut numbers = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split('-');
    let (namespace, pid) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    Some((namespace, Pid::from_raw(pid)?, numbers.next()?.parse().ok()?))
}

fn namespace() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self/ns/pid").ok().map(|found| found.ino())
}

/// Returns the start of a process, in ticks since the start of the machine.
fn started(pid: Pid) -> Option<u64> {
    let told = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name of the program, in brackets, may contain blanks. The start is the twentieth word after it.
    told.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Returns true if no process has this id and this start. A process that cannot be examined counts as alive.
fn is_gone(pid: Pid, since: u64) -> bool {
    match started(pid) {
        Some(start) => start != since,
        None => test_kill_process(pid) == Err(Errno::SRCH),
    }
}

#[cfg(test)]
mod tests;
