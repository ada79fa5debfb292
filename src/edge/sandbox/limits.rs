//! Limits of a confined process.

use std::{collections::BTreeMap, time::Duration};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// What a command may use up. A limit can only be lowered from what this process has itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// How long it may run. Then everything it started is killed.
    pub time: Duration,
    /// How much of each output stream is kept.
    pub output: usize,
    /// Bytes of one file it writes.
    pub file_size: Option<u64>,
    /// Open descriptors.
    pub open_files: Option<u64>,
    /// Processes of this user. Does not bind the superuser.
    pub processes: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of address space of each process.
    pub memory: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(120),
            output: 1 << 20,
            file_size: None,
            open_files: Some(1024),
            processes: None,
            cpu_seconds: None,
            memory: None,
        }
    }
}

impl Limits {
    fn each(&self) -> impl Iterator<Item = (&'static str, Resource, u64)> {
        [
            ("core", Resource::Core, Some(0)),
            ("file_size", Resource::Fsize, self.file_size),
            ("open_files", Resource::Nofile, self.open_files),
            ("processes", Resource::Nproc, self.processes),
            ("cpu_seconds", Resource::Cpu, self.cpu_seconds),
            ("memory", Resource::As, self.memory),
        ]
        .into_iter()
        .filter_map(|(name, resource, limit)| limit.map(|limit| (name, resource, limit)))
    }

    /// The limits that the kernel enforces, by name.
    pub(super) fn named(&self) -> BTreeMap<String, u64> {
        self.each().map(|(name, _, limit)| (name.to_owned(), limit)).collect()
    }

    /// All of them by name, for facts: time in milliseconds, output in bytes.
    pub(super) fn in_force(&self) -> BTreeMap<String, u64> {
        let time = u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX);
        let output = u64::try_from(self.output).unwrap_or(u64::MAX);
        let ours = [("time_ms", time), ("output", output)];
        let ours = ours.map(|(name, limit)| (name.to_owned(), limit));
        self.named().into_iter().chain(ours).collect()
    }

    /// Sets them for this process and what it becomes.
    pub(super) fn apply(&self) -> Result<(), String> {
        for (name, resource, limit) in self.each() {
            let both = Rlimit { current: Some(limit), maximum: Some(limit) };
            setrlimit(resource, both).map_err(|why| format!("the limit `{name}` cannot be {limit}: {why}"))?;
        }
        Ok(())
    }
}
