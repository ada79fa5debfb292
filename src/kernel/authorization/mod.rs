//! The one function that decides an action. All surfaces use it: library, command line, files, sandbox and wire
//! protocols.
//!
//! A decision has nine stages, in order of strength. A later stage cannot undo an earlier one. All stages are
//! evaluated, so an explanation shows the decision itself and not a second calculation.

mod applicable_rules;
mod carried;
mod denials;
mod escalation;
mod explain;
mod hook_verdict;
mod input;
mod modified_input;
mod stage;
mod stages;

use std::sync::Arc;

use crate::model::{
    Decision, DecisionSource, Effect, Mode, Origin, PinnedPermission, RequestId, RuleRef, Ruled, SavedDecision, Scope,
    Tier, UseFacts,
};

use super::{action_uses::Use, agent::Agent, compact_grant::CompactGrant, target::Target};

/// The most uses that a decision names as its reason.
const MAX_ABOUT: usize = 8;

use applicable_rules::ApplicableRules;
pub use explain::{Explanation, Step, UseStep};
pub(crate) use hook_verdict::HookVerdict;
pub(crate) use input::EvaluationInput;
pub(crate) use modified_input::is_no_worse;
pub use stage::Stage;
pub(crate) use stage::StageResult;
use stages::Held;

/// The result of all stages, with the one-time approvals and grants that it consumes.
#[derive(Debug)]
pub(crate) struct Evaluation<'s> {
    /// The mode that applied.
    pub(crate) manner: EffectiveMode<'s>,
    /// The result of each stage.
    pub(crate) walk: [(Stage, Option<StageResult>); 9],
    /// The stage that decided.
    pub(crate) stage: Stage,
    pub(crate) conclusion: StageResult,
    /// The permissions that the agent lacks.
    pub(crate) missing: Vec<PinnedPermission>,
    /// The permissions that the agent lacks, including those that it does not need because a sandbox denies the use.
    pub(crate) lacking: Vec<PinnedPermission>,
    /// True if a person has to approve the action itself, in addition to giving the missing permissions.
    pub(crate) asks_about_action: bool,
    /// The one-time decisions that are consumed.
    pub(crate) uses_rulings: Vec<Arc<SavedDecision>>,
    /// The one-time permissions that are consumed.
    pub(crate) uses_grants: Vec<Arc<CompactGrant>>,
    /// For each permission that is held for any number of uses, the grant that gives it longest.
    lasting: Vec<&'s CompactGrant>,
    /// The saved decision that allows the action.
    pub(crate) said: Option<Arc<SavedDecision>>,
}

/// The mode that applies to an action, and the agent that it belongs to: the acting agent or one of its ancestors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectiveMode<'s> {
    pub(crate) mode: Mode,
    pub(crate) of: &'s Agent,
}

/// Evaluates an action in the mode of the agent and in the modes of its ancestors. The strictest result counts.
pub(crate) fn evaluate<'s>(case: &EvaluationInput<'s>) -> Evaluation<'s> {
    let above = case.state.above(case.agent);
    let heard = applicable_rules::all(case, &above);
    let held = stages::held(case, &heard);
    let own = EffectiveMode { mode: case.agent.profile.mode, of: case.agent };
    let mut strictest = judged_in(own, case, &heard, &held);
    if above.is_empty() {
        return strictest;
    }
    let mut modes = vec![own.mode];
    for of in above {
        let mode = of.profile.mode;
        if modes.contains(&mode) {
            continue;
        }
        modes.push(mode);
        let judged = judged_in(EffectiveMode { mode, of }, case, &heard, &held);
        if strictness(judged.conclusion.ruled) > strictness(strictest.conclusion.ruled) {
            strictest = judged.naming_the_mode();
        }
    }
    strictest
}

/// Returns the order of results by strictness. An unavailable prompt is less strict than a denial.
fn strictness(ruled: Ruled) -> u8 {
    match ruled {
        Ruled::Allow => 0,
        Ruled::Sandboxed => 1,
        Ruled::Ask => 2,
        Ruled::Unavailable => 3,
        Ruled::Deny => 4,
    }
}

