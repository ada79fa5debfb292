//! The resource limits of a confined process, as the kernel enforces them.

use std::collections::BTreeMap;

use rustix::{
    process::{Resource, Rlimit, geteuid, setrlimit},
    system::{sysinfo, uname},
};
use serde::{Deserialize, Serialize};

use super::cgroup::Group;
use crate::model::Limits;

const PROCESSES_NAME: &str = "processes";

const TOTAL_MEMORY_NAME: &str = "total_memory";

/// The limit of processes for a command without a configured one.
const PROCESSES: u64 = 4096;

/// The lowest limit of processes in a process namespace. The kernel reserves the ids up to 300.
pub(super) const FEWEST_IN_A_NAMESPACE: u64 = 300;

/// The file with the number of process ids in the namespace of the process that writes it.
const NUMBERS: &str = "/proc/sys/kernel/pid_max";

/// The first kernel version with a separate limit of process ids for each process namespace. Older kernels have one
/// limit for the machine.
const NUMBERS_OF_A_NAMESPACE: (u32, u32) = (6, 14);

/// The mechanism that limits the number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CountedBy {
    /// A control group, which the host has made for the command.
    Group,
    /// A limit of the user. It counts the processes in the command's own user namespace, or all processes of the user.
    User,
    /// A limit of the process ids in a process namespace. No other limit binds the superuser.
    Namespace,
    /// The absence of any mechanism.
    Nobody,
}

impl CountedBy {
    /// Returns the mechanism for a command, in this group if it has one.
    pub(super) fn of(has_namespaces: bool, group: Option<&Group>) -> CountedBy {
        match group.is_some_and(Group::counts_processes) {
            true => CountedBy::Group,
            false => CountedBy::here(has_namespaces),
        }
    }

    /// Returns the mechanism for this user on this machine, without a control group.
    pub(super) fn here(has_namespaces: bool) -> CountedBy {
        match geteuid().is_root() {
            false => CountedBy::User,
            true if has_namespaces && is_since(&uname().release().to_string_lossy()) => CountedBy::Namespace,
            true => CountedBy::Nobody,
        }
    }
}

/// Returns true if a kernel of this release has process ids for each process namespace.
fn is_since(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().ok());
    let version = numbers.next().flatten().zip(numbers.next().flatten());
    version.is_some_and(|version| version >= NUMBERS_OF_A_NAMESPACE)
}

impl Limits {
    /// Returns the limits of a command, with defaults for memory and processes. Processes get a default only where the
    /// limit counts the processes of this command alone.
    pub(super) fn with_defaults(&self, has_namespaces: bool, group: Option<&Group>) -> Limits {
        let in_namespace = has_namespaces && CountedBy::here(has_namespaces) != CountedBy::Nobody;
        let is_counted_alone = in_namespace || group.is_some_and(Group::counts_processes);
        Limits {
            processes: self.processes.or(is_counted_alone.then_some(PROCESSES)),
            memory: self.memory.or_else(machine_memory),
            total_memory: group.and_then(Group::memory),
            ..self.clone()
        }
    }

    /// Returns the limits for a control group, with defaults.
    pub(super) fn of_group(&self) -> Limits {
        let most = || machine_memory().map(|bytes| bytes / 4 * 3);
        Limits {
            processes: self.processes.or(Some(PROCESSES)),
            total_memory: self.total_memory.or_else(most),
            ..self.clone()
        }
    }

    /// Returns true if one of these limits may need a control group and is no default.
    pub(super) fn asks_for_a_group(&self) -> bool {
        let is_set = |limit: Option<u64>| limit.is_some_and(|limit| limit != Limits::UNLIMITED);
        is_set(self.total_memory) || is_set(self.processes)
    }

    fn each(&self) -> impl Iterator<Item = (&'static str, Resource, u64)> {
        [
            ("core", Resource::Core, Some(0)),
            ("file_size", Resource::Fsize, self.file_size),
            ("open_files", Resource::Nofile, self.open_files),
            (PROCESSES_NAME, Resource::Nproc, self.processes),
            ("cpu_seconds", Resource::Cpu, self.cpu_seconds),
            // The limit is on data, because many languages reserve much more address space than they use.
            ("memory", Resource::Data, self.memory),
        ]
        .into_iter()
        .filter_map(|(name, resource, limit)| {
            limit.filter(|limit| *limit != Limits::UNLIMITED).map(|limit| (name, resource, limit))
        })
    }

