//! Two hand-written limits for this one purpose: the sorted list of the other benches, and a table of fingerprints.
//! They validate no path, and have neither expiry nor provenance.

use std::collections::HashMap;

use bestow::grant::Access;

use crate::{
    contender::{Asked, Change, Contender, prefixes},
    world::{FastHash, Limit, Sorted, World},
};

/// The sorted list, found by id.
pub(crate) struct SortedById(Limit);

impl SortedById {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        Box::new(SortedById(Limit::new(world)))
    }
}

impl Contender for SortedById {
    fn check(&self, asked: Asked<'_>) -> bool {
        self.0.check(asked.id, asked.access, asked.path)
    }
}

/// The sorted lists, found by handle.
pub(crate) struct SortedByHandle(Vec<Sorted>);

impl SortedByHandle {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        Box::new(SortedByHandle(world.agents.iter().map(|(_, roots)| Sorted::new(roots)).collect()))
    }
}

impl Contender for SortedByHandle {
    fn check(&self, asked: Asked<'_>) -> bool {
        self.0[asked.agent].check(asked.access, asked.path)
    }
}

/// The table of fingerprints, found by id or by handle.
pub(crate) struct Fingerprints {
    by_id: HashMap<String, usize, FastHash>,
    agents: Vec<Table>,
    handles: bool,
}

impl Fingerprints {
    pub(crate) fn by_id(world: &World) -> Box<dyn Contender> {
        Box::new(Fingerprints::of(world, false))
    }

    pub(crate) fn by_handle(world: &World) -> Box<dyn Contender> {
        Box::new(Fingerprints::of(world, true))
    }

    fn of(world: &World, handles: bool) -> Fingerprints {
        let by_id = world.agents.iter().enumerate().map(|(place, (id, _))| (id.to_string(), place)).collect();
        let agents = world.agents.iter().map(|(_, roots)| Table::of(roots)).collect();
        Fingerprints { by_id, agents, handles }
    }
}

impl Contender for Fingerprints {
    fn check(&self, asked: Asked<'_>) -> bool {
        let agent = if self.handles { Some(asked.agent) } else { self.by_id.get(asked.id).copied() };
        agent.is_some_and(|agent| self.agents[agent].check(asked.access, asked.path))
    }

    fn change(&mut self, change: Change<'_>) -> bool {
        let table = &mut self.agents[change.agent];
        *table = if change.is_given { table.with(Access::Read, change.path) } else { Table::of(change.roots) };
        true
    }
}

/// The roots of one agent: slots of fingerprint, start, length and access, and the texts.
#[derive(Debug)]
struct Table {
    slots: Box<[Slot]>,
    texts: Box<str>,
    /// The depths at which there are roots.
    depths: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    print: u32,
    start: u32,
    len: u16,
    writes: bool,
}

impl Table {
    fn of(roots: &[(Access, String)]) -> Table {
        let mut table = Table::with_room(roots.len(), roots.iter().map(|(_, path)| path.as_str()).collect());
        let mut start = 0;
        for (access, path) in roots {
            table.add(*access, path, start);
            start += path.len() as u32;
        }
        table
    }

    /// Copies the table with one more root.
    fn with(&self, access: Access, path: &str) -> Table {
        let taken = self.slots.iter().filter(|slot| slot.len != 0);
        let texts = [&*self.texts, path].concat();
        let mut table = Table::with_room(taken.clone().count() + 1, texts);
        taken.for_each(|slot| table.place(*slot));
        table.depths = self.depths;
        table.add(access, path, self.texts.len() as u32);
        table
    }

    fn with_room(roots: usize, texts: String) -> Table {
        Table { slots: vec![Slot::default(); roots + roots / 3 + 1].into(), texts: texts.into(), depths: 0 }
    }

    fn add(&mut self, access: Access, path: &str, start: u32) {
        self.depths |= 1 << (prefixes(path).count() & 31);
        self.place(Slot { print: print_of(path), start, len: path.len() as u16, writes: access == Access::Write });
    }

    fn place(&mut self, slot: Slot) {
        let count = self.slots.len();
        let mut index = first(slot.print, count);
        while self.slots[index].len != 0 {
            index = (index + 1) % count;
        }
        self.slots[index] = slot;
    }

    fn check(&self, access: Access, path: &str) -> bool {
        let (mut state, mut from, mut depth) = (0, 0, 0);
        let bytes = path.as_bytes();
        let ends = memchr::memchr_iter(b'/', &bytes[1..]).map(|slash| slash + 1);
        for end in ends.chain([bytes.len()]) {
            state = step(state, &bytes[from..end]);
            (from, depth) = (end, depth + 1);
            if self.depths & 1 << (depth & 31) != 0 && self.holds(access, &bytes[..end], finish(state)) {
                return true;
            }
        }
        false
    }

    fn holds(&self, access: Access, prefix: &[u8], print: u32) -> bool {
        let mut index = first(print, self.slots.len());
        loop {
            let slot = self.slots[index];
            if slot.len == 0 {
                return false;
            }
            let is_same = slot.print == print
                && self.texts.as_bytes()[slot.start as usize..][..usize::from(slot.len)] == *prefix
                && (slot.writes || access == Access::Read);
            if is_same {
                return true;
            }
            index = if index + 1 == self.slots.len() { 0 } else { index + 1 };
        }
    }
}

fn first(print: u32, count: usize) -> usize {
    ((u64::from(print) * count as u64) >> 32) as usize
}

/// Mixes one component into the state, eight bytes at a time. Short ones are read in two overlapping parts.
fn step(mut state: u64, component: &[u8]) -> u64 {
    let len = component.len();
    if let (Some(first), Some(last)) = (component.first_chunk::<8>(), component.last_chunk::<8>()) {
        let (words, rest) = component.as_chunks::<8>();
        state = words
            .iter()
            .skip(1)
            .fold(mix(state, u64::from_le_bytes(*first)), |state, word| mix(state, u64::from_le_bytes(*word)));
        return if rest.is_empty() { state } else { mix(state, u64::from_le_bytes(*last)) };
    }
    if let (Some(first), Some(last)) = (component.first_chunk::<4>(), component.last_chunk::<4>()) {
        let word = u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
        return mix(state, word ^ (len as u64) << 28);
    }
    state = component.iter().fold(len as u64, |word, byte| word << 8 | u64::from(*byte)) ^ state.rotate_left(7);
    mix(state, 1)
}

fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

fn finish(state: u64) -> u32 {
    (state.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32
}

fn print_of(path: &str) -> u32 {
    let mut from = 0;
    let state = prefixes(path).fold(0, |state, prefix| {
        let component = &path.as_bytes()[from..prefix.len()];
        from = prefix.len();
        step(state, component)
    });
    finish(state)
}
