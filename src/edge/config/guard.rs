//! No agent may change what decides about it: not the policy file, and not a link that the file relies on.
//!
//! A link in a directory that an agent writes is as good as a tag that the agent wrote itself: at the next reload
//! it would lead wherever the agent likes (weakness W-1 of the engine behind `sources/004`).

use std::{collections::BTreeMap, path::Path};

use super::{
    Problem,
    agents::Draft,
    finding::{Findings, quoted},
};
use crate::{
    fs::Trail,
    model::{Access, AgentId, Permission, SanitizedPath},
};

/// Where a write root stands in the file, whose it is, and what it is. A root of `[defaults]` is its first agent's.
type Roots<'d> = BTreeMap<usize, (&'d AgentId, &'d SanitizedPath)>;

/// Notes every write root over the policy file, and every path that leads through a link below a write root.
pub(super) fn check(drafts: &[Draft], policy: &Trail, found: &mut Findings<'_>) {
    let mut roots = Roots::new();
    for draft in drafts {
        for written in &draft.rights {
            if let Permission::Path(Access::Write, root) = &written.right.permission {
                roots.entry(written.offset).or_insert((&draft.id, root));
            }
        }
    }
    for (offset, (agent, root)) in &roots {
        if policy.names.iter().any(|name| holds(root, name)) {
            let message = format!(
                "agent `{agent}` may write {}, which holds this file: it could give itself any right",
                shown(root)
            );
            found.add(*offset, Problem::new(message).help("move this file out of there, or name a smaller directory"));
        }
    }
    let mut links = BTreeMap::new();
    for draft in drafts {
        links.extend(draft.rights.iter().map(|written| (written.offset, &written.links)));
        links.extend(draft.stand.iter().map(|stand| (stand.offset, &stand.links)));
    }
    for (offset, links) in links {
        if let Some(problem) = links.iter().find_map(|link| replaceable(link, &roots)) {
            found.add(offset, problem);
        }
    }
}

fn replaceable(link: &Path, roots: &Roots<'_>) -> Option<Problem> {
    let (agent, root) = roots.values().find(|(_, root)| holds(root, link))?;
    let link = quoted(&link.to_string_lossy());
    let message =
        format!("this leads through the link {link}, which agent `{agent}` may replace: it may write {}", shown(root));
    Some(Problem::new(message).help("name the directory itself"))
}

/// By component, as everywhere.
fn holds(root: &SanitizedPath, path: &Path) -> bool {
    path.starts_with(root.as_path())
}

fn shown(root: &SanitizedPath) -> String {
    quoted(root.as_str())
}
