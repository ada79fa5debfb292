//! Permissions that are given and taken.

use std::time::Instant;

use bestow::grant::Access;

use super::nanoseconds;
use crate::{
    contender::{Asked, Change, Contender, Root},
    world::World,
};

/// The number of agents that get permissions: the first ones of the world.
const RECEIVERS: usize = 64;
/// The number of permissions that each of them gets and loses.
const ROUNDS: usize = 4;

/// An agent that gets and loses a directory.
pub(super) struct Receiver<'w> {
    agent: usize,
    id: &'w str,
    path: String,
    before: &'w [Root],
    after: Vec<Root>,
}

impl Receiver<'_> {
    pub(super) fn all(world: &World) -> Vec<Receiver<'_>> {
        let first = world.agents.iter().enumerate().take(RECEIVERS);
        let receivers = first.map(|(agent, (id, before))| {
            let path = format!("/srv/given/number-{agent:06}");
            let after = before.iter().cloned().chain([(Access::Read, path.clone())]).collect();
            Receiver { agent, id: id.as_str(), path, before, after }
        });
        receivers.collect()
    }

    pub(super) fn change(&self, is_given: bool) -> Change<'_> {
        let roots = if is_given { &self.after } else { self.before };
        Change { agent: self.agent, id: self.id, path: &self.path, is_given, roots }
    }
}

/// Returns the median time of giving a permission, after the effect of each change was checked.
pub(super) fn grants(contender: &mut dyn Contender, world: &World) -> Option<u64> {
    let mut times = Vec::new();
    let receivers = Receiver::all(world);
    for receiver in receivers.iter().cycle().take(ROUNDS * receivers.len()) {
        let asked = Asked { agent: receiver.agent, id: receiver.id, access: Access::Read, path: &receiver.path };
        let started = Instant::now();
        let is_given = contender.change(receiver.change(true));
        times.push(nanoseconds(started));
        if !is_given {
            return None;
        }
        assert!(contender.check(asked), "a permission that was given is not held");
        contender.change(receiver.change(false));
        assert!(!contender.check(asked), "a permission that was taken is still held");
    }
    // The first changes find cold code.
    let times = &mut times[receivers.len()..];
    times.sort_unstable();
    Some(times[times.len() / 2])
}
