//! The compiled tool policies of runs. Every action is checked against them. They change when a person changes a
//! policy.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use globset::{Candidate, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::model::{
    Access, CommandPattern, Operation, OwnerId, PathGlob, PathPolicy, RunId, SanitizedPath, ToolName, ToolPolicies,
    UseOrigin, Verdict,
};

use super::{
    action_uses::Use,
    command_match::Likelihood,
    resolved_action::ResolvedAction,
    target::{Target, all_inside},
};

/// The maximum number of tools per run, and of globs and patterns per tool policy.
pub(crate) const MAX_POLICIES: u32 = 1024;

/// The tool policies of each run: common policies, and separate ones for some tools.
pub(super) type CompiledToolPolicies = BTreeMap<OwnerId, BTreeMap<RunId, RunGuards>>;

/// The tool policies of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenGuards", into = "WrittenGuards")]
pub(crate) struct RunGuards {
    /// The initial policies of every tool.
    pub(super) common: Compiled,
    /// The tools that were declared, were used or have their own policies.
    pub(super) tools: BTreeMap<ToolName, Compiled>,
}

/// The serialized form of [`RunGuards`]. Equal policies of several tools are written once.
#[derive(Debug, Serialize, Deserialize)]
struct WrittenGuards {
    common: Arc<ToolPolicies>,
    tools: Vec<(Arc<ToolPolicies>, BTreeSet<ToolName>)>,
}

impl From<RunGuards> for WrittenGuards {
    fn from(guards: RunGuards) -> WrittenGuards {
        let mut tools: Vec<(Arc<ToolPolicies>, BTreeSet<ToolName>)> = Vec::new();
        for (tool, guard) in guards.tools {
            match tools.iter_mut().find(|(written, _)| written == guard.written()) {
                Some((_, same)) => drop(same.insert(tool)),
                None => tools.push((Arc::clone(guard.written()), BTreeSet::from([tool]))),
            }
        }
        WrittenGuards { common: Arc::clone(guards.common.written()), tools }
    }
}

impl From<WrittenGuards> for RunGuards {
    fn from(written: WrittenGuards) -> RunGuards {
        let common = Compiled::of(&written.common);
        let mut tools = BTreeMap::new();
        for (policies, same) in written.tools {
            let guard = if policies == written.common { common.clone() } else { Compiled::of(&policies) };
            tools.extend(same.into_iter().map(|tool| (tool, guard.clone())));
        }
        RunGuards { common, tools }
    }
}

/// Compiled policies. Two values are equal if their sources are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled(Arc<Parts>);

#[derive(Debug, Default)]
struct Parts {
    written: Arc<ToolPolicies>,
    forbidden: GlobSet,
    read: Paths,
    write: Paths,
    /// True if the policies contain any entry.
    speaks: bool,
    /// True if the globs are valid but do not compile together. Their meaning is unknown, so everything is denied.
    unusable: bool,
}

#[derive(Debug, Default)]
struct Paths {
    deny: GlobSet,
    allow: GlobSet,
    default: Option<Verdict>,
}

impl PartialEq for Compiled {
    fn eq(&self, other: &Compiled) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.written == other.0.written
    }
}

impl Eq for Compiled {}

impl Compiled {
    pub(crate) fn of(written: &Arc<ToolPolicies>) -> Compiled {
        let mut unusable = false;
        let mut set = |compiled: Result<GlobSet, globset::Error>| {
            compiled.unwrap_or_else(|_| {
                unusable = true;
                GlobSet::empty()
            })
        };
        let mut paths = |policy: &PathPolicy| Paths {
            deny: set(noes(&policy.deny)),
            allow: set(yeses(&policy.allow)),
            default: policy.default,
        };
        let (read, write) = (paths(&written.read), paths(&written.write));
        let forbidden = set(noes(&written.forbidden));
        let speaks = !written.names().is_empty();
        Compiled(Arc::new(Parts { written: Arc::clone(written), forbidden, read, write, speaks, unusable }))
    }

    pub(crate) fn written(&self) -> &Arc<ToolPolicies> {
        &self.0.written
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.0.unusable
    }

