//! Explanations: the results of all stages, and the changes that would allow the action.

use std::{fmt, sync::Arc};

use serde::Serialize;

use crate::model::{
    Decision, DecisionSource, Effect, Escaped, Mode, RuleRef, Ruled, SanitizedPath, ToolName, ToolPolicies, UseFacts,
    UseOrigin,
};

use super::{
    super::{action_uses::Use, provenance::ProvenanceStep},
    EffectiveMode, Evaluation, EvaluationInput, Stage, StageResult,
    stages::named_paths,
};

/// The decision about an action at this moment, stage by stage, and the changes that would allow it. Creating it asks,
/// consumes and records nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// The deciding stage.
    pub decided_by: Stage,
    /// The result of each stage, strongest first.
    pub walk: Vec<Step>,
    /// All uses of the action, its own use first.
    pub uses: Vec<UseStep>,
    /// The provenance of each held permission that the action uses: the agent's own grant first, the root last.
    pub held_by: Vec<Vec<ProvenanceStep>>,
    /// The changes that would together allow the action. Empty if it is allowed.
    pub ways_out: Vec<String>,
}

/// One use of the action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UseStep {
    /// The use.
    #[serde(flatten)]
    pub used: UseFacts,
    /// True if the deciding stage is about this use.
    pub decides: bool,
}

/// The result of one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The stage.
    pub stage: Stage,
    /// The result, or `None` if the stage does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<Ruled>,
    /// The source of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<DecisionSource>,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The rules and policies that led to the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rule_refs: Vec<RuleRef>,
}

