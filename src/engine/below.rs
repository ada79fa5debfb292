//! Finds the paths below a used directory, and the matches of a pattern, that a rule or a policy mentions.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{
    kernel::{ResolvedAction, Spoken, Target, Use, operation_of},
    model::{Access, AgentId, PathGlob, Permission, SanitizedPath, Tier, UseOrigin},
};

use super::{Error, plain_action::invalid, shared::Shared};

/// Paths that an action uses besides those that it names.
#[derive(Debug, Default)]
pub(super) struct Reached {
    trees: Vec<Tree>,
    /// Matches of patterns, with the access to them.
    names: Vec<(Access, SanitizedPath)>,
    /// Directories whose file versions the action shows. The engine does not know which versions are stored.
    versions: Vec<SanitizedPath>,
}

/// A directory that is used with its content.
#[derive(Debug)]
struct Tree {
    access: Access,
    root: SanitizedPath,
    only: Only,
}

/// The part of a directory that is used.
#[derive(Debug)]
enum Only {
    All,
    /// The paths that match one of these absolute globs.
    Globs(GlobSet),
}

impl Tree {
    fn uses(&self, path: &SanitizedPath) -> bool {
        let within = self.root.contains(path)
            && match &self.only {
                Only::All => true,
                Only::Globs(globs) => globs.is_match(path.as_path()),
            };
        // A use of the root is also a use of its ancestor directories.
        within || path.contains(&self.root)
    }
}

impl Reached {
    /// Adds a directory with its whole content.
    pub(super) fn all_below(&mut self, access: Access, root: SanitizedPath) {
        self.trees.push(Tree { access, root, only: Only::All });
    }

    /// Adds the part of a directory that matches one of `globs`. They match at any depth, as in search tools.
    pub(super) fn found_below(&mut self, access: Access, root: SanitizedPath, globs: &[&str]) {
        let only = at_any_depth(&root, globs).map_or(Only::All, Only::Globs);
        self.trees.push(Tree { access, root, only });
    }

    /// Adds a directory whose stored file versions a repository shows.
    pub(super) fn versions_below(&mut self, root: SanitizedPath) {
        self.versions.push(root);
    }

    /// Adds every path below `root` that matches a shell pattern, where no disk lists the matches.
    fn matched_below(&mut self, access: Access, root: SanitizedPath, pattern: &str) {
        let only = from(&root, pattern).map_or(Only::All, Only::Globs);
        self.trees.push(Tree { access, root, only });
    }

    fn roots(&self, access: Access) -> Vec<SanitizedPath> {
        let trees = self.trees.iter().filter(|tree| tree.access == access).map(|tree| tree.root.clone());
        trees.collect()
    }
}

/// Builds globs that match at any depth below `root`. Returns none if one of them excludes paths or is invalid.
fn at_any_depth(root: &SanitizedPath, globs: &[&str]) -> Option<GlobSet> {
    if globs.is_empty() {
        return None;
    }
    let root = globset::escape(root.as_str().trim_end_matches('/'));
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let glob = glob.strip_prefix("./").unwrap_or(glob).trim_start_matches('/');
        if glob.is_empty() || glob.starts_with('!') {
            return None;
        }
        for form in [format!("{root}/**/{glob}"), format!("{root}/**/{glob}/**")] {
            set.add(GlobBuilder::new(&form).case_insensitive(true).build().ok()?);
        }
    }
    set.build().ok()
}

fn from(root: &SanitizedPath, pattern: &str) -> Option<GlobSet> {
    let root = globset::escape(root.as_str().trim_end_matches('/'));
    let mut set = GlobSetBuilder::new();
    for form in [format!("{root}/{pattern}"), format!("{root}/{pattern}/**")] {
        set.add(GlobBuilder::new(&form).literal_separator(true).build().ok()?);
    }
    set.build().ok()
}

/// The reason why a command line that shows file versions needs an approval.
const MAY_SHOW: &str = "Dangerous command: it may show versions of a file for which a rule denies or asks";

