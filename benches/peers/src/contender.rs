//! The operations that every contender has.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use bestow::grant::Access;

use crate::world::{FastHash, World};

/// A query in the form in which a host program has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'q> {
    /// The position of the agent, for contenders with handles.
    pub(crate) agent: usize,
    pub(crate) id: &'q str,
    pub(crate) access: Access,
    pub(crate) path: &'q str,
}

/// One readable directory that an agent gets or loses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'c> {
    pub(crate) agent: usize,
    pub(crate) id: &'c str,
    pub(crate) path: &'c str,
    pub(crate) is_given: bool,
    /// All directories of the agent after the change, for contenders that replace them at once.
    pub(crate) roots: &'c [Root],
}

/// A directory that an agent holds.
pub(crate) type Root = (Access, String);

/// One way to answer queries.
pub(crate) trait Contender: Send + Sync {
    /// Answers one query. The time includes everything that the engine needs for it, such as its request object.
    fn check(&self, asked: Asked<'_>) -> bool;

    /// Makes a change and publishes it to those who check meanwhile. Returns false if the contender has no way to do
    /// this.
    fn publish(&self, _change: Change<'_>) -> bool {
        false
    }

    /// Makes a change while nobody checks.
    fn change(&mut self, change: Change<'_>) -> bool {
        self.publish(change)
    }
}

/// The family of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Hand-written code that does this one thing.
    Limit,
    /// bestow itself.
    Own,
    Engine,
}

/// A contender before it is loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) load: fn(&World) -> Box<dyn Contender>,
}

/// A value for each agent, which a writer replaces while others read it.
pub(crate) struct Published<T>(std::collections::HashMap<String, ArcSwap<T>, FastHash>);

impl<T> Published<T> {
    pub(crate) fn of(world: &World, value: impl Fn(&str, &[Root]) -> T) -> Published<T> {
        let values = world.agents.iter().map(|(id, roots)| {
            let value = value(id.as_str(), roots);
            (id.to_string(), ArcSwap::from_pointee(value))
        });
        Published(values.collect())
    }

    pub(crate) fn get(&self, id: &str) -> Option<Guard<Arc<T>>> {
        self.0.get(id).map(ArcSwap::load)
    }

    /// Returns false if there is no such agent.
    pub(crate) fn replace(&self, id: &str, value: T) -> bool {
        self.0.get(id).map(|old| old.store(Arc::new(value))).is_some()
    }
}

/// Returns every directory above `path`, and `path` itself.
pub(crate) fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.bytes().enumerate().skip(1).filter(|(_, byte)| *byte == b'/').map(|(end, _)| end);
    ends.chain([path.len()]).map(move |end| &path[..end])
}

/// Returns the name of an access in the policies of the engines.
pub(crate) fn name(access: Access) -> &'static str {
    if access == Access::Write { "write" } else { "read" }
}

/// Returns the directories with this access. Who may write may also read.
pub(crate) fn held(roots: &[Root], access: Access) -> impl Iterator<Item = &str> {
    roots.iter().filter(move |(held, _)| access <= *held).map(|(_, path)| path.as_str())
}
