//! Compares a check of bestow with a check of general engines and of hand-written limits, on the same random work.
//! The answers are compared with an oracle first.
//!
//! `benches/peers/run [AGENTSxROOTS …]` measures the given worlds, or the usual ones, prints a table for each and one
//! for all, and writes the picture of the world 1000x32 to the file in `PICTURE`.

mod biscuit;
mod casbin_rs;
mod cedar;
mod contender;
mod limits;
mod measure;
mod memory;
mod own;
mod picture;
mod rego;
mod table;
mod tenuo_rs;
#[path = "../../world/mod.rs"]
mod world;

use contender::{Entry, Kind};
use measure::Case;
use memory::Needs;
use table::Measured;

/// The usual worlds: agents, and directories of each. Larger ones are measured when they are named.
const WORLDS: [(usize, usize); 5] = [(1_000, 4), (1_000, 32), (1_000, 256), (100_000, 4), (100_000, 32)];

fn contenders() -> [Entry; 12] {
    let limit = |name, load| Entry { name, load, kind: Kind::Limit };
    let own = |name, load| Entry { name, load, kind: Kind::Own };
    let engine = |name, load| Entry { name, load, kind: Kind::Engine };
    [
        limit("limit: fingerprints, handle", limits::Fingerprints::by_handle),
        limit("limit: fingerprints, id", limits::Fingerprints::by_id),
        limit("limit: sorted, handle", limits::SortedByHandle::load),
        limit("limit: sorted, id", limits::SortedById::load),
        own("bestow, handle", own::Own::by_handle),
        own("bestow, id", own::Own::by_id),
        own("bestow, text", own::Own::by_text),
        engine("tenuo, verified", tenuo_rs::Tenuo::load),
        engine("regorus, register machine", rego::Rego::load),
        engine("cedar-policy, sets", cedar::Cedar::load),
        engine("casbin, one enforcer each", casbin_rs::Casbin::load),
        engine("biscuit-auth, verified", biscuit::Biscuits::load),
    ]
}

fn main() {
    let named: Vec<_> = std::env::args().skip(1).map(|world| read(&world)).collect();
    let worlds = if named.is_empty() { WORLDS.to_vec() } else { named };
    let available = memory::available();
    let mut all = Vec::new();
    for (agents, roots) in worlds {
        let world = measured(agents, roots, available);
        table::print(&world);
        if let Some(file) = std::env::var_os("PICTURE").filter(|_| roots == 32 && agents == 1_000) {
            std::fs::write(file, picture::of(&world)).unwrap();
        }
        all.push(world);
    }
    table::print_checks(&all);
}

/// Measures the contenders for which there is enough memory.
fn measured(agents: usize, roots: usize, available: f64) -> Measured {
    let needs = Needs::of(agents, roots);
    let case = (needs.world <= available).then(|| Case::new(agents, roots));
    let rows = contenders().map(|entry| {
        let bytes = needs.with(entry);
        let case = case.as_ref().filter(|_| bytes <= available);
        (entry, case.map(|case| measure::measure(entry, case)).ok_or(bytes))
    });
    Measured { agents, roots, rows: rows.into() }
}

fn read(text: &str) -> (usize, usize) {
    let numbers = text.split_once('x').and_then(|(agents, roots)| Some((agents.parse().ok()?, roots.parse().ok()?)));
    numbers.unwrap_or_else(|| panic!("`{text}` is no world: write AGENTSxROOTS, as in 1000000x4"))
}
