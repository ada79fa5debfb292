//! The compiled rules of one agent. They are evaluated often and change only with the policy file.

use std::{collections::HashMap, sync::Arc};

use globset::{GlobMatcher, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{
    Access, CommandPattern, Coverage, Escaped, Operation, PathGlob, Rule, RuleCwd, SanitizedPath, SpokenPart, StartDir,
    Tier, UseOrigin, Verdict, redacted,
};

use super::{
    action_uses::{Use, operation_of},
    command_match::Likelihood,
    resolved_action::ResolvedAction,
    target::{Target, all_inside},
};

/// The rules that bind an agent. Two values are equal if their rules and the places of these rules are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Arc<Compiled>);

#[derive(Debug, Default)]
struct Compiled {
    written: Arc<[Rule]>,
    globs: GlobSet,
    /// The index of the rule for each glob.
    by_glob: Vec<usize>,
    /// The rules about commands, by program name.
    by_program: HashMap<Box<str>, Vec<usize>>,
    /// All other rules.
    plain: Vec<usize>,
    /// The directory matcher of each rule that has one.
    cwds: HashMap<usize, GlobMatcher>,
    /// True if the globs are valid but do not compile together. Their meaning is unknown, so everything is denied.
    unusable: bool,
    /// The rules that also allow something to the agents that this agent created.
    of_children: Option<Box<Rules>>,
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.written == other.0.written
    }
}

impl Eq for Rules {}

/// Serializes the source of the rules.
impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.written.serialize(to)
    }
}

impl<'d> Deserialize<'d> for Rules {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Rules, D::Error> {
        Arc::<[Rule]>::deserialize(from).map(|written| Rules::compile(&written))
    }
}

impl Rules {
    pub(crate) fn compile(written: &Arc<[Rule]>) -> Rules {
        let (mut builder, mut by_glob, mut plain) = (GlobSetBuilder::new(), Vec::new(), Vec::new());
        let (mut unusable, mut by_program) = (false, HashMap::<_, Vec<_>>::new());
        let mut cwds = HashMap::new();
        for (place, rule) in written.iter().enumerate() {
            if let Some(RuleCwd::In(glob)) = &rule.cwd {
                match glob.compiled() {
                    Ok(glob) => drop(cwds.insert(place, glob.compile_matcher())),
                    Err(_) => unusable = true,
                }
            }
            match rule.path.as_ref().map(|path| path.compiled()) {
                Some(Ok(glob)) => {
                    builder.add(glob);
                    by_glob.push(place);
                }
                Some(Err(_)) => unusable = true,
                None => match rule.command.as_ref().and_then(CommandPattern::program) {
                    Some(program) => by_program.entry(program.into()).or_default().push(place),
                    None => plain.push(place),
                },
            }
        }
        let globs = builder.build().unwrap_or_else(|_| {
            unusable = true;
            GlobSet::empty()
        });
        let of_children = of_children(written).map(|rules| Box::new(Rules::compile(&rules)));
        let written = Arc::clone(written);
        Rules(Arc::new(Compiled { written, globs, by_glob, by_program, plain, cwds, unusable, of_children }))
    }

    /// Returns the rules that allow `used` to an agent whose creator, or another ancestor, has these rules. A rule that
    /// names no directory allows a command in the working directory of that ancestor, `home`.
    pub(crate) fn allowing_children(&self, action: &ResolvedAction, used: &Use, home: &SanitizedPath) -> Vec<&Rule> {
        let Some(rules) = self.0.of_children.as_deref().filter(|rules| !rules.are_unusable()) else {
            return Vec::new();
        };
        let is_home = action.cwd.as_ref().is_none_or(|cwd| cwd == home);
        let mut allowing = rules.about(action, used);
        // Several rules cover a line together, so none of them counts without the others.
        if !is_home && allowing.iter().any(|rule| rule.cwd.is_none()) {
            allowing.clear();
        }
        allowing
    }

    pub(crate) fn written(&self) -> &Arc<[Rule]> {
        &self.0.written
    }

    pub(crate) fn are_unusable(&self) -> bool {
        self.0.unusable
    }

