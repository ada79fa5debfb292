//! Compares a check of bestow with a check of general engines and of hand-written limits, on the same random work.
//! The answers are compared with an oracle first.
//!
//! `benches/peers/run [AGENTSxROOTS …]` measures the given worlds, or the usual ones, prints a table for each, and
//! writes the picture of the world 1000x32 to the file in `PICTURE`.

mod biscuit;
mod casbin_rs;
mod cedar;
mod contender;
mod limits;
mod measure;
mod own;
mod picture;
mod rego;
mod table;
#[path = "../../world/mod.rs"]
mod world;

use contender::Entry;
use world::{Query, World};

/// The usual worlds: agents, and directories of each. Larger ones are measured when they are named: 100000x256 needs
/// 17 GB of memory.
const WORLDS: [(usize, usize); 5] = [(1_000, 4), (1_000, 32), (1_000, 256), (100_000, 4), (100_000, 32)];

const QUERIES: usize = 1 << 14;

/// Returns the contenders. Engines that need much memory or time for each agent take part in small worlds only.
fn contenders() -> [Entry; 11] {
    let limit = |name, load| Entry { name, load, is_limit: true, is_own: false, most_roots: usize::MAX };
    let own = |name, load| Entry { name, load, is_limit: false, is_own: true, most_roots: usize::MAX };
    let engine = |name, load, most_roots| Entry { name, load, is_limit: false, is_own: false, most_roots };
    [
        limit("limit: fingerprints, handle", limits::Fingerprints::by_handle),
        limit("limit: fingerprints, id", limits::Fingerprints::by_id),
        limit("limit: sorted, handle", limits::SortedByHandle::load),
        limit("limit: sorted, id", limits::SortedById::load),
        own("bestow, handle", own::Own::by_handle),
        own("bestow, id", own::Own::by_id),
        own("bestow, text", own::Own::by_text),
        engine("regorus, register machine", rego::Rego::load, 8_000_000),
        engine("cedar-policy, sets", cedar::Cedar::load, 4_000_000),
        engine("casbin, one enforcer each", casbin_rs::Casbin::load, 300_000),
        engine("biscuit-auth, verified", biscuit::Biscuits::load, 40_000),
    ]
}

fn main() {
    let named: Vec<_> = std::env::args().skip(1).map(|world| read(&world)).collect();
    let worlds = if named.is_empty() { WORLDS.to_vec() } else { named };
    for (agents, roots) in worlds {
        let world = World::new(agents, roots);
        let queries = world.queries(QUERIES);
        let truth: Vec<_> = queries.iter().map(|query| oracle(&world, query)).collect();
        let taking_part = contenders().into_iter().filter(|entry| agents * roots <= entry.most_roots);
        let all: Vec<_> = taking_part.map(|entry| measure::measure(entry, &world, &queries, &truth)).collect();
        table::print(agents, roots, &all);
        if let Some(file) = std::env::var_os("PICTURE").filter(|_| roots == 32 && agents == 1_000) {
            let title = format!("A permission check, {agents} agents with {roots} directories each (less is better)");
            std::fs::write(file, picture::of(&title, &all)).unwrap();
        }
    }
}

fn read(text: &str) -> (usize, usize) {
    let numbers = text.split_once('x').and_then(|(agents, roots)| Some((agents.parse().ok()?, roots.parse().ok()?)));
    numbers.unwrap_or_else(|| panic!("`{text}` is no world: write AGENTSxROOTS, as in 1000000x4"))
}

/// The plain loop that all contenders have to agree with.
fn oracle(world: &World, query: &Query) -> bool {
    let below = |root: &str| query.path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    world.agents[query.agent].1.iter().any(|(held, root)| query.access <= *held && below(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_answers_like_the_oracle_in_a_small_world() {
        let world = World::new(100, 8);
        let queries = world.queries(1 << 10);
        let truth: Vec<_> = queries.iter().map(|query| oracle(&world, query)).collect();
        assert!(truth.contains(&true) && truth.contains(&false));
        for entry in contenders() {
            measure::measure(entry, &world, &queries, &truth);
        }
    }
}
