//! Resolves a described action into one that can be evaluated: paths are followed, commands parsed, all in one form.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use bestow_command::{
    Classifier,
    internal::{NamedUses, Surroundings},
};
use foldhash::fast::RandomState;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::{
    kernel::{InputText, ResolvedAction, Target, Use, operation_of},
    model::{
        Access, Action, AgentId, Below, ByName, Escaped, Named, Operation, Permission, Profile, Reads, SanitizedPath,
        StartDir, Tier, UseOrigin, What, by_name, sensitive_part,
    },
    ports::{PathFailure, Paths, Real},
};

use super::{
    Error,
    below::{MAX_RESTRICTED_PATHS, Reached, directory_of_listing, is_listing, unresolved},
    input,
    lines::Line,
    pin::pinned_to,
    plain_action::{about, blank, by_itself, events, host, invalid, reaching, runs_in, said_content},
    selected::leaves_out_the_same,
    shared::Shared,
};

impl Shared {
    /// Resolves `action` as the agent of `profile` means it.
    ///
    /// An action that cannot be understood is no error: it becomes an invalid action that is never allowed, with the
    /// reason.
    pub(super) fn consider(&self, profile: &Profile, action: &Action) -> Result<ResolvedAction, Error> {
        let Some(directory) = &action.directory else { return self.consider_in(profile, action) };
        match self.another_start(directory) {
            Ok(there) if there == profile.working_dir => self.consider_in(profile, action),
            Ok(there) => {
                let profile = Profile { working_dir: there.clone(), ..profile.clone() };
                let understood = self.consider_in(&profile, action)?;
                // A command may name yet another directory.
                let directory = understood.directory.clone().or(Some(there));
                Ok(ResolvedAction { directory, ..understood })
            }
            Err(why) => {
                let understood = self.consider_in(profile, action)?;
                Ok(invalid(understood, directory.as_str(), &format!("the directory of the action: {why}")))
            }
        }
    }

    /// Returns the real location of the directory in which an action happens.
    pub(super) fn another_start(&self, directory: &SanitizedPath) -> Result<SanitizedPath, String> {
        let real = self.paths.real_of(directory).map_err(|why| why.to_string())?.path;
        let protected = Permission::read(real.clone());
        match self.look(|state, _| state.is_protected(&protected)) {
            Ok(false) => Ok(real),
            Ok(true) => Err("it is protected".to_owned()),
            Err(why) => Err(why.to_string()),
        }
    }

    /// Resolves `action` in the working directory of `profile`.
    fn consider_in(&self, profile: &Profile, action: &Action) -> Result<ResolvedAction, Error> {
        let understood = match &action.what {
            What::Plain(operation, resource) => self.plain(profile, action, *operation, resource)?,
            What::Call(input) => self.consider_call(profile, action, input)?,
        };
        self.using_besides(action, understood)
    }

    fn plain(
        &self,
        profile: &Profile,
        action: &Action,
        operation: Operation,
        text: &str,
    ) -> Result<ResolvedAction, Error> {
        let tool = action.tool.clone().unwrap_or_else(|| operation.own_tool());
        let details = said_content(action);
        let base = ResolvedAction {
            cwd: runs_in(profile, operation),
            details,
            ..blank(operation, tool, action, String::new())
        };
        Ok(match operation {
            Operation::Command => self.command(&profile.id, base, text, &Map::new())?,
            Operation::Network => host(base, text),
            Operation::Events => events(base, text),
            Operation::Tool => match text.parse() {
                Ok(name) => by_itself(base, Permission::Tool(name)),
                Err(_) => invalid(base, text, "a capability has a name such as `github/issues`"),
            },
            Operation::Read | Operation::Write | Operation::Exec => self.path(profile, base, text),
        })
    }