impl Evaluation<'_> {
    /// Returns the decision with all intermediate results.
    pub(crate) fn explanation(&self, case: &EvaluationInput<'_>) -> Explanation {
        let held = case
            .action
            .permissions()
            .map(|needed| case.state.why(&case.agent.profile.id, needed, case.broken, case.now));
        Explanation {
            decision: self.decision(case),
            decided_by: self.stage,
            walk: self.walk.iter().map(|(stage, finding)| step(*stage, finding.as_ref())).collect(),
            uses: self.uses(case),
            held_by: held.filter(|chain| !chain.is_empty()).collect(),
            ways_out: self.ways_out(case),
        }
    }

    /// Returns the uses, without words of unknown meaning that decide nothing.
    fn uses(&self, case: &EvaluationInput<'_>) -> Vec<UseStep> {
        let deciding = self.walk.iter().find(|(stage, _)| *stage == self.stage);
        let deciding = deciding.and_then(|(_, finding)| finding.as_ref()).map(|finding| &finding.uses);
        let decides = |place: usize| match deciding {
            Some(uses) if !uses.is_empty() => uses.contains(&place),
            Some(_) | None => place == 0,
        };
        let own = UseFacts { resource: Arc::clone(&case.action.shown), ..case.action.uses.own.facts() };
        let facts = std::iter::once(own).chain(case.action.shown_uses());
        let steps = facts.enumerate().map(|(place, used)| UseStep { used, decides: decides(place) });
        steps.filter(|step| step.decides || !step.used.origin.is_word()).collect()
    }

    /// Returns one change for each blocking stage, down to the first stage that allows the action.
    fn ways_out(&self, case: &EvaluationInput<'_>) -> Vec<String> {
        if self.conclusion.ruled.verdict() == Effect::Allow {
            return Vec::new();
        }
        let spoken = self.walk.iter().filter_map(|(stage, finding)| Some((*stage, finding.as_ref()?)));
        let in_the_way = spoken.take_while(|(_, finding)| finding.ruled.verdict() > Effect::Allow);
        let speaks = |of: Stage| self.walk.iter().any(|(stage, finding)| *stage == of && finding.is_some());
        // A person who enables a destructive action thereby answers the weaker prompts.
        let is_answered = |stage: Stage| match stage {
            Stage::AskRule | Stage::Tier => speaks(Stage::Destructive),
            Stage::Default => speaks(Stage::Destructive) || speaks(Stage::Tier),
            Stage::Held => {
                self.lacks_only_protected()
                    || self.lacks_only_denied(case)
                    || speaks(Stage::Destructive) && self.lacks_only_named(case)
            }
            Stage::Protected | Stage::Denied | Stage::Mode | Stage::Destructive | Stage::AllowRule => false,
        };
        let mut ways: Vec<_> = in_the_way
            .filter(|(stage, _)| !is_answered(*stage))
            .map(|(stage, finding)| self.way_out(case, stage, finding))
            .collect();
        if self.conclusion.ruled == Ruled::Sandboxed {
            ways.insert(
                0,
                "run it in a sandbox with `exec`; a host program with a sandbox of its own reports the \
                limits with `confine`"
                    .into(),
            );
        }
        if self.conclusion.ruled == Ruled::Unavailable {
            ways.push("connect a person: the user of a foreground agent, or an approver of the same owner".into());
        }
        let EffectiveMode { mode, of } = self.manner;
        if self.conclusion.source == DecisionSource::Mode && matches!(mode, Mode::Never | Mode::OnFailure) {
            ways.push(format!("give {} a mode that asks, such as `default`", of.profile.id));
        }
        ways
    }

    /// Returns true if a policy line that names the protected paths also gives all missing permissions.
    fn lacks_only_protected(&self) -> bool {
        let protecting = self.walk.iter().find(|(stage, _)| *stage == Stage::Protected);
        let refs = protecting.and_then(|(_, finding)| Some(&finding.as_ref()?.refs));
        refs.is_some_and(|refs| {
            let is_named = |path: &SanitizedPath| refs.contains(&RuleRef::Protected(path.clone()));
            self.missing.iter().all(|pinned| pinned.permission.path().is_some_and(is_named))
        })
    }

    /// Returns true if all missing permissions are for paths that a rule denies. No permission helps there.
    fn lacks_only_denied(&self, case: &EvaluationInput<'_>) -> bool {
        let denying = self.walk.iter().find(|(stage, _)| *stage == Stage::Denied);
        let uses = denying.and_then(|(_, finding)| finding.as_ref()).map(|finding| finding.uses.as_slice());
        let paths: Vec<_> =
            uses.into_iter().flatten().filter_map(|at| case.action.uses.iter().nth(*at)?.path()).collect();
        let is_denied = |path: &SanitizedPath| paths.contains(&path);
        !paths.is_empty() && self.missing.iter().all(|pinned| pinned.permission.path().is_some_and(is_denied))
    }

    /// Returns true if all missing permissions are for uses that the command line only names. An approval of exactly
    /// this line gives them.
    fn lacks_only_named(&self, case: &EvaluationInput<'_>) -> bool {
        let held = self.walk.iter().find(|(stage, _)| *stage == Stage::Held);
        let lacking = held.and_then(|(_, finding)| finding.as_ref()).map(|finding| &finding.uses);
        let is_named = |place: &usize| {
            let used = case.action.uses.iter().nth(*place);
            used.is_some_and(Use::is_only_named)
        };
        lacking.is_some_and(|lacking| lacking.iter().all(is_named))
    }

    /// Returns the paths that a result is about, for people.
    fn paths_of(&self, case: &EvaluationInput<'_>, finding: &StageResult) -> String {
        let uses = finding.uses.iter().filter_map(|place| case.action.uses.iter().nth(*place));
        let mut paths: Vec<_> = uses.filter_map(Use::path).collect();
        paths.dedup();
        named_paths(&paths)
    }

    fn way_out(&self, case: &EvaluationInput<'_>, stage: Stage, finding: &StageResult) -> String {
        let (agent, judged_as) = (&case.agent.profile.id, &self.manner.of.profile.id);
        match stage {
            Stage::Protected if finding.refs.is_empty() => format!("change the input: {}", finding.reason),
            Stage::Protected => {
                let protected = |rule: &RuleRef| match rule {
                    RuleRef::Protected(path) => Some(format!("`{}`", Escaped(path.as_str()))),
                    RuleRef::Rule { .. }
                    | RuleRef::Policy { .. }
                    | RuleRef::Ruling(_)
                    | RuleRef::Hook(_)
                    | RuleRef::Violation(_)
                    | RuleRef::OfParent { .. } => None,
                };
                let paths = finding.refs.iter().filter_map(protected).collect::<Vec<_>>().join(" and ");
                format!("leave out {paths}: only a person who edits agents.toml decides about a protected path")
            }
            Stage::Denied | Stage::AskRule => {
                let paths = self.paths_of(case, finding);
                if finding.is_denial && finding.ruled == Ruled::Ask {
                    let leave = if paths.is_empty() { String::new() } else { format!("leave out {paths}, or ") };
                    return format!("{leave}get the approval of a person for exactly this action");
                }
                let is_denied = finding.ruled == Ruled::Deny && !paths.is_empty();
                let refs = finding.refs.iter().filter(|rule| !is_denied || !is_about_paths(rule));
                let leave = is_denied.then(|| format!("leave out {paths}"));
                let refs: Vec<_> = leave.into_iter().chain(refs.map(change_of)).collect();
                let ask = if finding.ruled == Ruled::Ask {
                    "get the approval of a person; or, to avoid the question, "
                } else {
                    ""
                };
                format!("{ask}{}", refs.join(", and "))
            }
            Stage::Mode => format!("give {judged_as} a mode other than `plan`"),
            Stage::Destructive => "let a person enable exactly this input for one use".to_owned(),
            Stage::Held => {
                let missing = finding.reason.strip_prefix("the agent does not hold ").unwrap_or(&finding.reason);
                format!(
                    "get {missing}: request it with `request_permission`, receive it from an agent that holds it, \
                     or add it to `permissions` of `[agents.{agent}]`"
                )
            }
            Stage::Tier if finding.source == DecisionSource::Mode => {
                format!("get the approval of a person, or give {judged_as} another mode")
            }
            Stage::AllowRule | Stage::Tier | Stage::Default => {
                "get the approval of a person, or write an `allow` rule in agents.toml that covers it".to_owned()
            }
        }
    }
}

