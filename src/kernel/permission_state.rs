//! The complete permission state of one agent as one value (`sources/002`, "permission_state").

use std::{fmt, iter, sync::Arc};

use serde::Serialize;

use crate::model::{
    AgentId, BlockedAccess, Escaped, Grant, Hold, Interaction, Kind, Mode, OwnerId, PathGlob, Permission, Place, Reads,
    Rule, RuleRef, RunId, SanitizedPath, Scope, Timestamp, ToolName, Verdict, ViolationId,
};

use super::{
    State,
    agent::{Agent, Violated},
};

/// The mode, rules, policies, interaction setting and permissions of one agent at one moment. Reading it needs no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PermissionState {
    /// The agent.
    pub agent: AgentId,
    /// Its owner.
    pub owner: OwnerId,
    /// Its kind.
    pub kind: Kind,
    /// Its current run.
    pub run: RunId,
    /// Its own mode.
    pub mode: Mode,
    /// The mode in the policy file, if another mode was set at run time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_mode: Option<Mode>,
    /// The modes of its ancestors, the nearest first. They bind the agent as well.
    pub modes_above: Vec<ModeAbove>,
    /// The rules that bind the agent, with the file and line of each: first its own rules, then the deny rules of its
    /// ancestors.
    pub rules: Vec<StatedRule>,
    /// The policies of its run and of the other runs that bind it.
    pub policies: Vec<StatedPolicies>,
    /// The setting that allows or forbids prompts to people.
    pub interaction: Interaction,
    /// True if a request of this agent would reach a person or wait in the queue now.
    pub may_ask: bool,
    /// The verdict on an action that no earlier stage decides.
    pub default_verdict: Verdict,
    /// The setting that defines which permission a read needs.
    pub reads: Reads,
    /// The protected paths of the settings. Only a line of the policy file that names such a path exactly reaches it.
    pub protected: Vec<SanitizedPath>,
    /// The live permissions of the agent, oldest first.
    pub held: Vec<StatedPermission>,
    /// The paths that the sandbox denied to the agent's commands in this run, with the id of each violation.
    pub violations: Vec<StatedViolation>,
}

/// The mode of an ancestor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ModeAbove {
    /// The ancestor.
    pub agent: AgentId,
    /// Its mode.
    pub mode: Mode,
}

/// A rule and its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatedRule {
    /// The verdict of the rule.
    pub verdict: Verdict,
    /// The rule in one line.
    pub rule: Arc<str>,
    /// The file and line of the rule.
    pub place: Place,
    /// The paths that the rule is about, if it is about paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathGlob>,
    /// The ancestor that the rule is written for, if it is not a rule of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<AgentId>,
}

/// The policy names of one tool in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatedPolicies {
    /// The run.
    pub run: RunId,
    /// The tool. `None` stands for all tools without policies of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// The policy names.
    pub names: Vec<Arc<str>>,
}

/// An access that the sandbox kept from a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatedViolation {
    /// The id of the violation.
    pub id: ViolationId,
    /// The path or the host.
    #[serde(flatten)]
    pub access: BlockedAccess,
}

/// A summary of a permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatedPermission {
    /// The permission.
    pub permission: Permission,
    /// The allowed use of the permission: use and delegation, or delegation only.
    pub hold: Hold,
    /// The scope of the grant.
    pub scope: Scope,
    /// The time at which the permission expires, if it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The grant and its source, formatted for people.
    pub grant: String,
}

