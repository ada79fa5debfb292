//! Compares a file whose text is valid with the disk, line by line.
//!
//! A person writes the text, but agents write parts of the disk. So a line that does not agree with the disk grants no
//! permission, and never prevents another line, or the removal of one, from taking effect. Two weaknesses would let
//! agents write permissions of their own. One is a link in a directory that an agent writes: at the next reload it
//! would lead to any place the agent chooses (weakness W-1 of the engine behind `sources/004`). The other is the policy
//! file itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    Baseline, Problem,
    agents::Draft,
    diagnostics::{Diagnostics, quoted, system},
    file_location::PolicyLocation,
    permissions::Written,
    rules,
};
use crate::{
    fs::{self, Trail},
    model::{
        Access, AgentId, AgentPolicy, Anchor, Hold, Permission, PinnedPermission, PolicyPermission, SanitizedPath,
    },
    ports::{DiskPaths, Paths, Real},
};

/// The real location of a path in the file, and the links on the way to it.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPath {
    real: Real,
    /// The anchor, if the path does not exist.
    anchor: Option<Anchor>,
    links: Vec<PathBuf>,
}

/// Returns the path as written, without reading the disk.
pub(super) fn as_written(path: &SanitizedPath) -> Result<ResolvedPath, Problem> {
    Ok(ResolvedPath { real: Real { path: path.clone(), identity: None }, anchor: None, links: Vec::new() })
}

/// Returns the reason why a rule whose pattern starts with `start` can never match: rules are compared with real paths.
fn unreachable_rule(start: &SanitizedPath, lead: Result<ResolvedPath, Problem>) -> Option<Problem> {
    let real = match lead {
        Ok(lead) => lead.real.path,
        Err(problem) => return Some(problem),
    };
    let (written, leads) = (shown(start), shown(&real));
    let message = format!(
        "{written} leads through a link to {leads}: a rule is compared with real paths, so this path never \
            matches"
    );
    (real != *start).then(|| Problem::new(message).help(format!("write {leads}")))
}

/// Returns every pattern that starts with a link, by its offset. Each start is looked up once.
pub(super) fn unreachable_rules<'w>(
    written: impl Iterator<Item = &'w rules::Written>,
    mut look: impl FnMut(&SanitizedPath) -> Result<ResolvedPath, Problem>,
) -> Vec<(usize, Problem)> {
    let mut starts: BTreeMap<&SanitizedPath, Vec<usize>> = BTreeMap::new();
    for start in written.flat_map(|written| &written.starts) {
        starts.entry(&start.value).or_default().push(start.place);
    }
    let unreachable = starts.into_iter().filter_map(|(start, at)| Some((unreachable_rule(start, look(start))?, at)));
    unreachable.flat_map(|(problem, at)| at.into_iter().map(move |at| (at, problem.clone()))).collect()
}

/// Resolves `path` on the disk.
pub(super) fn look(path: &SanitizedPath) -> Result<ResolvedPath, Problem> {
    let unknown = |why: String| Problem::new(format!("{} cannot be resolved: {why}", shown(path)));
    let real = fs::real(path.as_str()).map_err(|why| unknown(why.to_string()))?;
    if real.identity().is_none() && path.as_str().contains(['*', '?']) {
        let message = format!("{} does not exist, and a permission does not contain a pattern", shown(path));
        return Err(Problem::new(message).help("name a directory: the permission covers everything in it"));
    }
    let trail = Trail::of(path.as_path()).map_err(|error| unknown(system(&error)))?;
    // INVARIANT: the links are those on the way to the pinned object, not those of a later moment.
    if trail.real != real.path().as_path() || trail.identity != real.identity() {
        return Err(unknown("it keeps changing".to_owned()));
    }
    let anchor = match real.identity() {
        Some(_) => None,
        None => DiskPaths.anchor(real.path()).map_err(|why| unknown(why.to_string()))?,
    };
    Ok(ResolvedPath { real: Real { path: real.path().clone(), identity: real.identity() }, anchor, links: trail.links })
}

/// The agents that agree with the disk, and the reason for each line that is left out, by its offset.
#[derive(Debug)]
pub(super) struct Agreed {
    pub(super) agents: BTreeMap<AgentId, AgentPolicy>,
    pub(super) left_out: BTreeMap<usize, Problem>,
    /// Agents that are left out because their working directory is.
    pub(super) nowhere: BTreeMap<usize, Problem>,
}

