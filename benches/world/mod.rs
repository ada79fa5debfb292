//! The agents, permissions and queries of the benches, and the hand-written limits that the engine is measured against.

#![allow(dead_code, reason = "each bench uses its part")]
#![allow(missing_docs, reason = "benches have no reader but their author and the next one")]

use std::collections::HashMap;

use bestow::{AgentId, Permission, grant::Access};

/// A small, fast, seeded generator, so that each run has an identical world.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) agents: Vec<(AgentId, Vec<(Access, String)>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) agent: usize,
    pub(crate) access: Access,
    pub(crate) path: String,
}

/// Returns an agent id of 24 characters.
pub(crate) fn id(number: usize) -> AgentId {
    format!("agent-{number:018}").parse().unwrap()
}

impl World {
    /// Creates a world in which every second root may be written. Three quarters of the roots lie in the agent's own
    /// tree, the rest in a common pool.
    pub(crate) fn new(agents: usize, roots: usize) -> World {
        let mut dice = Dice::new(42);
        let agents = (0..agents).map(|number| {
            let roots = (0..roots).map(|root| {
                let access = if root % 2 == 0 { Access::Write } else { Access::Read };
                let path = if root % 4 == 3 {
                    format!("/srv/shared/projects/p{:04}/area-{:02}", dice.below(4096), root)
                } else {
                    format!("/srv/agents/{number:09}/work/part-{root:03}/src")
                };
                (access, path)
            });
            (id(number), roots.collect())
        });
        World { agents: agents.collect() }
    }

    pub(crate) fn permissions(&self, agent: usize) -> impl Iterator<Item = Permission> + '_ {
        self.agents[agent].1.iter().map(|(access, path)| Permission::Path(*access, path.parse().unwrap()))
    }

    /// Returns `count` queries, half of them allowed. The other half are the four ways to fail: a sibling with a longer
    /// name, a write below a read-only root, a neighbour that was not granted, and another agent's directory.
    pub(crate) fn queries(&self, count: usize) -> Vec<Query> {
        let mut dice = Dice::new(7);
        (0..count).map(|number| self.query(number, &mut dice)).collect()
    }

    fn query(&self, number: usize, dice: &mut Dice) -> Query {
        let agent = dice.below(self.agents.len());
        let own = &self.agents[agent].1;
        let (access, root) = &own[dice.below(own.len())];
        let tail = ["", "/a", "/a/lib.rs", "/deep/er/still/file.txt"][dice.below(4)];
        let (access, path) = match number % 8 {
            0..4 => (if dice.below(2) == 0 { Access::Read } else { *access }, format!("{root}{tail}")),
            4 => (Access::Read, format!("{root}-evil{tail}")),
            5 => (Access::Write, format!("{}{tail}", own[1 % own.len()].1)),
            6 => (Access::Read, format!("/srv/agents/{agent:09}/work/other{tail}")),
            _ => (*access, format!("/srv/agents/{:09}/secret{tail}", (agent + 1) % self.agents.len())),
        };
        Query { agent, access, path }
    }
}

/// A hand-written limit for this purpose alone: a map to one sorted list per agent. A check searches it for the
/// predecessor, and then follows the chain of enclosing roots. It has no validation, no expiry, no protected paths and
/// no publication.
#[derive(Debug, Default)]
pub(crate) struct Limit {
    agents: HashMap<String, Sorted, FastHash>,
}

#[derive(Debug, Default)]
pub(crate) struct Sorted {
    text: Box<str>,
    roots: Box<[Root]>,
}

#[derive(Clone, Copy, Debug)]
struct Root {
    start: u32,
    len: u16,
    writes: bool,
    above: u16,
}

const NONE: u16 = u16::MAX;

impl Limit {
    pub(crate) fn new(world: &World) -> Limit {
        let agents = world.agents.iter().map(|(id, roots)| (id.to_string(), Sorted::new(roots)));
        Limit { agents: agents.collect() }
    }

