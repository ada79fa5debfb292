//! The one function that decides an action. Every surface asks it: the library, the command line, files, sandbox, wires.
//!
//! Nine stages in the order of their strength; what one of them says, nothing below can undo. All of them are asked,
//! so that an explanation is the decision itself and not a second opinion.

mod ask;
mod carried;
mod explain;
mod hear;
mod noes;
mod stages;
mod worse;

use std::{borrow::Cow, sync::Arc};

use crate::model::{
    Decision, DecisionSource, Effect, Grant, Mode, Origin, RequestId, Right, RuleRef, Ruled, Ruling, Scope, Timestamp,
};

use super::{State, command::Broken, considered::Considered, state::Agent};

pub use explain::{Explanation, Step, UseStep};
pub(crate) use hear::Opinion;
use hear::{Heard, Voice};
use stages::Held;
pub(crate) use worse::is_no_worse;

/// Everything a decision rests on.
#[derive(Debug)]
pub(crate) struct Case<'s> {
    pub(crate) state: &'s State,
    pub(crate) agent: &'s Agent,
    pub(crate) action: &'s Considered,
    pub(crate) broken: &'s Broken,
    /// What hooks of the host program said.
    pub(crate) opinions: &'s [Opinion],
    pub(crate) now: Timestamp,
}

/// The stages, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "the order of strength is what a decision is")]
pub enum Stage {
    /// The input is valid, and nothing protected is reached.
    Protected,
    /// A rule, a policy, a person's no for the session, or what binds the agent's parent.
    Denied,
    /// The mode of the agent.
    Mode,
    /// Something that nobody can undo.
    Destructive,
    /// The agent holds what the action uses.
    Held,
    /// A rule, a policy or a hook that wants a person to say.
    AskRule,
    /// A person's yes, a rule or a policy.
    AllowRule,
    /// Safe or dangerous.
    Tier,
    /// Nothing spoke: the setting.
    Default,
}

impl Stage {
    /// All, strongest first.
    pub const ALL: [Stage; 9] = [
        Stage::Protected,
        Stage::Denied,
        Stage::Mode,
        Stage::Destructive,
        Stage::Held,
        Stage::AskRule,
        Stage::AllowRule,
        Stage::Tier,
        Stage::Default,
    ];

    /// The name in explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Protected => "protected",
            Stage::Denied => "denied",
            Stage::Mode => "mode",
            Stage::Destructive => "destructive",
            Stage::Held => "held",
            Stage::AskRule => "ask_rule",
            Stage::AllowRule => "allow_rule",
            Stage::Tier => "tier",
            Stage::Default => "default",
        }
    }
}

/// What one stage says.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) ruled: Ruled,
    pub(crate) source: DecisionSource,
    pub(crate) reason: Cow<'static, str>,
    pub(crate) refs: Vec<RuleRef>,
    /// The places of the uses that it is about, if it is not about the action as a whole.
    pub(crate) uses: Vec<usize>,
}

impl Finding {
    fn new(ruled: Ruled, source: DecisionSource, reason: impl Into<Cow<'static, str>>) -> Finding {
        Finding { ruled, source, reason: reason.into(), refs: Vec::new(), uses: Vec::new() }
    }

    fn about(self, uses: Vec<usize>) -> Finding {
        Finding { uses, ..self }
    }

    /// Each of those who spoke once, and each use that they spoke about once.
    fn said_by<'v>(mut self, voices: impl IntoIterator<Item = &'v Voice>) -> Finding {
        for Voice { rule, about } in voices {
            if !self.refs.contains(rule) {
                self.refs.push(rule.clone());
            }
            if !self.uses.contains(about) {
                self.uses.push(*about);
            }
        }
        self
    }

    fn because_of(self, refs: Vec<RuleRef>) -> Finding {
        Finding { refs, ..self }
    }
}

/// What it comes to, with what a yes uses up.
#[derive(Debug)]
pub(crate) struct Judgement<'s> {
    /// The mode in which it came to that.
    pub(crate) manner: Manner<'s>,
    /// What each stage said.
    pub(crate) walk: [(Stage, Option<Finding>); 9],
    /// The stage that decided.
    pub(crate) stage: Stage,
    pub(crate) conclusion: Finding,
    /// What the agent does not hold.
    pub(crate) missing: Vec<Right>,
    /// The same, with what it does not need to hold since a sandbox keeps it from that.
    pub(crate) lacking: Vec<Right>,
    /// Whether a person has to say something about the action itself, besides giving what is missing.
    pub(crate) asks_about_action: bool,
    /// People's words for one use.
    pub(crate) uses_rulings: Vec<Arc<Ruling>>,
    /// Rights for one use.
    pub(crate) uses_grants: Vec<Arc<Grant>>,
    /// A person's word that counts.
    pub(crate) said: Option<Arc<Ruling>>,
}