    /// Returns the rules that apply to `used`, which is one of the uses of `action`, in written order.
    ///
    /// An allow rule applies only to the action's own use, never to its further uses. For a command line, several allow
    /// rules may have to cover the parts together. They are returned only if they cover all parts.
    pub(crate) fn about(&self, action: &ResolvedAction, used: &Use) -> Vec<&Rule> {
        if self.0.written.is_empty() {
            return Vec::new();
        }
        let mut places = match &used.target {
            Target::Path(path) => self.about_paths([path.as_str()]),
            // A directory is given as a whole. A rule therefore applies if it matches everything in the directory.
            Target::Tree(path) => self.about_paths([path.as_str(), &all_inside(path)]),
            Target::Command { .. } if action.told.is_some() => self.about_programs(None),
            Target::Command { parts, .. } => self.about_programs(parts.as_deref()),
            Target::Tool { .. } => self.about_programs(None),
            Target::Host(_)
            | Target::Network
            | Target::Events
            | Target::Capability(_)
            | Target::Unresolved { .. }
            | Target::Invalid { .. } => Vec::new(),
        };
        // A word that may not be a path is matched only by rules that name a path.
        if !used.origin.is_word() || used.path().is_none() {
            places.extend(&self.0.plain);
        }
        places.sort_unstable();
        places.dedup();
        let rules = places.into_iter().filter_map(|place| self.placed(place));
        let mut rules: Vec<_> = rules.filter(|rule| rule.speaks_about(action, used)).collect();
        if let Target::Command { parts, .. } = &used.target {
            let allowing: Vec<_> = rules.iter().copied().filter(Placed::allows_commands).collect();
            let together = parts.as_ref().is_some_and(|parts| allow_all(&allowing, parts, action));
            rules.retain(|rule| !rule.allows_commands() || together);
        }
        rules.into_iter().map(|placed| placed.rule).collect()
    }

    /// Returns the indexes of the rules that match one of `paths`.
    fn about_paths<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Vec<usize> {
        if self.0.globs.is_empty() {
            return Vec::new();
        }
        let found = paths.into_iter().flat_map(|path| self.0.globs.matches(path));
        found.filter_map(|glob| self.0.by_glob.get(glob).copied()).collect()
    }

    fn placed(&self, place: usize) -> Option<Placed<'_>> {
        Some(Placed { rule: self.0.written.get(place)?, cwd: self.0.cwds.get(&place) })
    }

    fn allowing_commands<'r>(&'r self) -> impl Iterator<Item = Placed<'r>> {
        (0..self.0.written.len()).filter_map(|place| self.placed(place)).filter(Placed::allows_commands)
    }

    /// Returns the reason why the rules that allow commands do not allow `action`, if one of them nearly does.
    pub(crate) fn nearly_allows(&self, action: &ResolvedAction) -> Option<String> {
        let Target::Command { parts: Some(parts), .. } = action.target() else { return None };
        let allowing: Vec<_> = self.allowing_commands().filter(|rule| rule.is_of(action, &action.uses.own)).collect();
        let mut words_needed = parts.iter().filter(|part| part.tier > Tier::Safe);
        let some_is_allowed = words_needed.clone().any(|part| is_allowed(&allowing, part, action));
        let left = words_needed.find(|part| !is_allowed(&allowing, part, action))?;
        let near = allowing.iter().find_map(|placed| placed.misses(left, action));
        near.or_else(|| some_is_allowed.then(|| left_over(left)))
    }

    /// Returns the globs of rules that deny, or ask about, this kind of access by any tool.
    pub(crate) fn strict_globs(&self, access: Access) -> impl Iterator<Item = &PathGlob> + '_ {
        let strict = self.0.written.iter().filter(move |rule| {
            let is_about = rule.operation.is_none_or(|operation| operation == operation_of(access));
            rule.verdict > Verdict::Allow && is_about
        });
        strict.filter_map(|rule| rule.path.as_ref())
    }

    /// Returns the globs of rules that deny this kind of access to the agent's commands.
    pub(crate) fn denied_globs(&self, access: Access) -> impl Iterator<Item = &PathGlob> + '_ {
        let as_operation = if access == Access::Write { Operation::Write } else { Operation::Read };
        let denies = self.0.written.iter().filter(move |rule| {
            rule.operation.is_none_or(|operation| operation == as_operation) && is_enforced_by_sandbox(rule)
        });
        denies.filter_map(|rule| rule.path.as_ref())
    }
}

