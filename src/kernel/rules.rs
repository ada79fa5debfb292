//! The rules of one agent, compiled: asked often, changed when a file changes.

use std::{collections::HashMap, sync::Arc};

use globset::{GlobSet, GlobSetBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "sandbox")]
use crate::model::{Access, Operation};
use crate::model::{CommandPattern, Rule, SpokenPart, Tier, UseOrigin, Verdict};

use super::{
    considered::{Considered, Target},
    guards::all_inside,
    uses::Use,
};

/// Rules that bind an agent. Two are equal if the same is written in the same places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Arc<Compiled>);

#[derive(Debug, Default)]
struct Compiled {
    written: Arc<[Rule]>,
    globs: GlobSet,
    /// The rule of each glob.
    by_glob: Vec<usize>,
    /// Rules about commands, by the name of the program.
    by_program: HashMap<Box<str>, Vec<usize>>,
    /// All other rules.
    plain: Vec<usize>,
    /// Valid globs that do not compile together: nobody knows what they say, so nothing may happen.
    unusable: bool,
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.written == other.0.written
    }
}

impl Eq for Rules {}

/// As they are written.
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
        for (place, rule) in written.iter().enumerate() {
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
        Rules(Arc::new(Compiled { written: Arc::clone(written), globs, by_glob, by_program, plain, unusable }))
    }

    pub(crate) fn written(&self) -> &Arc<[Rule]> {
        &self.0.written
    }

    pub(crate) fn are_unusable(&self) -> bool {
        self.0.unusable
    }

    /// The rules that speak about `used`, one of the uses of `action`, in the order in which they are written.
    ///
    /// A yes is for what the action is about, never for what else it uses. Many rules may have to allow the parts of one
    /// command line together; they are among these only if they do.
    pub(crate) fn about(&self, action: &Considered, used: &Use) -> Vec<&Rule> {
        if self.0.written.is_empty() {
            return Vec::new();
        }
        let mut places = match &used.target {
            Target::Path(path) => self.about_paths([path.as_str()]),
            // What is given is given as a whole: a rule speaks about a directory if it speaks about all that lies in it.
            Target::Tree(path) => self.about_paths([path.as_str(), &all_inside(path)]),
            Target::Command { .. } if action.told.is_some() => self.about_programs(None),
            Target::Command { parts, .. } => self.about_programs(parts.as_deref()),
            Target::Tool { .. } => self.about_programs(None),
            Target::Host(_) | Target::Network | Target::Events | Target::Capability(_) | Target::Invalid { .. } => {
                Vec::new()
            }
        };
        // What may be no path is spoken about by who names the path.
        if used.origin != UseOrigin::Word {
            places.extend(&self.0.plain);
        }
        places.sort_unstable();
        places.dedup();
        let rules = places.into_iter().filter_map(|place| self.0.written.get(place));
        let mut rules: Vec<_> = rules.filter(|rule| speaks_about(rule, action, used)).collect();
        if let Target::Command { parts, .. } = &used.target {
            let allowing = rules.iter().filter(|rule| rule.verdict == Verdict::Allow);
            let patterns: Vec<_> = allowing.filter_map(|rule| rule.command.as_ref()).collect();
            let together = parts.as_ref().is_some_and(|parts| allow_all(&patterns, parts));
            rules.retain(|rule| rule.verdict != Verdict::Allow || rule.command.is_none() || together);
        }
        rules
    }

    /// The places of the rules about one of `paths`.
    fn about_paths<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Vec<usize> {
        if self.0.globs.is_empty() {
            return Vec::new();
        }
        let found = paths.into_iter().flat_map(|path| self.0.globs.matches(path));
        found.filter_map(|glob| self.0.by_glob.get(glob).copied()).collect()
    }

    /// The first part of a command line that these rules do not allow, if they allow another one that needs somebody's word.
    pub(crate) fn left_over<'a>(&self, action: &'a Considered) -> Option<&'a SpokenPart> {
        let Target::Command { parts: Some(parts), .. } = action.target() else { return None };
        let speaks = |rule: &&Rule| rule.verdict == Verdict::Allow && speaks_about(rule, action, &action.uses.own);
        let allowing = self.0.written.iter().filter(speaks);
        let patterns: Vec<_> = allowing.filter_map(|rule| rule.command.as_ref()).collect();
        let mut words_needed = parts.iter().filter(|part| part.tier > Tier::Safe);
        let some_is_allowed = words_needed.clone().any(|part| is_allowed(&patterns, part));
        words_needed.find(|part| some_is_allowed && !is_allowed(&patterns, part))
    }

    /// The paths that are denied by name for this way of using them, as far as one agent's commands are concerned.
    #[cfg(feature = "sandbox")]
    pub(crate) fn denied_by_name(&self, access: Access) -> impl Iterator<Item = crate::model::SanitizedPath> + '_ {
        let as_operation = if access == Access::Write { Operation::Write } else { Operation::Read };
        let own_tool = Operation::Command.own_tool();
        let denies = self.0.written.iter().filter(move |rule| {
            rule.verdict == Verdict::Deny
                && rule.operation.is_none_or(|operation| operation == as_operation)
                && rule.tool.as_ref().is_none_or(|tool| *tool == own_tool)
                && rule.command.is_none()
                && rule.shape.is_none()
        });
        denies.filter_map(|rule| rule.path.as_ref()?.named_as_no())
    }
}