    /// Adds the permissions that `action` declares.
    fn using_besides(&self, action: &Action, mut understood: ResolvedAction) -> Result<ResolvedAction, Error> {
        for permission in &action.needs {
            match self.pin(permission) {
                Ok(pinned) => understood.uses.add(Use::given(pinned)),
                Err(Error::Path(why)) => return Ok(invalid(understood, &permission.to_string(), &why.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(understood)
    }

    /// Resolves a command line. If only reads are allowed without approval, a line that reaches the network or prints
    /// secrets does not count as a read.
    pub(super) fn command(
        &self,
        agent: &AgentId,
        base: ResolvedAction,
        text: &str,
        besides: &Map<String, Value>,
    ) -> Result<ResolvedAction, Error> {
        let reader = self.classifier.load();
        let strictness = self.strictness(agent)?;
        let is_strict = strictness.only_reads;
        let start = base.cwd.as_ref().map(|cwd| cwd.as_str().to_owned());
        let surroundings = Arc::new(self.surroundings(agent, start.as_deref())?);
        let line = if besides.is_empty() {
            reader.line(text, base.shell, &surroundings, is_strict)
        } else {
            let classifier = reader.in_shell(base.shell).within(&surroundings);
            let classifier = if is_strict { classifier.strictly() } else { classifier };
            Arc::new(Line::of(text, &surroundings, classifier.judge_with(text, besides)))
        };
        let understood = command(ResolvedAction { strictly: is_strict, ..base }, &line, besides, &reader);
        let (understood, reached) =
            self.naming(understood, &line.named, start.as_deref(), strictness.reads_are_granted);
        if understood.is_invalid() {
            return Ok(understood);
        }
        let understood = self.with_what_is_reached(agent, understood, &reached)?;
        let understood = self.with_what_versions_show(agent, understood, &reached)?;
        let made = self.made_directories(start.as_deref(), &line.named);
        self.trusting_nobody(self.with_real_dirs(understood, &made))
    }

    /// Returns the directories of `agent` that a command line may name, for a line that starts in `start`.
    pub(super) fn surroundings(&self, agent: &AgentId, start: Option<&str>) -> Result<Surroundings, Error> {
        let working_dir = self.look(|state, _| {
            let known = state.agents.get(agent)?;
            Some(known.profile.working_dir.to_string())
        })?;
        Ok(Surroundings { start: start.map(str::to_owned), working_dir, home: HOME.clone() })
    }

    /// Returns what the settings demand of a command line of `agent`.
    fn strictness(&self, agent: &AgentId) -> Result<Strictness, Error> {
        self.look(|state, _| Strictness {
            only_reads: state.only_reads_by_itself(agent),
            reads_are_granted: state.settings.reads == Reads::Granted,
        })
    }

    /// Adds the uses that a command line names, with paths resolved to their real location. With `reads_are_granted`, a
    /// word that may be a path needs the permission if something exists there.
    fn naming(
        &self,
        mut understood: ResolvedAction,
        named: &NamedUses,
        start: Option<&str>,
        reads_are_granted: bool,
    ) -> (ResolvedAction, Reached) {
        let mut reached = Reached::default();
        if named.is_cut() {
            let text = understood.target().resource().to_owned();
            let why = "the action names too many objects for one decision: split it into steps";
            return (invalid(understood, &text, why), reached);
        }
        // Any other line needs an approval, which shows its words.
        let reads_are_granted = reads_are_granted && understood.tier == Some(Tier::Safe);
        let looked = &mut Looked { reads_are_granted, ..Looked::on(&*self.paths) };
        looked.made = self.made_directories(start, named);
        // A line that changes files may change the files that tell it what to leave out, before it uses the others.
        let is_certain_write =
            |named: &Named| matches!(named, Named::Path { access: Access::Write, certain: true, .. });
        let trusts_names = understood.tier == Some(Tier::Safe)
            || !named.iter().any(is_certain_write) && runs_only_git(understood.target());
        for named in named.iter() {
            if understood.is_invalid() {
                break;
            }
            match named {
                Named::Network { host, certain } => understood.uses.add(reaching(host.as_deref(), *certain)),
                Named::Program { text, pattern } => {
                    let used = self.run_by_name(looked, start, text, pattern.as_deref());
                    used.into_iter().for_each(|used| understood.uses.add(used));
                }
                Named::Path { access, text, pattern, below, certain, .. } => {
                    let all = below.is_tree() || pattern.is_some();
                    looked.lists = is_listing(*access, *below);
                    let Some(used) = self.named_path(looked, start, *access, text, all, *certain) else { continue };
                    if let Some(root) = used.path() {
                        let matches = self.reach(&mut reached, root, pattern.as_deref(), named, trusts_names);
                        // A sandbox hides such matches from the command.
                        let matches = if understood.in_sandbox { &[][..] } else { &matches };
                        for matched in self.uses_of_matches(looked, root, matches, *access, *certain) {
                            understood.uses.add(matched);
                        }
                    }
                    understood.uses.add(used);
                    let as_text = absolute(start, text).filter(|path| path.split('/').any(|name| name == ".."));
                    if let Some(path) = as_text {
                        // A shell resolves `..` in the text, a program on the disk.
                        let other = self.named_path(looked, start, *access, &without_up(&path), all, false);
                        other.into_iter().for_each(|used| understood.uses.add(used));
                    }
                }
            }
        }
        // A sandbox hides what is denied.
        for file in named.passed_files().iter().filter(|_| !understood.in_sandbox) {
            self.reads_of_passed_file(start, file).into_iter().for_each(|used| understood.uses.add(used));
        }
        if named.passes_any_file() && !understood.in_sandbox {
            let target = unknown_name("the line has more words than are searched for names");
            understood.uses.add(Use { operation: Operation::Read, target, takes: None, origin: UseOrigin::Inside });
        }
        if named.reads_what_nobody_can_tell() && !understood.in_sandbox && understood.reads_besides() {
            understood.distrust(NOBODY_CAN_TELL);
        }
        (understood, reached)
    }

    /// Adds a use that a text names if it is read as a command line.
    pub(super) fn may_use(&self, understood: &mut ResolvedAction, reached: &mut Reached, start: &str, named: &Named) {
        let used = match named {
            Named::Network { host, .. } => Some(reaching(host.as_deref(), false)),
            Named::Program { text, pattern } => {
                let looked = &mut Looked::on(&*self.paths);
                let used = self.run_by_name(looked, Some(start), text, pattern.as_deref());
                used.into_iter().for_each(|used| understood.uses.add(used));
                None
            }
            Named::Path { access, text, below, pattern, .. } => {
                let all = below.is_tree() || pattern.is_some();
                let looked = &mut Looked { lists: is_listing(*access, *below), ..Looked::on(&*self.paths) };
                let used = self.named_path(looked, Some(start), *access, text, all, false);
                if let Some(root) = used.as_ref().and_then(Use::path) {
                    let matches = self.reach(reached, root, pattern.as_deref(), named, false);
                    for matched in self.uses_of_matches(looked, root, &matches, *access, false) {
                        understood.uses.add(matched);
                    }
                }
                used
            }
        };
        used.into_iter().for_each(|used| understood.uses.add(used));
    }

    /// Returns the reads of a file whose name one part of a line may pass to another. The line may be about another
    /// file, so a denial of this one is a question.
    fn reads_of_passed_file(&self, start: Option<&str>, file: &Named) -> Vec<Use> {
        let Named::Path { access, text, pattern, .. } = file else { return Vec::new() };
        let named = |text: &str| {
            let looked = &mut Looked::on(&*self.paths);
            let used = self.named_path(looked, start, *access, text, false, false)?;
            Some(Use { origin: UseOrigin::Inside, takes: None, ..used })
        };
        let Some(used) = named(text) else { return Vec::new() };
        let Some(root) = used.path().cloned() else { return vec![used] };
        match pattern.as_ref().map(|pattern| self.paths.matching(&root, pattern)) {
            Some(Some(matches)) => matches.iter().filter_map(|text| named(text)).collect(),
            Some(None) => vec![Use { target: unknown_name("a pattern matches too many files"), ..used }],
            None => vec![used],
        }
    }

    /// Returns the uses of the matches of a pattern in `root` that differ from a use of `root`: those outside of it,
    /// and those that are protected or sensitive. Each counts as if the line named it.
    fn uses_of_matches(
        &self,
        looked: &mut Looked<'_>,
        root: &SanitizedPath,
        matches: &[String],
        access: Access,
        certain: bool,
    ) -> Vec<Use> {
        let mut uses = Vec::new();
        for name in matches {
            // No program writes to a directory as a whole that a pattern for hidden names matches.
            let is_above = access == Access::Write && (name.ends_with("/.") || name.ends_with("/.."));
            if is_above || !self.differs_from(looked, root, name, access) {
                continue;
            }
            if uses.len() >= MAX_RESTRICTED_PATHS {
                uses.push(unresolved(access, root, "a pattern matches many of them"));
                return uses;
            }
            let used = self.named_path(looked, None, access, name, false, certain);
            // A person may let a listing show a directory that it did not name.
            let origin = |used: Use| if looked.lists { Use { origin: UseOrigin::Inside, ..used } } else { used };
            uses.extend(used.map(origin));
        }
        uses
    }

    /// Returns true if a use of the path `name` is another one than a use of the directory `root`.
    fn differs_from(&self, looked: &mut Looked<'_>, root: &SanitizedPath, name: &str, access: Access) -> bool {
        let Ok(real) = looked.real(name) else { return true };
        let permission = Permission::Path(access, real.path.clone());
        let is_closed = self.look(|state, _| {
            let added = &state.settings.sensitive;
            let is_sensitive = || sensitive_part(&real.path, added) != sensitive_part(root, added);
            state.is_protected(&permission) || access == Access::Write && is_sensitive()
        });
        !root.contains(&real.path) || is_closed.unwrap_or(true)
    }

    /// Notes what is used with `root`: the matches of a pattern below it, and its content. Returns the matches.
    fn reach(
        &self,
        reached: &mut Reached,
        root: &SanitizedPath,
        pattern: Option<&str>,
        named: &Named,
        trusts_names: bool,
    ) -> Vec<String> {
        let Named::Path { access, below, selection, certain, .. } = named else { return Vec::new() };
        let (access, selection) = (*access, selection.as_deref());
        if *below == Below::Followed {
            self.reach_links(reached, access, root, (selection, trusts_names, *certain));
        }
        if *below == Below::Versions {
            self.reach_versions(reached, root, selection);
        }
        match pattern {
            Some(pattern) => return self.reach_pattern(reached, access, root, pattern, *below),
            None if below.is_everything() => self.reach_content(reached, access, root, (selection, trusts_names)),
            None => {}
        }
        Vec::new()
    }

    /// Returns the directories that the line makes, as absolute texts. What the line makes exists for the rest of it,
    /// unless the line may also put something else there.
    fn made_directories(&self, start: Option<&str>, named: &NamedUses) -> Vec<String> {
        let of = |named: &Named| match named {
            Named::Path { access: Access::Write, text, below, pattern: None, .. } => {
                Some((plain_absolute(start, text)?, *below))
            }
            Named::Path { .. } | Named::Program { .. } | Named::Network { .. } => None,
        };
        let (made, written): (Vec<_>, Vec<_>) =
            named.iter().filter_map(of).partition(|(_, below)| *below == Below::NewDirectory);
        let is_replaced = |path: &str| written.iter().any(|(other, _)| other == path || is_text_below(path, other));
        let is_new = |path: &str| self.paths.real(path).is_ok_and(|real| real.identity.is_none());
        let made = made.into_iter().map(|(path, _)| path).filter(|path| !is_replaced(path));
        // The missing directories above it are made, too.
        let with_above = |path: String| {
            let ends: Vec<_> = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]).collect();
            let all = ends.into_iter().filter_map(|end| Some(path.get(..end)?.to_owned()));
            all.filter(|path| is_new(path)).collect::<Vec<_>>()
        };
        made.flat_map(with_above).collect()
    }

    /// Returns the files that a line may run as a program. Rules about running them apply, and no permission is needed.
    fn run_by_name(&self, looked: &mut Looked<'_>, start: Option<&str>, text: &str, pattern: Option<&str>) -> Vec<Use> {
        let named = self.named_path(looked, start, Access::Read, text, false, false);
        let named = named.into_iter().filter(|used| matches!(used.target, Target::Path(_)));
        let run = |used: Use| Use { operation: Operation::Exec, takes: None, origin: UseOrigin::Word, ..used };
        let named: Vec<_> = named.map(run).collect();
        let Some(pattern) = pattern else { return named };
        let names = named.iter().filter_map(Use::path).filter_map(|root| self.paths.matching(root, pattern)).flatten();
        let real = names.filter_map(|name| self.paths.real(&name).ok());
        let used = |real: Real| {
            let target = Target::Path(real.path);
            Use { operation: Operation::Exec, target, takes: None, origin: UseOrigin::Word }
        };
        real.map(used).collect()
    }

    /// Returns the use of a path that a command line names. If the path cannot be determined, the use is invalid and
    /// never allowed. A word that is no path gives no use.
    fn named_path(
        &self,
        looked: &mut Looked<'_>,
        start: Option<&str>,
        access: Access,
        text: &str,
        tree: bool,
        certain: bool,
    ) -> Option<Use> {
        let operation = operation_of(access);
        let used = |path, takes, origin| {
            let target = if tree { Target::Tree(path) } else { Target::Path(path) };
            Use { operation, target, takes, origin }
        };
        let unknown = |why: &str| {
            let why = format!("the path `{}` is not known before the action runs: {why}", Escaped(text)).into();
            let target = Target::Unresolved { text: text.into(), why };
            Use { operation, target, takes: None, origin: UseOrigin::Named }
        };
        let Some(absolute) = absolute(start, text) else {
            return certain.then(|| unknown("its directory is unknown"));
        };
        let absolute = if self.paths.have_no_links() { without_up(&absolute) } else { absolute };
        // Only a word that is certainly a path needs a permission.
        let with_permission = |real: Real| {
            let pinned = certain.then(|| pinned_to(access, &real));
            (real, pinned)
        };
        match looked.real(&absolute).map(with_permission) {
            Ok((real, Some(pinned))) => Some(used(real.path, Some(pinned), UseOrigin::Named)),
            // An address is no path, unless such a file exists.
            Ok((real, None)) if real.identity.is_none() && is_address(text) => None,
            // A word like `push` is no file to write, unless such a file exists.
            Ok((real, None)) if access == Access::Write && !text.contains(['/', '.']) && real.identity.is_none() => {
                None
            }
            // A program may write inside this directory, so rules and policies about any path in it apply.
            Ok((real, None)) if access == Access::Write && self.is_directory(&real) => {
                let origin = if is_bare(text) { UseOrigin::Label } else { UseOrigin::Word };
                Some(Use { operation, target: Target::Tree(real.path), takes: None, origin })
            }
            Ok((real, None)) if access == Access::Read && looked.needs(&real, text) => {
                let pinned = pinned_to(access, &real);
                Some(used(real.path, Some(pinned), UseOrigin::Named))
            }
            Ok((real, None)) => {
                let is_label = is_bare(text) && self.is_directory(&real);
                Some(used(real.path, None, if is_label { UseOrigin::Label } else { UseOrigin::Word }))
            }
            Err(why) => {
                let written = without_up(&absolute).parse::<SanitizedPath>().ok();
                // A process in a sandbox has a `/proc` of its own. Outside a sandbox, the name alone leads to a denial.
                let is_proc = |path: &SanitizedPath| by_name(access, path.as_str()) == ByName::Proc;
                match (certain, written) {
                    (true, Some(path)) if is_proc(&path) => Some(used(path, None, UseOrigin::Named)),
                    (true, _) => Some(unknown(&why.to_string())),
                    // A word that may be no path needs no permission. Rules and policies apply to the path as written.
                    (false, written) => written.map(|path| used(path, None, UseOrigin::Word)),
                }
            }
        }
    }

    /// Resolves the directories that the line changes to to their real location.
    fn with_real_dirs(&self, mut understood: ResolvedAction, made: &[String]) -> ResolvedAction {
        let ResolvedAction { uses, cwd, tier, .. } = &mut understood;
        let Target::Command { parts: Some(parts), .. } = &mut uses.own.target else { return understood };
        if *tier == Some(Tier::Safe) && parts.iter().all(|part| part.obeys.is_empty()) {
            return understood;
        }
        let mut found: HashMap<SmolStr, StartDir, RandomState> = HashMap::default();
        for part in parts {
            let obeyed = part.obeys.iter_mut().flat_map(|obeys| &mut obeys.dirs);
            for dir in part.dirs.iter_mut().chain(obeyed) {
                let StartDir::Said(said) = &*dir else { continue };
                let real = match found.get(said) {
                    Some(real) => real.clone(),
                    None if found.len() >= MAX_DIRS => StartDir::Unknown,
                    None => {
                        let real = self.real_dir(cwd.as_ref(), said, made).map_or(StartDir::Unknown, StartDir::Real);
                        found.insert(said.clone(), real.clone());
                        real
                    }
                };
                *dir = real;
            }
        }
        understood
    }

    /// Returns the directory that `cd` leads to, if it exists or the line makes it. Otherwise `cd` fails, and the
    /// directory of the rest of the line is unknown.
    fn real_dir(&self, cwd: Option<&SanitizedPath>, said: &str, made: &[String]) -> Option<SanitizedPath> {
        let absolute = if said.starts_with('/') { said.to_owned() } else { format!("{}/{said}", cwd?) };
        let absolute = without_made(&absolute, made).into_owned();
        let real = self.paths.real(&absolute).ok()?;
        if plain_absolute(None, &absolute).is_some_and(|path| made.contains(&path)) {
            return Some(real.path);
        }
        // A shell resolves `..` in the text, a program on the disk.
        let goes_up = absolute.split('/').any(|name| name == "..");
        let as_text = || self.paths.real(&without_up(&absolute)).is_ok_and(|other| other == real);
        (self.is_directory(&real) && (!goes_up || as_text())).then_some(real.path)
    }

    /// Returns true if the path may be a directory with content.
    pub(super) fn holds_something(&self, path: &SanitizedPath) -> bool {
        self.paths.have_no_links() || self.paths.real_of(path).is_ok_and(|real| self.is_directory(&real))
    }

    /// Returns true if the disk has a directory at this path.
    fn is_directory(&self, real: &Real) -> bool {
        // A file has no path below it, not even a missing one.
        real.identity.is_some() && self.paths.real(&[real.path.as_str(), "/-"].concat()).is_ok()
    }

    pub(super) fn path(&self, profile: &Profile, base: ResolvedAction, text: &str) -> ResolvedAction {
        // The owner of that home is unknown, and the tool may resolve it differently.
        if text.starts_with('~') {
            return invalid(
                base,
                text,
                "`~` is not expanded here: write the full path, or `./~…` for a file with this name",
            );
        }
        let absolute = if text.starts_with('/') { text.to_owned() } else { format!("{}/{text}", profile.working_dir) };
        match self.paths.real(&absolute) {
            Ok(real) if !text.is_empty() => self.at(base, real),
            Ok(_) => invalid(base, text, "a path must not be empty"),
            Err(why) => invalid(base, text, &why.to_string()),
        }
    }

    /// Resolves a read or a write of a path that is already real.
    pub(super) fn using(&self, access: Access, real: Real) -> ResolvedAction {
        let action = match access {
            Access::Read => Action::read(""),
            Access::Write => Action::write(""),
        };
        let operation = if access == Access::Write { Operation::Write } else { Operation::Read };
        self.placed(self.at(blank(operation, operation.own_tool(), &action, String::new()), real))
    }

    fn at(&self, base: ResolvedAction, real: Real) -> ResolvedAction {
        let (access, operation) = (base.uses.own.access(), base.operation());
        let (tier, why) = match operation {
            Operation::Read => self.classifier.load().reading(real.path.as_str()),
            Operation::Write => self.classifier.load().writing(real.path.as_str()),
            Operation::Exec | Operation::Command | Operation::Network | Operation::Events | Operation::Tool => {
                (Tier::Dangerous, "runs a program file")
            }
        };
        let tier = (operation != Operation::Exec).then_some(tier);
        let takes = Some(pinned_to(access, &real));
        // A person must be able to tell this path from others, so it is shown in full.
        let shown = real.path.as_str().into();
        ResolvedAction { shown, tier, tier_reason: why.into(), ..about(base, Target::Path(real.path), takes) }
    }
}

/// The demands of the settings on a command line.
#[derive(Clone, Copy, Debug)]
struct Strictness {
    /// True if only reads run without approval.
    only_reads: bool,
    /// True if each read needs a permission.
    reads_are_granted: bool,
}

/// The maximum number of directories of one line that are looked up on the disk. In the others, the effect of the
/// commands counts as unknown.
const MAX_DIRS: usize = 64;

/// Returns the target of a read whose name one part of a line may pass to another.
fn unknown_name(why: &str) -> Target {
    Target::Unresolved { text: "a file".into(), why: why.into() }
}

/// Returns true for a line that runs `git` once and nothing before it, or in which only `git` changes something, and
/// nothing that it leaves out.
fn runs_only_git(target: &Target) -> bool {
    let Target::Command { text, parts: Some(parts), .. } = target else { return false };
    parts.len() == 1 && text.starts_with("git ") || leaves_out_the_same(text, parts)
}

/// The paths of one line, each looked up once. Many are both read and written, or named by several words.
#[derive(Debug)]
struct Looked<'p> {
    paths: &'p dyn Paths,
    /// True if each read needs a permission.
    reads_are_granted: bool,
    /// True while paths are looked up that the line only lists. Of a file, it reads the entry in its directory.
    lists: bool,
    found: HashMap<String, Result<Real, PathFailure>, RandomState>,
    /// The directories that the line makes.
    made: Vec<String>,
}

impl Looked<'_> {
    fn on(paths: &dyn Paths) -> Looked<'_> {
        Looked { paths, reads_are_granted: false, lists: false, found: HashMap::default(), made: Vec::new() }
    }

    /// Returns true if a word that may be this path needs the permission to read it. Nobody reads what does not exist.
    fn needs(&self, real: &Real, text: &str) -> bool {
        let may_exist = real.identity.is_some() || self.paths.have_no_links() && text.contains(['/', '.']);
        self.reads_are_granted && may_exist
    }

    fn real(&mut self, path: &str) -> Result<Real, PathFailure> {
        let path: &str = &without_made(path, &self.made);
        let found = match self.found.get(path) {
            Some(found) => found.clone(),
            None => {
                let found = self.paths.real(path);
                self.found.insert(path.to_owned(), found.clone());
                found
            }
        };
        if self.lists { directory_of_listing(self.paths, found?) } else { found }
    }
}