impl State {
    pub(crate) fn permission_state(&self, agent: &Agent, now: Timestamp) -> PermissionState {
        let (profile, above) = (&agent.profile, self.above(agent));
        let mode_of = |above: &&Agent| ModeAbove { agent: above.profile.id.clone(), mode: above.profile.mode };
        let binding = |rule: &Rule| rule.verdict == Verdict::Deny || rule.children;
        let inherited = above.iter().flat_map(|above| stated(above, Some(&above.profile.id), binding));
        let runs = iter::once(&agent.run).chain(above.iter().map(|above| &above.run));
        let mut runs: Vec<_> =
            runs.chain(State::runs_of_creation(agent, &above).into_iter().map(|(_, run)| run)).collect();
        let mut known = std::collections::BTreeSet::new();
        runs.retain(|run| known.insert(*run));
        PermissionState {
            agent: profile.id.clone(),
            owner: profile.owner.clone(),
            kind: profile.kind,
            run: agent.run.clone(),
            mode: profile.mode,
            written_mode: agent.written_mode,
            modes_above: above.iter().map(mode_of).collect(),
            rules: stated(agent, None, |_| true).chain(inherited).collect(),
            policies: runs.into_iter().flat_map(|run| self.stated_policies(&profile.owner, run)).collect(),
            interaction: self.settings.interaction,
            may_ask: self.silenced(agent).is_none() && self.somebody_can_answer(agent),
            default_verdict: self.settings.default_verdict,
            reads: self.settings.reads,
            protected: self.settings.protected.to_vec(),
            held: agent
                .held
                .iter()
                .filter(|grant| grant.is_live(now))
                .map(|grant| stated_permission(&grant.to_grant()))
                .collect(),
            violations: agent.kept_from.iter().map(stated_violation).collect(),
        }
    }

    fn stated_policies(&self, owner: &OwnerId, run: &RunId) -> Vec<StatedPolicies> {
        let Some(guards) = self.guards_of(owner, run) else { return Vec::new() };
        let common = guards.common().written().names().into_iter().map(Arc::from).collect();
        let common = StatedPolicies { run: run.clone(), tool: None, names: common };
        let own = guards.tools().keys().map(|tool| StatedPolicies {
            run: run.clone(),
            tool: Some(tool.clone()),
            names: self.names_in_guard(owner, run, tool, &[]),
        });
        iter::once(common).chain(own).filter(|policies| !policies.names.is_empty()).collect()
    }
}

fn stated<'a>(
    agent: &'a Agent,
    of: Option<&'a AgentId>,
    is_stated: impl Fn(&Rule) -> bool + 'a,
) -> impl Iterator<Item = StatedRule> + 'a {
    agent.rules.written().iter().filter(move |rule| is_stated(rule)).map(move |rule| StatedRule {
        verdict: rule.verdict,
        rule: rule.to_string().into(),
        place: rule.place.clone(),
        path: rule.path.clone(),
        of: of.cloned(),
    })
}

fn stated_violation(violated: &Violated) -> StatedViolation {
    StatedViolation { id: violated.id, access: violated.access.clone() }
}

fn stated_permission(grant: &Grant) -> StatedPermission {
    StatedPermission {
        permission: grant.pinned.permission.clone(),
        hold: grant.hold,
        scope: grant.scope,
        until: grant.until,
        grant: grant.to_string(),
    }
}

/// Formats the state for people, with one fact per line.
impl fmt::Display for PermissionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}) of {}, in {}: mode {}", self.agent, self.kind, self.owner, self.run, self.mode)?;
        if let Some(written) = self.written_mode {
            write!(f, " ({written} in the policy file)")?;
        }
        self.modes_above.iter().try_for_each(|above| write!(f, ", {} of {}", above.mode, above.agent))?;
        let asks = if self.may_ask { "it can ask a person" } else { "it cannot ask a person" };
        let reads = match self.reads {
            Reads::Anywhere => "anywhere",
            Reads::Granted => "granted",
        };
        write!(f, "\n{asks}; default verdict: {}; reads = \"{reads}\"", self.default_verdict)?;
        write!(f, "; {} protected paths", self.protected.len())?;
        self.held.iter().try_for_each(|stated| write!(f, "\n{}", stated.grant))?;
        for rule in &self.rules {
            let told = RuleRef::Rule { rule: Arc::clone(&rule.rule), place: rule.place.clone() };
            write!(f, "\n{told}")?;
            rule.of.as_ref().map_or(Ok(()), |of| write!(f, ", for {of}"))?;
        }
        for policies in &self.policies {
            match &policies.tool {
                Some(tool) => write!(f, "\n{} of {}:", tool, policies.run)?,
                None => write!(f, "\nevery other tool of {}:", policies.run)?,
            }
            policies.names.iter().try_for_each(|name| write!(f, " {}", Escaped(name)))?;
        }
        self.violations
            .iter()
            .try_for_each(|violated| write!(f, "\n{}: the sandbox blocked `{}`", violated.id, violated.access))
    }
}