impl Rules {
    /// Returns the rules that name a program in `parts`. If a program is unknown, returns all rules that name a
    /// program.
    fn about_programs(&self, parts: Option<&[SpokenPart]>) -> Vec<usize> {
        let all = || self.0.by_program.values().flatten().copied().collect();
        let Some(parts) = parts else { return all() };
        let mut places = Vec::new();
        for command in parts.iter().flat_map(|part| part.runs.iter().chain(&part.starts)) {
            let Some(programs) = command.programs() else { return all() };
            places.extend(programs.iter().filter_map(|program| self.0.by_program.get(*program)).flatten());
        }
        places
    }
}

/// Returns true if a sandbox keeps the agent's commands from the paths that the rule denies. It cannot tell one command
/// from another.
pub(super) fn is_enforced_by_sandbox(rule: &Rule) -> bool {
    let is_of_commands = rule.tool.as_ref().is_none_or(|tool| *tool == Operation::Command.own_tool());
    rule.verdict == Verdict::Deny && is_of_commands && rule.command.is_none() && rule.shape.is_none()
}

/// Returns the rules that also allow something to created agents. They do not have this mark themselves.
fn of_children(written: &[Rule]) -> Option<Arc<[Rule]>> {
    let is_of_children = |rule: &&Rule| rule.children && rule.verdict == Verdict::Allow;
    let rules: Arc<[Rule]> =
        written.iter().filter(is_of_children).map(|rule| Rule { children: false, ..rule.clone() }).collect();
    (!rules.is_empty()).then_some(rules)
}

/// A rule and the matcher for its directories.
#[derive(Clone, Copy, Debug)]
struct Placed<'r> {
    rule: &'r Rule,
    cwd: Option<&'r GlobMatcher>,
}

