//! The memory that a world and a contender need, calculated from a world of a thousand agents.

use allocation_counter::AllocationInfo;

use crate::{contender::Entry, world::World};

const SAMPLE: usize = 1_000;
/// The part by which the memory of the process is larger than what was asked of the allocator.
const OF_ALLOCATOR: f64 = 1.2;

/// Returns the memory that the machine can give, in bytes. A fifth is left to others.
pub(crate) fn available() -> f64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.strip_suffix("kB"));
    line.and_then(|number| number.trim().parse().ok()).map_or(f64::INFINITY, |kilobytes: f64| kilobytes * 1024.0 * 0.8)
}

/// The memory that `agents` of one world need, in bytes.
#[derive(Debug)]
pub(crate) struct Needs {
    agents: usize,
    sample: World,
    /// The world itself.
    pub(crate) world: f64,
}

impl Needs {
    pub(crate) fn of(agents: usize, roots: usize) -> Needs {
        let (mut sample, number) = (None, agents.min(SAMPLE));
        let counted = allocation_counter::measure(|| sample = Some(World::new(number, roots)));
        let sample = sample.unwrap();
        Needs { agents, world: scaled(&counted, number, agents), sample }
    }

    /// Returns the bytes of the world and the contender together.
    pub(crate) fn with(&self, entry: Entry) -> f64 {
        let mut loaded = None;
        // What is only needed for loading does not grow with the agents: they are loaded in parts.
        let counted = allocation_counter::measure(|| loaded = Some((entry.load)(&self.sample)));
        self.world + scaled(&counted, self.sample.agents.len(), self.agents)
    }
}

fn scaled(counted: &AllocationInfo, from: usize, to: usize) -> f64 {
    counted.bytes_current as f64 / from as f64 * to as f64 * OF_ALLOCATOR
}
