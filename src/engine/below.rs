//! Finds the paths below a used directory, and the matches of a pattern, that a rule or a policy mentions.

use bestow_command::internal::DeclaredCall;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{
    kernel::{ResolvedAction, Spoken, Target, Use, operation_of},
    model::{Access, AgentId, Below, Escaped, PathGlob, Permission, SanitizedPath, Selection, Tier, UseOrigin},
    ports::{PathFailure, Paths, Real},
};

use super::{
    Error,
    selected::{SelectedFiles, tracked_files},
    shared::Shared,
};

/// Paths that an action uses besides those that it names.
#[derive(Debug, Default)]
pub(super) struct Reached {
    trees: Vec<Tree>,
    /// Matches of patterns, with the access to them.
    names: Vec<(Access, SanitizedPath)>,
    /// Directories among these matches whose entries are read, and the directories of the files among them.
    listed: Vec<SanitizedPath>,
    /// Directories whose file versions the action shows. The engine does not know which versions are stored.
    versions: Vec<Versions>,
}

/// A directory that is used with its content.
#[derive(Debug)]
struct Tree {
    access: Access,
    root: SanitizedPath,
    only: Only,
    /// True if a link that a search may select leads here.
    is_linked: bool,
}

/// The part of a directory that is used.
#[derive(Debug)]
enum Only {
    All,
    /// The paths that match one of these absolute globs.
    Globs(GlobSet),
    /// The files with a name like one of these.
    Names(Vec<PathGlob>),
    Selected(Box<SelectedFiles>),
}

/// A repository of which an action shows versions of files.
#[derive(Debug)]
struct Versions {
    start: SanitizedPath,
    /// True if only files of the index are shown.
    only_tracked: bool,
    /// The paths to which the action restricts itself. Empty for all.
    paths: Vec<SanitizedPath>,
}

impl Tree {
    fn uses(&self, path: &SanitizedPath, paths: &dyn Paths) -> bool {
        let within = self.root.contains(path)
            && match &self.only {
                Only::All => true,
                Only::Globs(globs) => globs.is_match(path.as_path()),
                Only::Names(globs) => may_have_name(globs, path, paths),
                Only::Selected(selected) => selected.may_include(path, paths),
            };
        // A use of the root is also a use of its ancestor directories.
        within || path.contains(&self.root)
    }

    /// Returns true if the action cannot leave out `path`. A search may leave out what it reads, and what it deletes if
    /// it has a condition.
    fn cannot_leave_out(&self, path: &SanitizedPath) -> bool {
        let is_conditional = matches!(&self.only, Only::Selected(selected) if selected.is_conditional());
        self.access == Access::Write && !is_conditional || !self.is_linked && path.contains(&self.root)
    }
}

impl Reached {
    /// Adds a directory with its whole content.
    pub(super) fn all_below(&mut self, access: Access, root: SanitizedPath) {
        self.trees.push(Tree { access, root, only: Only::All, is_linked: false });
    }

    /// Adds the target of a link that a search may select.
    fn linked_below(&mut self, access: Access, root: SanitizedPath) {
        self.trees.push(Tree { access, root, only: Only::All, is_linked: true });
    }

    /// Adds the files of a directory that are selected.
    fn selected_below(&mut self, access: Access, root: SanitizedPath, selected: SelectedFiles) {
        self.trees.push(Tree { access, root, only: Only::Selected(Box::new(selected)), is_linked: false });
    }

    /// Adds the files of a directory that one of `globs` selects.
    fn found_below(&mut self, access: Access, root: SanitizedPath, globs: &[&str]) {
        let only = names_of(globs).map_or(Only::All, Only::Names);
        self.trees.push(Tree { access, root, only, is_linked: false });
    }

    /// Adds every path below `root` that matches a shell pattern, where no disk lists the matches.
    fn matched_below(&mut self, access: Access, root: SanitizedPath, pattern: &str) {
        let only = from(&root, pattern).map_or(Only::All, Only::Globs);
        self.trees.push(Tree { access, root, only, is_linked: false });
    }