impl Rules {
    /// The rules that name a program of these parts; all that name one, where a program is not known.
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

/// Whether the conditions of `rule` are met by `used`; for a pattern that allows, by some part of a command. What a rule says
/// about commands is met by what a command line of that kind uses.
fn speaks_about(rule: &Rule, action: &Considered, used: &Use) -> bool {
    let verdict = rule.verdict > Verdict::Allow || used.origin == UseOrigin::Own;
    let tool = rule.tool.as_ref().is_none_or(|tool| *tool == action.tool);
    let operation = rule.operation.is_none_or(|of_rule| of_rule == used.operation);
    let shape =
        rule.shape.as_ref().is_none_or(|shape| action.shape.as_ref().is_some_and(|other| other.key == shape.key));
    let target = if matches!(used.target, Target::Command { .. } | Target::Tool { .. }) {
        &used.target
    } else {
        action.target()
    };
    let command = rule.command.as_ref().is_none_or(|pattern| match target {
        Target::Command { parts, .. } => {
            meets(pattern, parts.as_deref(), rule.verdict) || rule.verdict > Verdict::Allow && action.is_told(pattern)
        }
        Target::Tool { mentions, .. } => rule.verdict > Verdict::Allow && mentions.may_run(pattern),
        Target::Path(_)
        | Target::Tree(_)
        | Target::Host(_)
        | Target::Network
        | Target::Events
        | Target::Capability(_)
        | Target::Invalid { .. } => false,
    });
    verdict && tool && operation && shape && command
}

/// What is not understood may be anything: enough for a no or a question, never for a yes.
pub(super) fn meets(pattern: &CommandPattern, parts: Option<&[SpokenPart]>, verdict: Verdict) -> bool {
    let Some(parts) = parts else { return verdict > Verdict::Allow };
    let mut commands = parts.iter().flat_map(|part| part.runs.iter().chain(&part.starts));
    match verdict {
        Verdict::Allow => parts.iter().any(|part| is_allowed(&[pattern], part)),
        Verdict::Ask | Verdict::Deny => commands.any(|command| pattern.may_cover(command)),
    }
}

/// A yes is for the whole line: every part that is not safe by itself is like one of `patterns`.
fn allow_all(patterns: &[&CommandPattern], parts: &[SpokenPart]) -> bool {
    parts.iter().all(|part| part.tier == Tier::Safe || is_allowed(patterns, part))
}

/// The program as it stands there must be the one that is named; what it starts is its business.
fn is_allowed(patterns: &[&CommandPattern], part: &SpokenPart) -> bool {
    part.runs.as_ref().is_some_and(|command| patterns.iter().any(|pattern| pattern.certainly_covers(command)))
}