impl Shared {
    /// Adds the matches of `pattern` in `start`, with their content if `all` is set.
    pub(super) fn reach_pattern(
        &self,
        reached: &mut Reached,
        access: Access,
        start: &SanitizedPath,
        pattern: &str,
        all: bool,
    ) {
        if self.paths.have_no_links() {
            return reached.matched_below(access, start.clone(), pattern);
        }
        let Some(names) = self.paths.matching(start, pattern) else {
            return reached.all_below(access, start.clone());
        };
        for name in names {
            // A path that cannot be followed cannot be used either.
            let Ok(real) = self.paths.real(&name) else { continue };
            if all {
                reached.all_below(access, real.path.clone());
            }
            reached.names.push((access, real.path));
        }
    }

    /// Adds the targets of the links below `root`.
    pub(super) fn reach_links(&self, reached: &mut Reached, access: Access, root: &SanitizedPath) {
        match self.paths.linked_below(root) {
            Some(found) => found.into_iter().for_each(|found| reached.all_below(access, found)),
            // These paths have no links. Otherwise the targets are unknown.
            None if self.paths.have_no_links() => {}
            None => reached.all_below(access, SanitizedPath::root()),
        }
    }

    /// Raises the tier of a command line that shows file versions, unless none of the versions can be protected, denied
    /// or subject to approval. The engine does not know which versions the repository stores.
    pub(super) fn with_what_versions_show(
        &self,
        agent: &AgentId,
        mut understood: ResolvedAction,
        reached: &Reached,
    ) -> Result<ResolvedAction, Error> {
        if reached.versions.is_empty() || understood.in_sandbox || !understood.reads_besides() {
            return Ok(understood);
        }
        let tool = understood.tool.clone();
        let spoken = self.look(|state, _| {
            let known = state.agents.get(agent)?;
            Some(state.spoken_below(known, &tool, Access::Read, &reached.versions))
        })?;
        let mut shown = Reached::default();
        reached.versions.iter().for_each(|root| shown.all_below(Access::Read, root.clone()));
        let found = spoken.map(|spoken| self.spoken_of(&spoken, Access::Read, &shown, &[]));
        if found.is_none_or(|found| found.map_or(true, |found| !found.is_empty())) {
            understood.distrust(MAY_SHOW);
        }
        Ok(understood)
    }

    /// Adds a use for each reached path that is protected, denied or subject to approval.
    pub(super) fn with_what_is_reached(
        &self,
        agent: &AgentId,
        mut understood: ResolvedAction,
        reached: &Reached,
    ) -> Result<ResolvedAction, Error> {
        // A sandbox hides such paths from the command and allows the rest.
        if understood.in_sandbox {
            return Ok(understood);
        }
        // A destructive action is denied anyway. A person who enables it once has seen the directory.
        let destroys = understood.tier == Some(Tier::Destructive);
        for access in [Access::Read, Access::Write] {
            let mut roots = reached.roots(access);
            let names: Vec<_> =
                reached.names.iter().filter(|(used, _)| *used == access).map(|(_, name)| name).collect();
            roots.extend(names.iter().copied().cloned());
            if roots.is_empty() {
                continue;
            }
            let tool = understood.tool.clone();
            let spoken = self.look(|state, _| {
                let known = state.agents.get(agent)?;
                let mut spoken = state.spoken_below(known, &tool, access, &roots);
                spoken.paths.retain(|path| !destroys || !state.is_protected(&Permission::write(path.clone())));
                Some(spoken)
            })?;
            let Some(spoken) = spoken else { continue };
            let found = match self.spoken_of(&spoken, access, reached, &names) {
                Ok(found) => found,
                Err(_) if destroys => continue,
                Err(why) => {
                    let text = understood.target().resource().to_owned();
                    return Ok(invalid(understood, &text, &why));
                }
            };
            for path in found {
                let (operation, target) = (operation_of(access), Target::Tree(path));
                understood.uses.add(Use { operation, target, takes: None, origin: UseOrigin::Named });
            }
        }
        Ok(understood)
    }