/// Compares `drafts` with the disk, looks up each path once, and records new facts in `before`.
pub(super) fn agree(
    drafts: &[Draft],
    ground: &PolicyLocation,
    before: &mut Baseline,
    found: &Diagnostics<'_>,
    look: impl FnMut(&SanitizedPath) -> Result<ResolvedPath, Problem>,
) -> Agreed {
    let mut lines = Lines::of(drafts, before, look);
    lines.leave_out_what_holds(ground);
    // A line that leads through a link may be left out itself, and must not affect other lines. So the first pass uses
    // only roots without links.
    lines.leave_out_what_leads_below(&lines.roots(|lead| lead.links.is_empty()));
    lines.leave_out_what_leads_below(&lines.roots(|_| true));
    lines.pin(before);
    let agents = drafts.iter().filter_map(|draft| lines.policy(draft, before, found)).collect();
    Agreed { agents, left_out: lines.left_out, nowhere: lines.nowhere }
}

/// A path in the file, and its agent. A path of `[defaults]` belongs to the first agent that uses it.
#[derive(Clone, Copy, Debug)]
struct Line<'d> {
    agent: &'d AgentId,
    /// The access; none for a working directory.
    access: Option<Access>,
    path: &'d SanitizedPath,
}

/// The position and the real location of each path in the file.
#[derive(Debug)]
struct Lines<'d> {
    at: BTreeMap<usize, Line<'d>>,
    leads: BTreeMap<&'d SanitizedPath, ResolvedPath>,
    left_out: BTreeMap<usize, Problem>,
    nowhere: BTreeMap<usize, Problem>,
}

/// The directories that agents may write, by real path.
type Roots<'d> = BTreeMap<PathBuf, &'d AgentId>;