    /// Returns the limits that the kernel enforces, by name.
    pub(super) fn named(&self) -> BTreeMap<String, u64> {
        let total = self.total_memory.filter(|limit| *limit != Limits::UNLIMITED);
        let total = total.map(|limit| (TOTAL_MEMORY_NAME.to_owned(), limit));
        self.each().map(|(name, _, limit)| (name.to_owned(), limit)).chain(total).collect()
    }

    /// Returns the limit of time in milliseconds, if there is one.
    pub(super) fn time_ms(&self) -> Option<u64> {
        let time = Some(self.time()).filter(|time| *time != Limits::FOREVER);
        time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns the limits in force by name, for facts: time in milliseconds, output in bytes. `output` is the number of
    /// bytes of each stream that are kept, if the streams are captured.
    pub(super) fn in_force(&self, output: Option<usize>) -> BTreeMap<String, u64> {
        let output = output.map(|output| u64::try_from(output).unwrap_or(u64::MAX));
        let output = output.filter(|output| *output != Limits::UNLIMITED);
        let ours = [("time_ms", self.time_ms()), ("output", output)];
        let ours = ours.into_iter().filter_map(|(name, limit)| Some((name.to_owned(), limit?)));
        self.named().into_iter().chain(ours).collect()
    }

    /// Returns the mechanisms that enforce the kernel's limits, for facts.
    pub(super) fn limited_by(&self, counted_by: CountedBy) -> Vec<String> {
        let named = self.named();
        let is_by_group = named.contains_key(TOTAL_MEMORY_NAME) || counted_by == CountedBy::Group;
        let is_by_namespace = counted_by == CountedBy::Namespace && named.contains_key(PROCESSES_NAME);
        let more = [(is_by_group, "cgroup"), (is_by_namespace, "pid_namespace")];
        let more = more.into_iter().filter_map(|(is_so, name)| is_so.then_some(name));
        ["rlimits"].into_iter().chain(more).map(str::to_owned).collect()
    }

    /// Sets the limits for this process and for the command that it becomes.
    pub(super) fn apply(&self, counted_by: CountedBy) -> Result<(), String> {
        for (name, resource, limit) in self.each() {
            match counted_by {
                CountedBy::Group if name == PROCESSES_NAME => continue,
                CountedBy::Namespace | CountedBy::Nobody if name == PROCESSES_NAME => {
                    number_processes(limit, counted_by)?;
                    continue;
                }
                CountedBy::Group | CountedBy::Namespace | CountedBy::Nobody | CountedBy::User => {}
            }
            let both = Rlimit { current: Some(limit), maximum: Some(limit) };
            setrlimit(resource, both).map_err(|why| format!("the limit `{name}` cannot be {limit}: {why}"))?;
        }
        Ok(())
    }
}

/// Limits the process namespace of this process to this many processes. The process that reaps the others is not
/// counted.
fn number_processes(limit: u64, counted_by: CountedBy) -> Result<(), String> {
    if counted_by != CountedBy::Namespace || limit < FEWEST_IN_A_NAMESPACE {
        return Err(format!("the superuser cannot be kept to {limit} processes here"));
    }
    let numbers = limit.saturating_add(2).min(i32::MAX.unsigned_abs().into());
    let least = |there: u64| numbers.min(there);
    let there = std::fs::read_to_string(NUMBERS).ok().and_then(|there| there.trim().parse().ok());
    std::fs::write(NUMBERS, there.map_or(numbers, least).to_string())
        .map_err(|why| format!("the limit `{PROCESSES_NAME}` cannot be {limit}: {why}"))
}

/// Returns the memory of the machine in bytes.
fn machine_memory() -> Option<u64> {
    let machine = sysinfo();
    u64::from(machine.mem_unit).checked_mul(machine.totalram).filter(|bytes| *bytes != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_kernel_with_numbers_for_each_namespace_keeps_the_superuser_to_some() {
        for release in ["6.14.0-29-generic", "6.14", "6.18.44-fc-v657", "7.0", "10.1.2"] {
            assert!(is_since(release), "{release}");
        }
        for release in ["6.13.9", "6.1.0-18-amd64", "5.15.0", "6", "", "x.y", "-6.14"] {
            assert!(!is_since(release), "{release}");
        }
    }
}