    /// Returns the reached paths that a rule or a policy mentions.
    fn spoken_of(
        &self,
        spoken: &Spoken,
        access: Access,
        reached: &Reached,
        names: &[&SanitizedPath],
    ) -> Result<Vec<SanitizedPath>, String> {
        let is_used = |path: &SanitizedPath| {
            let mut trees = reached.trees.iter().filter(|tree| tree.access == access);
            trees.any(|tree| tree.uses(path)) || names.iter().any(|name| name.contains(path) || path.contains(name))
        };
        let mut found: Vec<_> = spoken.paths.iter().filter(|path| is_used(path)).cloned().collect();
        if spoken.globs.is_empty() {
            return Ok(found);
        }
        for glob in &spoken.globs {
            for name in names {
                if glob.denies(name).map_err(|why| why.to_string())? {
                    found.push((*name).clone());
                    break;
                }
            }
        }
        let roots = reached.roots(access);
        if roots.is_empty() {
            return Ok(found);
        }
        match self.paths.first_below(&spoken.globs, &roots, &is_used) {
            Ok(Some(below)) => found.extend(below),
            // The disk cannot be searched: every path that a glob may match counts as existing.
            Ok(None) => {
                let below = |glob| roots.iter().filter_map(move |root| possible(glob, root, &is_used));
                found.extend(spoken.globs.iter().flat_map(below));
            }
            Err(why) => return Err(why.to_string()),
        }
        Ok(found)
    }
}

/// Returns a path below `root` that `glob` may match, if there is one. The decision about it applies to all matches.
fn possible(glob: &PathGlob, root: &SanitizedPath, is_used: &dyn Fn(&SanitizedPath) -> bool) -> Option<SanitizedPath> {
    let root_text = root.as_str().trim_end_matches('/');
    let text = glob.as_str();
    // The directory before the first wildcard contains every match.
    let plain = text.find(['*', '?', '[', '{', '\\']).and_then(|sign| text.get(..sign)).unwrap_or(text);
    let above = plain.rfind('/').and_then(|end| plain.get(..end)).unwrap_or_default();
    if above.parse::<SanitizedPath>().is_ok_and(|above| !above.contains(root) && !root.contains(&above)) {
        return None;
    }
    let inside = || text.split_once("/**/").map(|(_, rest)| rest);
    let of = |star| [Some(sample(text, star)), inside().map(|rest| format!("{root_text}/{}", sample(rest, star)))];
    let all = text.ends_with("/**").then(|| format!("{root_text}/x"));
    let mut texts = ["", "x"].into_iter().flat_map(of).chain([all]).flatten();
    texts.find_map(|text| {
        let path = text.parse::<SanitizedPath>().ok().filter(|path| root.contains(path) && is_used(path))?;
        match glob.denies(&path) {
            Ok(denies) => denies.then_some(path),
            // The glob cannot be evaluated: it may match the whole root.
            Err(_) => Some(root.clone()),
        }
    })
}

/// Returns one text that a glob matches, with `star` in place of each `*`.
fn sample(glob: &str, star: &str) -> String {
    let (mut text, mut chars) = (String::new(), glob.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '*' => {
                let is_deep = chars.next_if_eq(&'*').is_some();
                if is_deep && chars.next_if_eq(&'/').is_some() {
                    continue;
                }
                text += if is_deep { "x" } else { star };
            }
            '?' => text.push('x'),
            '\\' => text.extend(chars.next()),
            '[' => {
                let first = chars.next();
                text.push(first.filter(|c| !matches!(c, '!' | '^')).unwrap_or('x'));
                chars.by_ref().find(|c| *c == ']');
            }
            '{' => {
                let all: String = chars.by_ref().take_while(|c| *c != '}').collect();
                text += all.split(',').next().unwrap_or_default();
            }
            c => text.push(c),
        }
    }
    text
}
