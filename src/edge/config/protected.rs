//! Paths that no grant reaches, whatever the file says, unless it names exactly that path.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use super::{Problem, finding::quoted};
use crate::{
    fs::{self, Trail},
    model::{Floor, SanitizedPath},
};

/// The engine itself: what it was started with, and its memory. Never followed: each thread would lead elsewhere.
fn of_this_process() -> [String; 3] {
    ["/proc/self".to_owned(), "/proc/thread-self".to_owned(), format!("/proc/{}", std::process::id())]
}

/// The built-in list, what the file adds, and the file itself. Where the others of them have led so far is in `led`.
pub(super) fn list(
    home: Option<&SanitizedPath>,
    added: Vec<SanitizedPath>,
    own: Vec<SanitizedPath>,
    led: &mut BTreeMap<SanitizedPath, BTreeSet<SanitizedPath>>,
) -> Arc<[SanitizedPath]> {
    // Every engine protects them; here links of theirs are followed again, in the home that this file speaks of.
    let named: Vec<SanitizedPath> = Floor::names(home).chain(added).collect();
    for path in &named {
        led.entry(path.clone()).or_default().extend([path.clone()].into_iter().chain(real(path)));
    }
    let named = named.iter().filter_map(|path| led.get(path)).flatten().cloned();
    let own = own.into_iter().flat_map(|path| [real(&path), Some(path)]).flatten();
    let process = of_this_process().into_iter().filter_map(|path| path.parse().ok());
    named.chain(own).chain(process).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The file itself, and every link that leads to it.
pub(super) fn own(policy: &Trail) -> Result<Vec<SanitizedPath>, Problem> {
    policy.links.iter().chain([&policy.real]).map(|path| sanitized(path, "the path of this file")).collect()
}

/// `path` as the engine takes it, or why it does not.
pub(super) fn sanitized(path: &Path, what: &str) -> Result<SanitizedPath, Problem> {
    let text = path.to_str().ok_or_else(|| Problem::new(format!("{what} is not UTF-8")))?;
    text.parse().map_err(|why| Problem::new(format!("{what} cannot be used: {}: {why}", quoted(text))))
}

/// Where `path` leads: a link to a secret is as good as the secret.
fn real(path: &SanitizedPath) -> Option<SanitizedPath> {
    // What this process may not look into it cannot resolve either; the name stays protected.
    fs::real(path.as_str()).ok().map(|real| real.path().clone())
}