impl Placed<'_> {
    fn allows_commands(&self) -> bool {
        self.rule.verdict == Verdict::Allow && self.rule.command.is_some()
    }

    /// Returns true if `used` meets the conditions of the rule on tool and operation.
    fn is_of(&self, action: &ResolvedAction, used: &Use) -> bool {
        let tool = self.rule.tool.as_ref().is_none_or(|tool| *tool == action.tool);
        tool && self.rule.operation.is_none_or(|of_rule| of_rule == used.operation)
    }

    /// Returns true if `used` meets all conditions of the rule. An allow pattern has to cover some part of the command.
    /// A rule about command lines applies to lines only. If the rule also names a path, it applies to a matching line
    /// that uses the path.
    fn speaks_about(&self, action: &ResolvedAction, used: &Use) -> bool {
        let rule = self.rule;
        let denies = rule.verdict > Verdict::Allow;
        let shape =
            rule.shape.as_ref().is_none_or(|shape| action.shape.as_ref().is_some_and(|other| shape.is_like(other)));
        let is_line = matches!(used.target, Target::Command { .. } | Target::Tool { .. });
        if !is_line && rule.path.is_none() && (rule.command.is_some() || rule.shape.is_some()) {
            return false;
        }
        let command = rule.command.as_ref().is_none_or(|pattern| {
            let line = if is_line { used } else { &action.uses.own };
            if denies {
                return action.runs(line, pattern) > Likelihood::None;
            }
            let Target::Command { parts, .. } = &line.target else { return false };
            parts.iter().flatten().any(|part| self.allows(part, action))
        });
        let there = denies || rule.command.is_some() || self.is_there(action);
        (denies || used.origin == UseOrigin::Own) && self.is_of(action, used) && shape && command && there
    }

    /// Returns true if the rule allows this part of a line. The program in the line must be the named one, and it must
    /// run in an allowed directory. The rule does not restrict the commands that the program starts.
    fn allows(&self, part: &SpokenPart, action: &ResolvedAction) -> bool {
        self.covers(part) == Coverage::Whole && part.dirs.iter().all(|dir| self.reaches(dir, action))
    }

    /// Returns true if a rule without a pattern allows something in the directory in which the action runs.
    fn is_there(&self, action: &ResolvedAction) -> bool {
        let directory = if self.rule.shape.is_some() { action.shape_runs_in() } else { Some(&StartDir::Own) };
        directory.is_some_and(|directory| self.reaches(directory, action))
    }

    fn covers(&self, part: &SpokenPart) -> Coverage {
        let pattern = self.rule.command.as_ref().zip(part.runs.as_ref());
        pattern.map_or(Coverage::None, |(pattern, runs)| pattern.certainly_covers(runs, &part.by_name))
    }

    fn reaches(&self, dir: &StartDir, action: &ResolvedAction) -> bool {
        let own = action.cwd.as_ref();
        let real = match dir {
            StartDir::Own => own,
            StartDir::Real(path) => Some(path),
            StartDir::Said(_) | StartDir::Unknown => None,
        };
        match &self.rule.cwd {
            Some(RuleCwd::Anywhere) => true,
            Some(RuleCwd::In(_)) => real.zip(self.cwd).is_some_and(|(path, cwd)| cwd.is_match(path.as_str())),
            // The rule is about the working directory of the agent.
            None => {
                let is_own = *dir == StartDir::Own || real.is_some_and(|path| Some(path) == own);
                // What runs nothing is the same in every directory.
                is_own && (action.directory.is_none() || action.cwd.is_none())
            }
        }
    }

    /// Returns the element of `part` that the rule does not cover, if it covers all others.
    fn misses(&self, part: &SpokenPart, action: &ResolvedAction) -> Option<String> {
        let rule = Escaped(self.rule.command.as_ref()?.as_str()).to_string();
        let place = &self.rule.place;
        match self.covers(part) {
            Coverage::None => None,
            Coverage::AllBut(at) => {
                let word = part.runs.as_ref()?.words.get(at)?.written()?;
                let name = redacted(word.split('=').next().unwrap_or(word));
                let (kind, name) = (if word.starts_with(['-', '+']) { "option" } else { "word" }, Escaped(&name));
                Some(format!("; the pattern `{rule}` of the rule at {place} does not name the {kind} `{name}`"))
            }
            Coverage::Whole => {
                let dir = part.dirs.iter().find(|dir| !self.reaches(dir, action))?;
                let runs = match (dir, &action.cwd) {
                    (StartDir::Own, Some(own)) | (StartDir::Real(own), _) => format!("in `{}`", shown_path(own)),
                    (StartDir::Own, None) | (StartDir::Said(_) | StartDir::Unknown, _) => {
                        "in an unknown directory".to_owned()
                    }
                };
                let allowed = match &self.rule.cwd {
                    Some(RuleCwd::In(glob)) => format!("only in `{}`", Escaped(glob.as_str())),
                    Some(RuleCwd::Anywhere) => "anywhere".to_owned(),
                    None => "only in the working directory, because it has no `cwd`".to_owned(),
                };
                Some(format!("; the rule at {place} allows `{rule}` {allowed}, but the command runs {runs}"))
            }
        }
    }
}

fn shown_path(path: &SanitizedPath) -> String {
    Escaped(path.as_str()).to_string()
}

/// Returns the part of a command line that no allow rule covers, for lines that other allow rules cover partly. The
/// reason of the tier may name another part.
fn left_over(part: &SpokenPart) -> String {
    let program = part.runs.as_ref().and_then(|command| command.words.first()?.written());
    match program {
        Some(program) => {
            format!("; the allow rules cover a part of it, but no rule allows `{}`", Escaped(&redacted(program)))
        }
        None => "; the allow rules cover only a part of it".to_owned(),
    }
}

/// Returns true if `rules` allow the whole line: every part is safe by itself or is allowed by one of them.
fn allow_all(rules: &[Placed<'_>], parts: &[SpokenPart], action: &ResolvedAction) -> bool {
    parts.iter().all(|part| part.tier == Tier::Safe || is_allowed(rules, part, action))
}

fn is_allowed(rules: &[Placed<'_>], part: &SpokenPart, action: &ResolvedAction) -> bool {
    rules.iter().any(|placed| placed.allows(part, action))
}