/// The mode that an action is judged in, and whose it is: the agent's own, or that of one above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner<'s> {
    pub(crate) mode: Mode,
    pub(crate) of: &'s Agent,
}

/// Decides: in the mode of the agent and in the modes of those above it, of which the strictest counts.
pub(crate) fn judge<'s>(case: &Case<'s>) -> Judgement<'s> {
    let above = case.state.above(case.agent);
    let heard = hear::all(case, &above);
    let held = stages::held(case, &heard);
    let own = Manner { mode: case.agent.profile.mode, of: case.agent };
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
        let judged = judged_in(Manner { mode, of }, case, &heard, &held);
        if strictness(judged.conclusion.ruled) > strictness(strictest.conclusion.ruled) {
            strictest = judged.naming_the_mode();
        }
    }
    strictest
}

/// What is more of a no. A question that nobody hears is less of one than a no.
fn strictness(ruled: Ruled) -> u8 {
    match ruled {
        Ruled::Allow => 0,
        Ruled::Sandboxed => 1,
        Ruled::Ask => 2,
        Ruled::Unavailable => 3,
        Ruled::Deny => 4,
    }
}

fn judged_in<'s>(manner: Manner<'s>, case: &Case<'s>, heard: &Heard, held: &Held) -> Judgement<'s> {
    let mode = manner.mode;
    let walk = [
        (Stage::Protected, stages::protected(case)),
        (Stage::Denied, stages::denied(case, heard)),
        (Stage::Mode, stages::mode(case, mode)),
        (Stage::Destructive, stages::destructive(case, heard)),
        (Stage::Held, stages::missing(case, mode, held)),
        (Stage::AskRule, stages::ask_rule(case, heard)),
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
        // Whoever gives what is missing is asked about the action in the same breath.
        let (below, about_action) = spoken(Stage::AskRule).unwrap_or_else(nothing_spoke);
        asks_about_action = about_action.ruled == Ruled::Ask;
        match about_action.ruled.verdict() {
            Effect::Deny => (stage, finding) = (below, about_action),
            Effect::Ask | Effect::Confined | Effect::Allow => finding.refs.extend(about_action.refs),
        }
    }
    let is_lacking = walk.iter().any(|(stage, finding)| *stage == Stage::Held && finding.is_some());
    let mut conclusion = ask::settled(case, mode, stage, finding, is_lacking);
    if conclusion.ruled == Ruled::Allow && !held.missing.is_empty() && !is_lacking && !case.action.in_sandbox {
        // What it lacks was passed over only because the sandbox keeps it from that.
        conclusion = stages::tried(conclusion);
    }
    let allowed = conclusion.ruled.verdict() <= Effect::Confined;
    // Something that needs nobody's word uses up nobody's word.
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
    Judgement { manner, walk, stage, conclusion, missing, lacking, asks_about_action, uses_rulings, uses_grants, said }
}

impl Judgement<'_> {
    /// The same, and where the mode says so, whose it is.
    fn naming_the_mode(mut self) -> Self {
        if self.conclusion.source == DecisionSource::Mode {
            let (reason, of) = (&self.conclusion.reason, &self.manner.of.profile.id);
            self.conclusion.reason = format!("{reason} (the mode of {of}, which stands above)").into();
        }
        self
    }

    /// The same as a record.
    pub(crate) fn decision(&self, case: &Case<'_>) -> Decision {
        let (facts, said) = (case.action.facts(), self.said.as_deref());
        let carried = self.carried(case);
        Decision {
            id: None,
            agent: case.agent.profile.id.clone(),
            run: case.agent.run.clone(),
            action: Arc::clone(&facts),
            decision: self.conclusion.ruled,
            decision_source: self.conclusion.source,
            decision_reason: self.conclusion.reason.as_ref().into(),
            rule_refs: self.conclusion.refs.clone(),
            updated_input_ref: case.action.updated.then(|| facts.input),
            approval_action_id: said.and_then(|ruling| ruling.request).or_else(|| self.answered()),
            expires_at: carried.until,
            scope: carried.scope,
            missing: self.missing.iter().map(|right| right.permission.clone()).collect(),
            used: self.uses_rulings.first().map(|ruling| ruling.id),
        }
    }

    /// The request whose answer gave what is used up, if one did.
    fn answered(&self) -> Option<RequestId> {
        self.uses_grants.iter().find_map(|grant| match &grant.origin {
            Origin::Person { request, .. } => *request,
            Origin::Agent { .. } | Origin::Config(_) | Origin::Operator => None,
        })
    }
}