/// Returns true for a word without a sign of a path.
fn is_bare(text: &str) -> bool {
    !text.contains(['/', '.', '~'])
}

/// The reason why a line that seems to only read needs an approval.
const NOBODY_CAN_TELL: &str = "Dangerous command: it reads an unknown file";

/// The home directory of the user that the engine runs as.
static HOME: LazyLock<Option<String>> = LazyLock::new(|| {
    let home = std::env::home_dir()?.into_os_string().into_string().ok()?;
    Some(home.trim_end_matches('/').to_owned()).filter(|_| home.starts_with('/'))
});

/// Returns the absolute path of `text` for a command that starts in `start`. Returns none for a relative path if
/// `start` is unknown.
pub(super) fn absolute(start: Option<&str>, text: &str) -> Option<String> {
    match text.strip_prefix('~') {
        Some(rest) => Some(format!("{}{rest}", HOME.as_ref()?)),
        None if text.starts_with('/') => Some(text.to_owned()),
        None => Some(format!("{}/{text}", start?)),
    }
}

/// Returns the absolute path of `text` without `.` and empty names, if it has no `..` and begins at a known directory.
fn plain_absolute(start: Option<&str>, text: &str) -> Option<String> {
    let path = absolute(start, text)?;
    (!path.split('/').any(|name| name == "..")).then(|| without_up(&path))
}

