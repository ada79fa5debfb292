//! Processes of the host program at which a person sits.

use std::{
    io,
    sync::{Arc, Mutex},
};

use super::ancestry::Process;
use crate::engine::Engine;

/// The processes that a host program has started for a person: a terminal in its window, a shell, a dashboard.
///
/// Nothing else that comes from the host program's process gives orders over the [control socket](super), since its
/// agents come from there too.
#[derive(Clone, Debug)]
pub struct Surfaces(Arc<Mutex<Vec<(u32, u64)>>>);

impl Engine {
    /// The processes of the host program at which a person sits.
    ///
    /// # Authority
    ///
    /// Whoever gets the result can let a process, with everything that it starts, answer for every owner.
    pub fn surfaces(&self) -> Surfaces {
        Surfaces(self.surface_processes())
    }
}

impl Surfaces {
    /// Takes the process with this number, and what comes from it, for a person's. It must be one that the host program
    /// has started and not waited for yet, so that the number is still its own.
    ///
    /// # Authority
    ///
    /// Whatever comes from that process can answer for every owner.
    ///
    /// # Errors
    ///
    /// There is no such process.
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