    /// Returns the verdicts on `used`, which is one of the uses of `action`, with the name of each deciding policy. An
    /// allow verdict counts only for the action's own use.
    pub(crate) fn about(&self, action: &ResolvedAction, used: &Use) -> Vec<(Verdict, &'static str)> {
        let mut said = Vec::new();
        if !self.0.speaks {
            return said;
        }
        if self.0.unusable {
            said.push((Verdict::Deny, ToolPolicies::FORBIDDEN));
        }
        match &used.target {
            Target::Path(path) => said.extend(self.about_path(used, path)),
            Target::Tree(path) => said.extend(self.about_tree(used.access(), path)),
            Target::Command { .. } | Target::Tool { .. } => {
                let likelihood = |list: &[CommandPattern]| {
                    list.iter().map(|pattern| action.runs(used, pattern)).max().unwrap_or(Likelihood::None)
                };
                let denied = match likelihood(&self.0.written.deny_commands) {
                    Likelihood::Certain => Some(Verdict::Deny),
                    Likelihood::Possible => Some(Verdict::Ask),
                    Likelihood::None => None,
                };
                said.extend(denied.map(|verdict| (verdict, ToolPolicies::DENY_COMMANDS)));
                let is_asked = likelihood(&self.0.written.approve_commands) > Likelihood::None;
                said.extend(is_asked.then_some((Verdict::Ask, ToolPolicies::APPROVE_COMMANDS)));
            }
            Target::Host(_)
            | Target::Network
            | Target::Events
            | Target::Capability(_)
            | Target::Unresolved { .. }
            | Target::Invalid { .. } => {}
        }
        if used.origin != UseOrigin::Own {
            said.retain(|(verdict, _)| *verdict > Verdict::Allow);
        }
        said
    }

    /// Returns the verdicts on a path. A matching deny glob wins over a matching allow glob, and both win over the
    /// default. The default does not apply to a word that may not be a path.
    fn about_path(&self, used: &Use, path: &SanitizedPath) -> impl Iterator<Item = (Verdict, &'static str)> {
        let access = used.access();
        let (policy, path) = (self.paths(access), Candidate::new(path.as_str()));
        let forbidden = self.0.forbidden.is_match_candidate(&path).then_some((Verdict::Deny, ToolPolicies::FORBIDDEN));
        let verdict = if policy.deny.is_match_candidate(&path) {
            Some(Verdict::Deny)
        } else if policy.allow.is_match_candidate(&path) {
            Some(Verdict::Allow)
        } else {
            policy.default.filter(|_| !used.origin.is_word())
        };
        // Permission to read a file does not imply permission to run it.
        let runs = used.operation == Operation::Exec;
        let verdict = verdict.filter(|verdict| !runs || *verdict > Verdict::Allow);
        forbidden.into_iter().chain(verdict.map(|verdict| (verdict, ToolPolicies::name_of(access))))
    }

    /// Returns the verdicts on a directory that is used as a whole. A deny glob applies if it matches the directory or
    /// everything in it. The default applies unless an allow glob matches everything in the directory.
    fn about_tree(&self, access: Access, path: &SanitizedPath) -> impl Iterator<Item = (Verdict, &'static str)> {
        let (policy, inside) = (self.paths(access), all_inside(path));
        let is_denied =
            |globs: &GlobSet| !globs.is_empty() && (globs.is_match(path.as_str()) || globs.is_match(&inside));
        let forbidden = is_denied(&self.0.forbidden).then_some((Verdict::Deny, ToolPolicies::FORBIDDEN));
        let verdict = if is_denied(&policy.deny) {
            Some(Verdict::Deny)
        } else if policy.allow.is_match(&inside) {
            None
        } else {
            policy.default
        };
        forbidden.into_iter().chain(verdict.map(|verdict| (verdict, ToolPolicies::name_of(access))))
    }

    /// Returns the globs that are denied for `access`.
    pub(crate) fn denied_globs(&self, access: Access) -> impl Iterator<Item = &PathGlob> + '_ {
        let ToolPolicies { forbidden, read, write, .. } = &*self.0.written;
        let policy = if access == Access::Write { write } else { read };
        forbidden.iter().chain(&policy.deny)
    }

    fn paths(&self, access: Access) -> &Paths {
        match access {
            Access::Read => &self.0.read,
            Access::Write => &self.0.write,
        }
    }
}

fn yeses(globs: &[PathGlob]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(glob.compiled()?);
    }
    builder.build()
}

/// Compiles deny globs. A denied path is denied together with everything in it.
fn noes(globs: &[PathGlob]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        for form in glob.compiled_as_no()? {
            builder.add(form);
        }
    }
    builder.build()
}

impl RunGuards {
    pub(crate) fn common(&self) -> &Compiled {
        &self.common
    }

    pub(crate) fn tools(&self) -> &BTreeMap<ToolName, Compiled> {
        &self.tools
    }

    /// Returns the policies of `tool`. An unknown tool has the common policies.
    pub(crate) fn of(&self, tool: &ToolName) -> &Compiled {
        self.tools.get(tool).unwrap_or(&self.common)
    }
}
