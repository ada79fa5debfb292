//! The operations that every contender has.

use std::collections::HashMap;

use bestow::grant::Access;

use crate::world::World;

/// The number of agents that get permissions during the measurement: the first ones of the world.
pub(crate) const RECEIVERS: usize = 64;

/// A query in the form in which a host program has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'q> {
    /// The position of the agent, for contenders with handles.
    pub(crate) agent: usize,
    pub(crate) id: &'q str,
    pub(crate) access: Access,
    pub(crate) path: &'q str,
}

/// One way to answer queries.
pub(crate) trait Contender {
    /// Answers one query. The time includes everything that the engine needs for it, such as its request object.
    fn check(&mut self, asked: Asked<'_>) -> bool;

    /// Gives one more readable directory to an agent, and publishes it to those who check. Returns false if the
    /// contender has no way to do this.
    fn grant(&mut self, _agent: usize, _id: &str, _path: &str) -> bool {
        false
    }
}

/// A contender before it is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// True for hand-written code that does this one thing, and is no engine.
    pub(crate) is_limit: bool,
    /// True for bestow itself.
    pub(crate) is_own: bool,
    /// The largest number of roots of all agents with which it is measured. More takes too much time or memory.
    pub(crate) most_roots: usize,
    pub(crate) load: fn(&World) -> Box<dyn Contender>,
}

/// The directories of one agent.
pub(crate) type Roots = Vec<(Access, String)>;

/// Returns the directories of the agents that get permissions, for engines that replace all of them at once.
pub(crate) fn roots_of_receivers(world: &World) -> HashMap<String, Roots> {
    world.agents.iter().take(RECEIVERS).map(|(id, roots)| (id.to_string(), roots.clone())).collect()
}

/// Returns every directory above `path`, and `path` itself.
pub(crate) fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.bytes().enumerate().skip(1).filter(|(_, byte)| *byte == b'/').map(|(end, _)| end);
    ends.chain([path.len()]).map(move |end| &path[..end])
}