/// Returns true for `scheme://host/path`. A text with `..` may lead to a file, because some programs resolve it first.
fn is_address(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_letter)
    };
    let goes_up = |rest: &str| rest.split('/').any(|name| name == "..");
    text.split_once("://").is_some_and(|(scheme, rest)| is_scheme(scheme) && !goes_up(rest))
}

/// Returns true if `path` is below `above`, by text.
fn is_text_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// Resolves each `..` after a directory that the line makes. Such a directory is no link.
fn without_made<'p>(path: &'p str, made: &[String]) -> Cow<'p, str> {
    if made.is_empty() || !path.contains("..") {
        return path.into();
    }
    let mut known = String::new();
    for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name == ".." && made.contains(&known) {
            known.truncate(known.rfind('/').unwrap_or_default());
        } else {
            known.extend(["/", name]);
        }
    }
    if known.is_empty() { "/".into() } else { known.into() }
}

/// Resolves every `..` in the text of the path.
fn without_up(path: &str) -> String {
    let mut names = Vec::new();
    for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
        match name {
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// Resolves a command line with the other input of its tool. That input, `besides`, may change what runs, so it is
/// shown and bound to the approval.
fn command(base: ResolvedAction, line: &Line, besides: &Map<String, Value>, classifier: &Classifier) -> ResolvedAction {
    let target = Target::Command {
        text: Arc::clone(&line.text),
        parts: line.parts.clone(),
        doing: Some(Arc::clone(&line.doing)),
    };
    let (tier, tier_reason) = (Some(line.tier), Arc::clone(&line.tier_reason));
    let (shape, destructive, shown) = (line.shape.clone(), line.destructive.clone(), Arc::clone(&line.shown));
    let base = ResolvedAction { shown, tier, tier_reason, shape, destructive, ..about(base, target, None) };
    if besides.is_empty() {
        return base;
    }
    let besides = Value::Object(besides.clone());
    let mut texts = Vec::new();
    texts_in(&besides, &mut texts);
    let spoken = |line: &str| classifier.judge(line).spoken();
    let told = Some(InputText::of(texts.iter().copied(), texts.iter().copied(), spoken));
    let (told_besides, cut) = input::shown(&besides);
    let shown = format!("{} with {told_besides}", line.shown).into();
    let besides = Some(input::canonical(&besides).to_string());
    ResolvedAction { shown, cut, besides, told, ..base }
}

/// Collects every text in `value`, with the names of its fields.
pub(super) fn texts_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(all) => all.iter().for_each(|one| texts_in(one, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            texts.push(name);
            texts_in(value, texts);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
