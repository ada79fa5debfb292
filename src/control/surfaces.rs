//! Processes of the host program that a person uses directly.

use std::{
    io,
    sync::{Arc, Mutex},
};

use super::ancestry::Process;
use crate::engine::Engine;

/// The processes that a host program has started for a person: a terminal in its window, a shell, a dashboard.
///
/// Other descendants of the host program may not give orders over the [control socket](super), since agents descend
/// from the host program too.
#[derive(Clone, Debug)]
pub struct Surfaces(Arc<Mutex<Vec<(u32, u64)>>>);

impl Engine {
    /// Returns the processes of the host program that a person uses directly.
    ///
    /// # Authority
    ///
    /// The holder of the result can allow a process, and every process that it starts, to answer for every owner.
    pub fn surfaces(&self) -> Surfaces {
        Surfaces(self.surface_processes())
    }
}

impl Surfaces {
    /// Registers the process with this number, and its descendants, as a person's surface. The host program must have
    /// started the process and must not have waited for it yet. Only then does the number still belong to it.
    ///
    /// # Authority
    ///
    /// Every descendant of that process can answer for every owner.
    ///
    /// # Errors
    ///
    /// An I/O error if there is no such process.
    pub fn admit(&self, pid: u32) -> io::Result<()> {
        let process = Process::of(pid)?;
        let mut known = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
        known.retain(|(pid, started)| Process::of(*pid).is_ok_and(|there| there.started == *started));
        known.push((process.pid, process.started));
        Ok(())
    }

    pub(super) fn know(&self, process: &Process) -> bool {
        self.0.lock().is_ok_and(|known| known.contains(&(process.pid, process.started)))
    }
}
