//! Limits of a confined process, as the kernel knows them.

use std::collections::BTreeMap;

use rustix::{
    process::{Resource, Rlimit, geteuid, setrlimit},
    system::sysinfo,
};

use crate::model::Limits;

/// The most processes of a command of which nobody said how many it may have.
const PROCESSES: u64 = 4096;

impl Limits {
    /// The limits of a command, with the default of each that nobody set. Processes are counted for the command alone only
    /// in a user namespace of its own, which the superuser does not get.
    pub(super) fn with_defaults(&self, has_namespaces: bool) -> Limits {
        let is_counted_alone = has_namespaces && !geteuid().is_root();
        Limits {
            processes: self.processes.or(is_counted_alone.then_some(PROCESSES)),
            memory: self.memory.or_else(machine_memory),
            ..self.clone()
        }
    }

    fn each(&self) -> impl Iterator<Item = (&'static str, Resource, u64)> {
        [
            ("core", Resource::Core, Some(0)),
            ("file_size", Resource::Fsize, self.file_size),
            ("open_files", Resource::Nofile, self.open_files),
            ("processes", Resource::Nproc, self.processes),
            ("cpu_seconds", Resource::Cpu, self.cpu_seconds),
            // Not the address space: many languages reserve much more of it than they use.
            ("memory", Resource::Data, self.memory),
        ]
        .into_iter()
        .filter_map(|(name, resource, limit)| {
            limit.filter(|limit| *limit != Limits::UNLIMITED).map(|limit| (name, resource, limit))
        })
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

/// The bytes of memory that the machine has.
fn machine_memory() -> Option<u64> {
    let machine = sysinfo();
    u64::from(machine.mem_unit).checked_mul(machine.totalram).filter(|bytes| *bytes != 0)
}
