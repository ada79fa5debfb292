//! Protected paths: a grant covers one only if it names exactly that path.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use super::{Problem, diagnostics::quoted};
use crate::{
    fs::{self, Trail},
    model::{Floor, SanitizedPath},
};

/// The paths of the engine's own process entries: its arguments and its memory. They are not resolved, because they
/// lead elsewhere in each thread, and in each engine that goes on from the same state. Every engine protects the entry
/// with its own number ([`Floor::of_this_machine`]).
const OF_THIS_PROCESS: [&str; 2] = ["/proc/self", "/proc/thread-self"];

/// Returns the built-in protected paths, those that the file adds, and the file itself. `led` stores the real locations
/// that the first two have had so far.
pub(super) fn list(
    home: Option<&SanitizedPath>,
    added: Vec<SanitizedPath>,
    own: Vec<SanitizedPath>,
    led: &mut BTreeMap<SanitizedPath, BTreeSet<SanitizedPath>>,
) -> Arc<[SanitizedPath]> {
    // Every engine protects the built-in paths. Here their links are followed too, with the home directory of this
    // file.
    let named: Vec<SanitizedPath> = Floor::names(home).chain(added).collect();
    for path in &named {
        led.entry(path.clone()).or_default().extend([path.clone()].into_iter().chain(real(path)));
    }
    let named = named.iter().filter_map(|path| led.get(path)).flatten().cloned();
    let own = own.into_iter().flat_map(|path| [real(&path), Some(path)]).flatten();
    let process = OF_THIS_PROCESS.into_iter().filter_map(|path| path.parse().ok());
    named.chain(own).chain(process).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the path of the file itself, and of every link that leads to it.
pub(super) fn own(policy: &Trail) -> Result<Vec<SanitizedPath>, Problem> {
    policy.links.iter().chain([&policy.real]).map(|path| sanitized(path, "the path of this file")).collect()
}

/// Returns `path` as a valid path, or the reason why it is invalid.
pub(super) fn sanitized(path: &Path, what: &str) -> Result<SanitizedPath, Problem> {
    let text = path.to_str().ok_or_else(|| Problem::new(format!("{what} is not UTF-8")))?;
    text.parse().map_err(|why| Problem::new(format!("{what} cannot be used: {}: {why}", quoted(text))))
}

/// Returns the real location of `path`, because a link to a secret exposes the secret.
fn real(path: &SanitizedPath) -> Option<SanitizedPath> {
    // A path that this process may not read cannot be resolved. Its name stays protected.
    fs::real(path.as_str()).ok().map(|real| real.path().clone())
}