    fn trees(&self, access: Access) -> impl Iterator<Item = &Tree> {
        self.trees.iter().filter(move |tree| tree.access == access)
    }
}

/// Returns globs for the names of files that `globs` of a search tool may select, at any depth. Tools differ in what a
/// directory in a glob is relative to, and some take several globs in one text, so only the last name counts. Returns
/// none if every name may be selected.
fn names_of(globs: &[&str]) -> Option<Vec<PathGlob>> {
    let mut names = Vec::new();
    for glob in globs {
        if glob.contains('{') && has_comma_outside_braces(glob) {
            return None;
        }
        let separators: &[char] = if glob.contains('{') { &[' ', '\t', '\n'] } else { &[' ', '\t', '\n', ','] };
        let whole = glob.contains(separators).then_some(*glob);
        for part in glob.split(separators).filter(|part| !part.is_empty()).chain(whole) {
            let last = part.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if matches!(last, "" | "." | "..")
                || part.starts_with('!')
                || last.contains("**")
                || last.contains(['[', '\\'])
            {
                return None;
            }
            let any_case: String = last.chars().map(in_any_case).collect();
            names.push(PathGlob::try_from(format!("/**/{any_case}")).ok()?);
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Returns true if a glob may be a list: it has a comma that separates no alternatives of a brace.
fn has_comma_outside_braces(glob: &str) -> bool {
    let mut depth = 0_usize;
    glob.chars().any(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Returns a part of a glob that matches a letter in both cases.
fn in_any_case(c: char) -> String {
    if c.is_ascii_alphabetic() {
        format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())
    } else {
        c.to_string()
    }
}

/// Returns true if `path`, or a file below it, may have one of these names.
fn may_have_name(globs: &[PathGlob], path: &SanitizedPath, paths: &dyn Paths) -> bool {
    let has_it = globs.iter().any(|glob| glob.denies(path).unwrap_or(true));
    has_it
        || paths.real(&[path.as_str(), "/-"].concat()).is_ok()
            && paths
                .denied_below(globs, std::slice::from_ref(path), 1, &|_| true)
                .map_or(true, |found| found.is_none_or(|found| !found.is_empty()))
}

fn from(root: &SanitizedPath, pattern: &str) -> Option<GlobSet> {
    let root = globset::escape(root.as_str().trim_end_matches('/'));
    let mut set = GlobSetBuilder::new();
    for form in [format!("{root}/{pattern}"), format!("{root}/{pattern}/**")] {
        set.add(GlobBuilder::new(&form).literal_separator(true).build().ok()?);
    }
    set.build().ok()
}

/// The maximum number of restricted paths in its directories that an action names one by one. A record lists twice as
/// many uses.
pub(super) const MAX_RESTRICTED_PATHS: usize = 32;

impl Shared {
    /// Adds the matches of `pattern` in `start`, with what `below` says of their content. Returns the matches, as far
    /// as the disk knows them.
    pub(super) fn reach_pattern(
        &self,
        reached: &mut Reached,
        access: Access,
        start: &SanitizedPath,
        pattern: &str,
        below: Below,
    ) -> Vec<String> {
        if self.paths.have_no_links() {
            reached.matched_below(access, start.clone(), pattern);
            return Vec::new();
        }
        let Some(names) = self.paths.matching(start, pattern) else {
            reached.all_below(access, start.clone());
            // Nobody knows which links it matches, so each of them may be one.
            self.reach_links(reached, access, start, (None, false, false));
            return Vec::new();
        };
        for name in &names {
            // A path that cannot be followed cannot be used either.
            let Ok(real) = self.paths.real(name) else { continue };
            if is_listing(access, below) {
                reached.listed.extend(directory_of_listing(&*self.paths, real).map(|real| real.path));
                continue;
            }
            if below.is_everything() {
                reached.all_below(access, real.path.clone());
            }
            reached.names.push((access, real.path));
        }
        names
    }

    /// Adds the content of `root`, as far as it is selected.
    pub(super) fn reach_content(
        &self,
        reached: &mut Reached,
        access: Access,
        root: &SanitizedPath,
        (selection, trusts_names): (Option<&Selection>, bool),
    ) {
        let top = selection.is_some_and(|selection| selection.from_top).then(|| self.top_around(root));
        let root = top.as_ref().unwrap_or(root);
        match selection {
            Some(selection) => {
                let selected = SelectedFiles::new(root, selection, trusts_names, &*self.paths);
                reached.selected_below(access, root.clone(), selected);
            }
            None => reached.all_below(access, root.clone()),
        }
    }

    /// Adds the content of a directory that a tool call uses: what matches one of its globs, or what is selected.
    pub(super) fn reach_of_call(
        &self,
        reached: &mut Reached,
        access: Access,
        root: &SanitizedPath,
        call: &DeclaredCall<'_>,
    ) {
        if call.globs.is_empty() && !call.selection.is_everything() {
            self.reach_content(reached, access, root, (Some(&call.selection), true));
        } else {
            reached.found_below(access, root.clone(), &call.globs);
        }
    }

    /// Adds the targets of the links below `root`, of those that are selected. A selection is about the name of the
    /// link, and what is opened is its target, wherever it lies.
    pub(super) fn reach_links(
        &self,
        reached: &mut Reached,
        access: Access,
        root: &SanitizedPath,
        (selection, trusts_names, certain): (Option<&Selection>, bool, bool),
    ) {
        let Some(links) = self.paths.linked_below(root) else {
            // These paths have no links. Otherwise the targets are unknown.
            if !self.paths.have_no_links() {
                reached.all_below(access, SanitizedPath::root());
            }
            return;
        };
        let selected = selection.map(|selection| SelectedFiles::new(root, selection, trusts_names, &*self.paths));
        for (link, target) in links {
            match &selected {
                Some(selected) if !selected.may_include(&link, &*self.paths) => {}
                Some(_) if !certain => reached.linked_below(access, target),
                None if root.contains(&target) => {}
                Some(_) | None => reached.all_below(access, target),
            }
        }
    }

    /// Adds a directory whose stored file versions a repository shows.
    pub(super) fn reach_versions(&self, reached: &mut Reached, start: &SanitizedPath, selection: Option<&Selection>) {
        let named = selection.into_iter().flat_map(|selection| &selection.paths);
        let top = self.top_around(start);
        // The path of a stored file begins in the repository.
        let absolute = |name: &str| match name.starts_with('/') {
            true => [name.to_owned(), name.to_owned()],
            false => [format!("{start}/{name}"), format!("{top}/{name}")],
        };
        let all = named.flat_map(|name| absolute(name));
        let real: Vec<_> = all.filter_map(|name| self.paths.real(&name).ok()).collect();
        // Without a file of one of these names, the words may all be revisions.
        let has_file = real.iter().any(|real| real.identity.is_some());
        let paths = real.into_iter().filter(|_| has_file).map(|real| real.path).collect();
        let only_tracked = selection.is_some_and(|selection| selection.only_tracked);
        reached.versions.push(Versions { start: top, only_tracked, paths });
    }

    /// Returns the repository around a directory, all files of which an action may show. Without a repository, returns
    /// the directory.
    fn top_around(&self, start: &SanitizedPath) -> SanitizedPath {
        let has_repository = |directory: &str| {
            let repository = self.paths.real(&[directory, "/.git"].concat());
            repository.is_ok_and(|real| real.identity.is_some())
        };
        let mut directory = start.as_str();
        while !directory.is_empty() {
            if has_repository(directory) {
                return directory.parse().unwrap_or_else(|_| start.clone());
            }
            directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
        }
        start.clone()
    }

    /// Adds a use for each file with a restriction of which the action may show a version. Only some versions are in
    /// files: those of the index, which are known, and those on the disk.
    pub(super) fn with_what_versions_show(
        &self,
        agent: &AgentId,
        mut understood: ResolvedAction,
        reached: &Reached,
    ) -> Result<ResolvedAction, Error> {
        if understood.in_sandbox {
            return Ok(understood);
        }
        for versions in &reached.versions {
            let tracked = tracked_files(&versions.start, &*self.paths);
            let is_shown = |path: &SanitizedPath| {
                versions.paths.is_empty() || versions.paths.iter().any(|one| one.contains(path) || path.contains(one))
            };
            let restricted =
                self.restricted_below(agent, &understood, Access::Read, std::slice::from_ref(&versions.start))?;
            let Some(restricted) = restricted else { continue };
            let is_restricted = |path: &&SanitizedPath| {
                let denies = |glob: &PathGlob| glob.denies(path).unwrap_or(true);
                restricted.paths.iter().any(|one| one.contains(path)) || restricted.globs.iter().any(denies)
            };
            let mut shown: Vec<_> =
                tracked.iter().flatten().filter(|path| is_shown(path)).filter(is_restricted).cloned().collect();
            if tracked.is_none() || !versions.only_tracked {
                let mut everywhere = Reached::default();
                everywhere.all_below(Access::Read, versions.start.clone());
                match self.restricted_in(&restricted, Access::Read, &everywhere, &[]) {
                    Ok(found) => shown.extend(found.into_iter().map(|(path, _)| path).filter(is_shown)),
                    Err(why) => understood.uses.add(unresolved(Access::Read, &versions.start, &why)),
                }
            }
            shown.truncate(MAX_RESTRICTED_PATHS + 1);
            if shown.len() > MAX_RESTRICTED_PATHS {
                let why = "it may show versions of many files that rules deny";
                understood.uses.add(unresolved(Access::Read, &versions.start, why));
                continue;
            }
            for path in shown {
                let (operation, target) = (operation_of(Access::Read), Target::Path(path));
                understood.uses.add(Use { operation, target, takes: None, origin: UseOrigin::Inside });
            }
        }
        Ok(understood)
    }

    /// Returns the restrictions of `agent` for paths below `roots`.
    fn restricted_below(
        &self,
        agent: &AgentId,
        understood: &ResolvedAction,
        access: Access,
        roots: &[SanitizedPath],
    ) -> Result<Option<Spoken>, Error> {
        // A destructive action is denied anyway. A person who enables it once has seen the directory.
        let destroys = understood.tier == Some(Tier::Destructive);
        self.look(|state, _| {
            let known = state.agents.get(agent)?;
            let mut spoken = state.spoken_below(known, &understood.tool, access, roots);
            spoken.paths.retain(|path| !destroys || !state.is_protected(&Permission::write(path.clone())));
            Some(spoken)
        })
    }

    /// Adds a use for each reached path that is protected, denied or subject to approval.
    pub(super) fn with_what_is_reached(
        &self,
        agent: &AgentId,
        mut understood: ResolvedAction,
        reached: &Reached,
    ) -> Result<ResolvedAction, Error> {
        for access in [Access::Read, Access::Write] {
            let names: Vec<_> =
                reached.names.iter().filter(|(used, _)| *used == access).map(|(_, name)| name).collect();
            let mut roots: Vec<_> = reached.trees(access).map(|tree| tree.root.clone()).collect();
            roots.extend(names.iter().copied().cloned());
            if access == Access::Read {
                roots.extend(reached.listed.iter().cloned());
            }
            if roots.is_empty() {
                continue;
            }
            let Some(restricted) = self.restricted_below(agent, &understood, access, &roots)? else { continue };
            match self.restricted_in(&restricted, access, reached, &names) {
                Ok(found) => {
                    for (path, origin) in found {
                        // A sandbox can leave out every path.
                        let origin = if understood.in_sandbox { UseOrigin::Inside } else { origin };
                        let (operation, target) = (operation_of(access), Target::Tree(path));
                        understood.uses.add(Use { operation, target, takes: None, origin });
                    }
                }
                Err(_) if understood.tier == Some(Tier::Destructive) => {}
                Err(why) => {
                    // A sandbox searches these directories itself, and closes those that it cannot search.
                    roots.retain(|root| !understood.in_sandbox || !understood.is_searched_by_sandbox(root));
                    let origin = if understood.in_sandbox { UseOrigin::Inside } else { UseOrigin::Named };
                    for root in &roots {
                        understood.uses.add(Use { origin, ..unresolved(access, root, &why) });
                    }
                }
            }
        }
        Ok(understood)
    }

    /// Returns the reached paths that a rule or a policy restricts, and the evidence that the action uses them.
    fn restricted_in(
        &self,
        restricted: &Spoken,
        access: Access,
        reached: &Reached,
        names: &[&SanitizedPath],
    ) -> Result<Vec<(SanitizedPath, UseOrigin)>, String> {
        let is_name = |path: &SanitizedPath| names.iter().any(|name| name.contains(path) || path.contains(name));
        let is_used =
            |path: &SanitizedPath| reached.trees(access).any(|tree| tree.uses(path, &*self.paths)) || is_name(path);
        // What a search reads is there. A program that writes to a directory may make the path.
        let may_be_there = |path: &SanitizedPath| {
            access == Access::Write
                || self.paths.have_no_links()
                || is_name(path)
                || reached.trees(access).any(|tree| path.contains(&tree.root))
                || self.paths.real(path.as_str()).map_or(true, |real| real.identity.is_some())
        };
        let restricted_paths = restricted.paths.iter().filter(|path| is_used(path) && may_be_there(path));
        let mut found: Vec<_> = restricted_paths.cloned().collect();
        let listed = if access == Access::Read { reached.listed.as_slice() } else { &[] };
        let is_listed = |path: &SanitizedPath| listed.iter().any(|directory| path.contains(directory));
        found.extend(restricted.paths.iter().filter(|path| is_listed(path)).cloned());
        for glob in &restricted.globs {
            for name in names.iter().copied().chain(listed) {
                if glob.denies(name).map_err(|why| why.to_string())? {
                    found.push(name.clone());
                    break;
                }
            }
        }
        let roots: Vec<_> = reached.trees(access).map(|tree| tree.root.clone()).collect();
        if !roots.is_empty() && !restricted.globs.is_empty() {
            match self.paths.denied_below(&restricted.globs, &roots, MAX_RESTRICTED_PATHS, &is_used) {
                Ok(Some(below)) => found.extend(below),
                // The disk cannot be searched: every path that a glob may match counts as existing.
                Ok(None) => {
                    let below = |glob| roots.iter().filter_map(move |root| possible(glob, root, &is_used));
                    found.extend(restricted.globs.iter().flat_map(below));
                }
                Err(why) => return Err(why.to_string()),
            }
        }
        let cannot_leave_out = |path: &SanitizedPath| {
            let trees = reached.trees(access).filter(|tree| tree.uses(path, &*self.paths));
            is_name(path) || trees.into_iter().any(|tree| tree.cannot_leave_out(path))
        };
        let origin = |path: &SanitizedPath| if cannot_leave_out(path) { UseOrigin::Named } else { UseOrigin::Inside };
        Ok(found.into_iter().map(|path| (path.clone(), origin(&path))).collect())
    }
}

/// Returns true if a path is only listed.
pub(super) fn is_listing(access: Access, below: Below) -> bool {
    access == Access::Read && below == Below::Names
}

/// Returns the directory that a listing of a path reads: the path itself, or the directory of a file.
pub(super) fn directory_of_listing(paths: &dyn Paths, real: Real) -> Result<Real, PathFailure> {
    if paths.have_no_links() || real.identity.is_some() && paths.real(&format!("{}/-", real.path)).is_ok() {
        return Ok(real);
    }
    match real.path.as_str().rsplit_once('/') {
        Some(("", _)) => paths.real("/"),
        Some((above, _)) => paths.real(above),
        None => Ok(real),
    }
}

/// Returns the use of a directory whose restricted paths are unknown.
pub(super) fn unresolved(access: Access, root: &SanitizedPath, why: &str) -> Use {
    let why = format!("`{}` may contain what rules deny: {why}", Escaped(root.as_str())).into();
    let target = Target::Unresolved { text: root.as_str().into(), why };
    Use { operation: operation_of(access), target, takes: None, origin: UseOrigin::Named }
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