impl<'d> Lines<'d> {
    fn of(
        drafts: &'d [Draft],
        before: &Baseline,
        mut look: impl FnMut(&SanitizedPath) -> Result<ResolvedPath, Problem>,
    ) -> Lines<'d> {
        let mut at = BTreeMap::new();
        for draft in drafts {
            for written in &draft.permissions {
                if let Permission::Path(access, path) = &written.permission {
                    at.entry(written.offset).or_insert(Line { agent: &draft.id, access: Some(*access), path });
                }
            }
            if let Some(stand) = &draft.stand {
                at.entry(stand.place).or_insert(Line { agent: &draft.id, access: None, path: &stand.value });
            }
        }
        let paths: BTreeSet<_> = at.values().map(|line| line.path).collect();
        let mut looked: BTreeMap<_, _> = paths
            .into_iter()
            .map(|path| (path, look(path).and_then(|lead| as_before(path, lead, before.pins.get(path)))))
            .collect();
        let wrong = |line: &Line<'_>| looked.get(line.path).and_then(|lead| lead.as_ref().err().cloned());
        let left_out = at.iter().filter_map(|(offset, line)| Some((*offset, wrong(line)?))).collect();
        looked.retain(|_, lead| lead.is_ok());
        let leads = looked.into_iter().filter_map(|(path, lead)| Some((path, lead.ok()?))).collect();
        Lines { at, leads, left_out, nowhere: BTreeMap::new() }
    }

    /// Returns the lines that still count, with their real locations.
    fn counted(&self) -> impl Iterator<Item = (usize, Line<'d>, &ResolvedPath)> {
        let counted = self.at.iter().filter(|(offset, _)| !self.left_out.contains_key(offset));
        counted.filter_map(|(offset, line)| Some((*offset, *line, self.leads.get(line.path)?)))
    }

    fn written(&self) -> impl Iterator<Item = (usize, Line<'d>, &ResolvedPath)> {
        self.counted().filter(|(_, line, _)| line.access == Some(Access::Write))
    }

    fn leave_out_what_holds(&mut self, ground: &PolicyLocation) {
        let holds = |(offset, line, lead): (usize, Line<'_>, &ResolvedPath)| {
            Some((offset, ground.held_by(line.agent, &lead.real.path, lead.real.identity)?))
        };
        let given_away: Vec<_> = self.written().filter_map(holds).collect();
        self.left_out.extend(given_away);
    }

    fn roots(&self, sure: impl Fn(&ResolvedPath) -> bool) -> Roots<'d> {
        let sure = self.written().filter(|(_, _, lead)| sure(lead));
        let mut roots = Roots::new();
        for (_, line, lead) in sure {
            roots.entry(lead.real.path.as_path().to_owned()).or_insert(line.agent);
        }
        roots
    }

    fn leave_out_what_leads_below(&mut self, roots: &Roots<'_>) {
        let below = |(offset, _, lead): (usize, Line<'_>, &ResolvedPath)| {
            lead.links.iter().find_map(|link| replaceable(link, roots)).map(|problem| (offset, problem))
        };
        let below: Vec<_> = self.counted().filter_map(below).collect();
        self.left_out.extend(below);
    }

    /// Pins the paths: the real location of a path when it was first accepted is its meaning from then on.
    fn pin(&self, before: &mut Baseline) {
        for (_, line, lead) in self.counted() {
            before.pins.entry(line.path.clone()).or_insert_with(|| lead.real.path.clone());
        }
    }

    /// Returns the agent's policy. Returns none, and records the reason, if the agent has no working directory.
    fn policy(
        &mut self,
        draft: &Draft,
        before: &mut Baseline,
        found: &Diagnostics<'_>,
    ) -> Option<(AgentId, AgentPolicy)> {
        // If the text has no working directory, the text is invalid, and that is reported already.
        let written = draft.stand.as_ref()?;
        let stand = Some(written).filter(|written| !self.left_out.contains_key(&written.place));
        let stand = stand.and_then(|stand| self.leads.get(&stand.value)).map(|lead| lead.real.path.clone());
        let Some(stand) = stand.or_else(|| before.stands.get(&draft.id).cloned()) else {
            let message = format!("agent `{}` is left out, because it has no `working_dir`", draft.id);
            self.nowhere.insert(draft.offset, Problem::new(message));
            return None;
        };
        before.stands.insert(draft.id.clone(), stand.clone());
        let mut known = BTreeSet::new();
        let mut permissions = Vec::with_capacity(draft.permissions.len());
        for written in &draft.permissions {
            let Some(pinned) = self.pinned(written) else { continue };
            if known.insert((pinned.permission.clone(), written.hold == Hold::Use)) {
                permissions.push(PolicyPermission { pinned, hold: written.hold, place: found.place(written.offset) });
            }
        }
        let rules = std::sync::Arc::clone(&draft.binding);
        Some((draft.id.clone(), AgentPolicy { profile: draft.profile(stand)?, permissions, rules }))
    }

    fn pinned(&self, written: &Written) -> Option<PinnedPermission> {
        let Permission::Path(access, path) = &written.permission else {
            return Some(written.permission.clone().into());
        };
        if self.left_out.contains_key(&written.offset) {
            return None;
        }
        let lead = self.leads.get(path)?;
        let permission = Permission::Path(*access, lead.real.path.clone());
        Some(PinnedPermission::to(permission, lead.real.identity).anchored(lead.anchor.clone()))
    }
}

/// Refuses a path that now has another real location than before. Another object at the same location is accepted.
fn as_before(
    path: &SanitizedPath,
    lead: ResolvedPath,
    before: Option<&SanitizedPath>,
) -> Result<ResolvedPath, Problem> {
    match before {
        Some(real) if *real != lead.real.path => Err(Problem::new(format!(
            "{} led to {} when the file was first read, and now leads to {}",
            shown(path),
            shown(real),
            shown(&lead.real.path)
        ))
        .help("if the change is intended, write the real path, or restart the engine")),
        Some(_) | None => Ok(lead),
    }
}

fn replaceable(link: &Path, roots: &Roots<'_>) -> Option<Problem> {
    // The comparison is by component.
    let (root, agent) = link.ancestors().find_map(|above| roots.get_key_value(above))?;
    let (link, root) = (quoted(&link.to_string_lossy()), quoted(&root.to_string_lossy()));
    let message = format!(
        "the path leads through the link {link}, and agent `{agent}` may replace this link \
        because it may write {root}"
    );
    Some(Problem::new(message).help("name the directory itself"))
}

fn shown(path: &SanitizedPath) -> String {
    quoted(path.as_str())
}