fn judged_in<'s>(
    manner: EffectiveMode<'s>,
    case: &EvaluationInput<'s>,
    heard: &ApplicableRules,
    held: &Held<'s>,
) -> Evaluation<'s> {
    let mode = manner.mode;
    let walk = [
        (Stage::Protected, stages::protected(case)),
        (Stage::Denied, stages::denied(case, heard)),
        (Stage::Mode, stages::mode(case, mode)),
        (Stage::Destructive, stages::destructive(case, heard)),
        (Stage::Held, stages::missing(case, mode, held)),
        (Stage::AskRule, stages::ask_rule(case, mode, heard)),
        (Stage::AllowRule, stages::allow_rule(heard)),
        (Stage::Tier, stages::tier(case, mode, heard)),
        (Stage::Default, Some(stages::default(case, mode))),
    ];
    let spoken = |from: Stage| {
        let mut spoken = walk.iter().filter(move |(stage, _)| from <= *stage);
        spoken.find_map(|(stage, finding)| finding.as_ref().map(|finding| (*stage, finding.clone())))
    };
    let nothing_spoke = || (Stage::Default, stages::default(case, mode));
    let (mut stage, mut finding) = spoken(Stage::Protected).unwrap_or_else(nothing_spoke);
    let mut asks_about_action = finding.ruled == Ruled::Ask && stage != Stage::Held;
    if stage == Stage::Held {
        // The person who gives the missing permissions decides about the action in the same prompt.
        let (below, about_action) = spoken(Stage::AskRule).unwrap_or_else(nothing_spoke);
        asks_about_action = about_action.ruled == Ruled::Ask;
        match about_action.ruled.verdict() {
            Effect::Deny => (stage, finding) = (below, about_action),
            Effect::Ask | Effect::Confined | Effect::Allow => {
                finding.is_denial |= about_action.is_denial;
                finding.refs.extend(about_action.refs);
            }
        }
    }
    let is_lacking = walk.iter().any(|(stage, finding)| *stage == Stage::Held && finding.is_some());
    let mut conclusion = escalation::settled(case, mode, finding, is_lacking);
    if conclusion.ruled == Ruled::Allow && !held.missing.is_empty() && !is_lacking && !case.action.in_sandbox {
        // The missing permissions were ignored only because the sandbox denies the use.
        conclusion = stages::tried(conclusion);
    }
    let destroys = walk.iter().find(|(of, _)| *of == Stage::Destructive).and_then(|(_, found)| found.as_ref());
    if let Some(destroys) = destroys.filter(|_| stage < Stage::Destructive) {
        // What an action destroys is told first, whatever else denies it.
        conclusion.reason = format!("{}; {}", destroys.reason, conclusion.reason).into();
    }
    let allowed = conclusion.ruled.verdict() <= Effect::Confined;
    // An action that needs no approval consumes none.
    let word = heard.yes.clone().filter(|_| stage == Stage::AllowRule || heard.enabled || heard.overridden);
    let said = word.as_ref().or(held.given.first()).filter(|_| allowed).cloned();
    let mut uses_rulings: Vec<_> = word.into_iter().filter(|ruling| ruling.scope == Scope::Once).collect();
    let besides: Vec<_> = held.given.iter().filter(|ruling| !uses_rulings.contains(ruling)).cloned().collect();
    uses_rulings.extend(besides);
    let mut uses_grants = held.once.clone();
    if !allowed {
        (uses_rulings, uses_grants) = (Vec::new(), Vec::new());
    }
    let lacking = held.missing.clone();
    let missing = if is_lacking { lacking.clone() } else { Vec::new() };
    let lasting = held.lasting.clone();
    Evaluation {
        manner,
        walk,
        stage,
        conclusion,
        missing,
        lacking,
        asks_about_action,
        uses_rulings,
        uses_grants,
        lasting,
        said,
    }
}

impl Evaluation<'_> {
    /// Adds the name of the ancestor to the reason if its mode decided.
    fn naming_the_mode(mut self) -> Self {
        if self.conclusion.source == DecisionSource::Mode {
            let (reason, of) = (&self.conclusion.reason, &self.manner.of.profile.id);
            self.conclusion.reason = format!("{reason} (the mode of the ancestor {of})").into();
        }
        self
    }

    /// Returns the result as a record.
    pub(crate) fn decision(&self, case: &EvaluationInput<'_>) -> Decision {
        let (facts, said) = (case.action.facts(), self.said.as_deref());
        let carried = self.carried();
        Decision {
            id: None,
            agent: case.agent.profile.id.clone(),
            run: case.agent.run.clone(),
            action: Arc::clone(&facts),
            decision: self.conclusion.ruled,
            decision_source: self.conclusion.source,
            decision_reason: self.reason(case),
            rule_refs: self.conclusion.refs.clone(),
            updated_input_ref: case.action.updated.then(|| *facts.input),
            approval_action_id: said.and_then(|ruling| ruling.request).or_else(|| self.answered()),
            expires_at: carried.until,
            scope: carried.scope,
            missing: self.missing.iter().map(|pinned| pinned.permission.clone()).collect(),
            used: self.uses_rulings.first().map(|ruling| ruling.id),
            about: self.about(case),
        }
    }

    /// Returns the reason of the decision. That an action destroys is the first thing that a person would name,
    /// whatever else is in its way.
    fn reason(&self, case: &EvaluationInput<'_>) -> Arc<str> {
        let (reason, destroys) = (self.conclusion.reason.as_ref(), &case.action.tier_reason);
        let is_destructive = case.action.tier == Some(Tier::Destructive) && self.conclusion.ruled != Ruled::Allow;
        if is_destructive && !reason.contains(&**destroys) {
            return format!("{destroys}; {reason}").into();
        }
        reason.into()
    }

    /// Returns the uses that the decision is about, except a command line, a call itself, and an object that cannot be
    /// used.
    fn about(&self, case: &EvaluationInput<'_>) -> Vec<UseFacts> {
        let is_line =
            |used: &Use| matches!(used.target, Target::Command { .. } | Target::Tool { .. } | Target::Invalid { .. });
        // A reference to a protected path names it already.
        let is_named = self.conclusion.refs.iter().any(|rule| matches!(rule, RuleRef::Protected(_)));
        if is_named || self.conclusion.ruled == Ruled::Allow || self.stage == Stage::Held {
            return Vec::new();
        }
        let uses = self.conclusion.uses.iter().filter_map(|place| case.action.uses.iter().nth(*place));
        uses.filter(|used| !is_line(used)).take(MAX_ABOUT).map(Use::facts).collect()
    }

    /// Returns the request whose answer gave a consumed one-time permission, if there is one.
    fn answered(&self) -> Option<RequestId> {
        self.uses_grants.iter().find_map(|grant| match &grant.origin {
            Origin::Person { request, .. } => *request,
            Origin::Agent { .. } | Origin::Config(_) | Origin::Operator => None,
        })
    }
}
