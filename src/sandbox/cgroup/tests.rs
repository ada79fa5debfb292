use std::{
    io::{Read, Write},
    os::unix::process::CommandExt,
    process::{Child, Command as Process, Stdio},
};

use super::*;

/// A directory with the files of a group, which is not one of the kernel.
struct Fake(PathBuf);

impl Fake {
    fn new(name: &str) -> Fake {
        let path = std::env::temp_dir().join(format!("bestow-fake-groups-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Fake(path)
    }

    /// Makes a group below this one, with the files that the kernel gives it.
    fn group(&self, below: &str, files: &[(&str, &str)]) -> PathBuf {
        let path = self.0.join(below);
        fs::create_dir_all(&path).unwrap();
        for (name, text) in [("cgroup.procs", "")].iter().chain(files) {
            fs::write(path.join(name), text).unwrap();
        }
        path
    }

    fn unified(&self, root: &str) -> Hierarchy {
        Hierarchy { mount: self.0.clone(), root: root.into(), controllers: Vec::new() }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const OFFERS: [(&str, &str); 3] =
    [("cgroup.controllers", "cpu memory pids"), ("cgroup.subtree_control", "memory pids"), ("cgroup.type", "domain")];

fn limits(memory: u64, processes: u64) -> Limits {
    let mut limits = Limits::default();
    (limits.total_memory, limits.processes) = (Some(memory), Some(processes));
    limits
}

#[test]
fn a_hierarchy_is_read_as_the_kernel_writes_it() {
    let text = b"24 1 0:22 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        31 24 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
        32 24 0:29 /docker/1 /sys/fs/cgroup/cpu\\040x rw - cgroup cgroup rw,cpu,cpuacct\n\
        33 24 0:30 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\nnoise\n";
    let all = Hierarchy::all(text);
    assert_eq!(all.len(), 3);
    assert!(all[0].controllers.contains(&"memory".to_owned()) && all[2].controllers.is_empty());
    assert_eq!(
        (all[1].mount.as_path(), all[1].root.as_path()),
        (Path::new("/sys/fs/cgroup/cpu x"), Path::new("/docker/1"))
    );
    let own = "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/docker/1/x\n0::/user.slice\n";
    let at = |hierarchy: &Hierarchy| hierarchy.own(own).map(|(_, at)| at);
    assert_eq!(at(&all[0]), Some("/sys/fs/cgroup/memory/a/b".into()));
    assert_eq!(at(&all[1]), Some("/sys/fs/cgroup/cpu x/x".into()));
    assert_eq!(at(&all[2]), Some("/sys/fs/cgroup/unified/user.slice".into()));
    assert_eq!(all[2].own("0::/../outside\n"), None, "a group outside of the namespace is not reached");
    assert_eq!(all[1].own("2:cpu,cpuacct:/docker/2\n"), None);
}

#[test]
fn a_unified_group_is_made_beside_the_own_one_with_every_limit() {
    let fake = Fake::new("beside");
    let above = fake.group("user", &OFFERS);
    fake.group("user/own", &OFFERS);
    let groups = ControlGroups::of("0::/user/own\n", &[fake.unified("/")]);
    assert!(groups.can_limit_memory() && groups.can_count_processes());
    assert_eq!(groups.memory, Some(Place { directory: above.clone(), is_unified: true }));
    // The kernel puts these files into the new directory. This file system does not.
    assert!(groups.make(&limits(1 << 30, 40)).is_err());
    let group = Group { name: "g".into(), directories: vec![above.join("g")], memory: Some(7), counts_processes: true };
    let files = ["memory.max", "memory.oom.group", "memory.swap.max", "pids.max", "cgroup.kill"];
    let at = fake.group("user/g", &files.map(|name| (name, "")));
    group.limit_memory(groups.memory.as_ref().unwrap(), 1 << 30).unwrap();
    let has = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    assert_eq!([has("memory.max"), has("memory.oom.group"), has("memory.swap.max")], ["1073741824", "1", "0"]);
    drop(group);
    assert_eq!([has("cgroup.kill"), has("pids.max")], ["1", "0"]);
}

#[test]
fn a_group_with_processes_passes_no_controller_on() {
    let fake = Fake::new("full");
    let controllers =
        [("cgroup.controllers", "memory pids"), ("cgroup.subtree_control", ""), ("cgroup.type", "domain")];
    fake.group("own", &controllers);
    let at = |own: &str| ControlGroups::of(own, &[fake.unified("/")]);
    fs::write(fake.group("", &controllers).join("cgroup.procs"), "1\n").unwrap();
    fs::write(fake.0.join("own/cgroup.procs"), "1\n").unwrap();
    assert_eq!(at("0::/own\n").memory, None);
    // An empty group above can pass them on.
    fs::write(fake.0.join("cgroup.procs"), "").unwrap();
    assert_eq!(at("0::/own\n").memory.map(|place| place.directory), Some(fake.0.clone()));
    // The root group has no type, and can pass them on with processes.
    fs::write(fake.0.join("cgroup.procs"), "1\n").unwrap();
    fs::remove_file(fake.0.join("cgroup.type")).unwrap();
    assert_eq!(at("0::/\n").processes.map(|place| place.directory), Some(fake.0.clone()));
    assert_eq!(
        ControlGroups::of("", &[fake.unified("/")]),
        ControlGroups { mounts: vec![fake.0.clone()], ..Default::default() }
    );
}

#[test]
fn a_root_that_reaches_the_groups_is_named() {
    let groups = ControlGroups { mounts: vec!["/sys/fs/cgroup".into()], ..ControlGroups::default() };
    let written = |root: &str| groups.written([&root.parse().unwrap()].into_iter()).is_some();
    assert!(written("/sys") && written("/sys/fs/cgroup/pids") && !written("/sys/fs/x") && !written("/work"));
}

#[test]
fn the_name_of_a_group_tells_its_host_and_whether_it_is_gone() {
    let (there, pid, since) = host_of(&name()).unwrap();
    assert_eq!((Some(there), pid, Some(since)), (namespace(), getpid(), started(getpid())));
    assert!(!is_gone(pid, since) && is_gone(pid, since + 1), "another process may get the same id");
    let mut child = Process::new("true").spawn().unwrap();
    let (id, since) = (Pid::from_child(&child), started(Pid::from_child(&child)).unwrap());
    child.wait().unwrap();
    assert!(is_gone(id, since));
    for odd in ["bestow", "bestow-", "bestow-1-2", "bestow-x-1-1-1", "bestow-1-0-1", "bestow-1--1-1-1", "other-1-1-1-1"]
    {
        assert_eq!(host_of(odd), None, "{odd}");
    }
}

/// Starts a process that starts another one, and waits. `enter` moves it before it starts the other one, so that none
/// is left outside.
fn waits(enter: impl FnOnce(Pid)) -> Child {
    let mut process = Process::new("sh");
    process.args(["-c", "read go; sleep 600 & echo up; sleep 600"]).process_group(0);
    let mut child = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    enter(Pid::from_child(&child));
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let mut up = [0; 3];
    child.stdout.take().unwrap().read_exact(&mut up).unwrap();
    child
}

/// Returns the mounted hierarchies in which this process can make groups, unified or not.
fn real_places() -> Vec<Place> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let all = Hierarchy::all(&fs::read("/proc/self/mountinfo").unwrap());
    let is_ours = |all: &[String]| all.is_empty() || all.iter().any(|name| name == "memory" || name == "pids");
    let places = all.iter().filter(|hierarchy| is_ours(&hierarchy.controllers)).filter_map(|hierarchy| {
        let (_, directory) = hierarchy.own(&own)?;
        is_writable(&directory).then_some(Place { directory, is_unified: hierarchy.controllers.is_empty() })
    });
    places.collect()
}

#[test]
fn a_group_of_the_kernel_ends_with_all_its_processes() {
    for place in real_places() {
        let at = place.directory.join(name());
        if fs::create_dir(&at).is_err() {
            continue;
        }
        let name = at.file_name().unwrap().to_str().unwrap().to_owned();
        let group = Group { name, directories: vec![at.clone()], memory: None, counts_processes: false };
        let mut child = waits(|pid| group.enter(pid).unwrap());
        assert!(!processes_in(&at).is_empty(), "{place:?}");
        drop(group);
        child.wait().unwrap();
        assert!(!at.exists(), "{place:?}");
    }
}

#[test]
fn a_group_of_a_killed_host_goes_with_the_next_one() {
    for place in real_places() {
        let (own, pid) = (namespace().unwrap(), getpid().as_raw_nonzero());
        let (left, kept) = (format!("{PREFIX}-{own}-{pid}-1-0"), format!("{PREFIX}-{}-{pid}-1-0", own + 1));
        let [left, kept] = [left, kept].map(|name| place.directory.join(name));
        if fs::create_dir(&left).is_err() {
            continue;
        }
        fs::create_dir(&kept).unwrap();
        let mut child = waits(|pid| write(&left.join("cgroup.procs"), &pid.as_raw_nonzero().to_string()).unwrap());
        sweep(&place.directory);
        child.wait().unwrap();
        assert!(!left.exists() && kept.exists(), "{place:?}: a host in another process namespace is not known here");
        fs::remove_dir(&kept).unwrap();
    }
}