fn step(stage: Stage, finding: Option<&StageResult>) -> Step {
    Step {
        stage,
        says: finding.map(|finding| finding.ruled),
        source: finding.map(|finding| finding.source),
        reason: finding.map(|finding| finding.reason.to_string()),
        rule_refs: finding.map(|finding| finding.refs.clone()).unwrap_or_default(),
    }
}

/// Returns true for a rule or policy that may be about a path. No advice tells to lift it.
fn is_about_paths(rule: &RuleRef) -> bool {
    match rule {
        RuleRef::Rule { rule, .. } => rule.contains(" of `/"),
        RuleRef::Policy { name, .. } => ToolPolicies::is_about_paths(name),
        RuleRef::OfParent { rule, .. } => is_about_paths(rule),
        RuleRef::Protected(_) => true,
        RuleRef::Ruling(_) | RuleRef::Hook(_) | RuleRef::Violation(_) => false,
    }
}

fn change_of(rule: &RuleRef) -> String {
    match rule {
        RuleRef::Rule { rule, place } => format!("narrow or remove the rule at {place} (`{}`)", Escaped(rule)),
        RuleRef::Policy { tool, name } => change_of_policy(tool, name),
        RuleRef::Ruling(id) => format!("revoke the saved decision {id}"),
        RuleRef::Protected(path) => format!("name exactly `{}` in agents.toml", Escaped(path.as_str())),
        RuleRef::Hook(name) => format!("change the verdict of the hook {}", Escaped(name)),
        RuleRef::Violation(id) => format!("get the permission for the access that the sandbox blocked ({id})"),
        RuleRef::OfParent { agent, rule } => format!("for {agent}: {}", change_of(rule)),
    }
}

/// Returns the change that lifts a policy. A deny entry requires new policies. For other paths, an allow glob or
/// another default is enough.
fn change_of_policy(tool: &ToolName, name: &str) -> String {
    let set = format!("set other policies for {tool} (`set_policies`)");
    if ToolPolicies::is_about_paths(name) {
        format!(
            "add an `allow` glob to `{name}` of {tool}, or set another `default` (`update_policy`); if a `deny` \
             glob denies it, {set}"
        )
    } else {
        format!("{set} without `{}`", Escaped(name))
    }
}

/// Formats the explanation for people: the decision, the stages, and the changes that would allow the action.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.decision)?;
        for step in &self.walk {
            let mark = if step.stage == self.decided_by { "=>" } else { "  " };
            write!(f, "{mark} {:<11} ", step.stage.as_str())?;
            match (&step.says, &step.reason) {
                (Some(says), Some(reason)) => write!(f, "{says}: {}", Escaped(reason))?,
                _ => f.write_str("-")?,
            }
            step.rule_refs.iter().try_for_each(|rule| write!(f, " [{rule}]"))?;
            writeln!(f)?;
        }
        // The own use of the action is part of the first line.
        for step in self.uses.iter().filter(|step| step.used.origin != UseOrigin::Own) {
            writeln!(f, "{} uses {}", if step.decides { "=>" } else { "  " }, step.used)?;
        }
        for chain in &self.held_by {
            f.write_str("held: ")?;
            for (place, support) in chain.iter().enumerate() {
                write!(f, "{}{support}", if place > 0 { " <- " } else { "" })?;
            }
            writeln!(f)?;
        }
        for (place, way) in self.ways_out.iter().enumerate() {
            writeln!(f, "{} {}", if place == 0 { "to allow it:" } else { "        and:" }, Escaped(way))?;
        }
        Ok(())
    }
}