    pub(crate) fn check(&self, id: &str, access: Access, path: &str) -> bool {
        self.agents.get(id).is_some_and(|agent| agent.check(access, path))
    }

    pub(crate) fn handle(&self, id: &str) -> &Sorted {
        &self.agents[id]
    }
}

/// Compares components before characters: `/` sorts below everything.
fn order(one: &[u8], other: &[u8]) -> std::cmp::Ordering {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    match (one.get(same), other.get(same)) {
        (None, None) => std::cmp::Ordering::Equal,
        (None, _) => std::cmp::Ordering::Less,
        (_, None) => std::cmp::Ordering::Greater,
        (Some(b'/'), _) => std::cmp::Ordering::Less,
        (_, Some(b'/')) => std::cmp::Ordering::Greater,
        (Some(one), Some(other)) => one.cmp(other),
    }
}

fn below(root: &[u8], path: &[u8]) -> bool {
    path.starts_with(root) && matches!(path.get(root.len()), None | Some(b'/'))
}

impl Sorted {
    pub(crate) fn new(roots: &[(Access, String)]) -> Sorted {
        let mut sorted: Vec<_> = roots.iter().collect();
        sorted.sort_by(|one, other| order(one.1.as_bytes(), other.1.as_bytes()));
        let mut text = String::new();
        let mut all: Vec<Root> = Vec::new();
        for (access, path) in sorted {
            let mut above = all.len().checked_sub(1).map_or(NONE, |last| last as u16);
            while above != NONE && !below(Sorted::text(&text, all[above as usize]), path.as_bytes()) {
                above = all[above as usize].above;
            }
            all.push(Root {
                start: text.len() as u32,
                len: path.len() as u16,
                writes: *access == Access::Write,
                above,
            });
            text.push_str(path);
        }
        Sorted { text: text.into(), roots: all.into() }
    }

    fn text(text: &str, root: Root) -> &[u8] {
        &text.as_bytes()[root.start as usize..][..root.len as usize]
    }

    pub(crate) fn check(&self, access: Access, path: &str) -> bool {
        let path = path.as_bytes();
        let after = self.roots.partition_point(|root| order(Sorted::text(&self.text, *root), path).is_le());
        let mut place = after.checked_sub(1).map_or(NONE, |place| place as u16);
        while place != NONE {
            let root = self.roots[place as usize];
            if (root.writes || access == Access::Read) && below(Sorted::text(&self.text, root), path) {
                return true;
            }
            place = root.above;
        }
        false
    }
}

/// The naive limit: one list of paths, and `Path::starts_with` in a loop.
#[derive(Debug)]
pub(crate) struct Naive {
    agents: HashMap<String, Vec<(Access, std::path::PathBuf)>>,
}

impl Naive {
    pub(crate) fn new(world: &World) -> Naive {
        let roots = |roots: &Vec<(Access, String)>| roots.iter().map(|(access, path)| (*access, path.into())).collect();
        Naive { agents: world.agents.iter().map(|(id, all)| (id.to_string(), roots(all))).collect() }
    }

    pub(crate) fn check(&self, id: &str, access: Access, path: &str) -> bool {
        let path = std::path::Path::new(path);
        let roots = self.agents.get(id);
        roots.is_some_and(|roots| roots.iter().any(|(held, root)| access <= *held && path.starts_with(root)))
    }
}

/// A hash for short ids, as a hurried author would choose it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastHash;

#[derive(Debug, Default)]
pub(crate) struct FastHasher(u64);

impl std::hash::BuildHasher for FastHash {
    type Hasher = FastHasher;

    fn build_hasher(&self) -> FastHasher {
        FastHasher::default()
    }
}

impl std::hash::Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut full = [0; 8];
            full[..word.len()].copy_from_slice(word);
            let product = u128::from(self.0 ^ u64::from_le_bytes(full)) * 0x9e37_79b9_7f4a_7c15;
            self.0 = product as u64 ^ (product >> 64) as u64;
        }
    }
}
