//! The stages of a decision, and the result of one stage.

use std::borrow::Cow;

use crate::model::{DecisionSource, RuleRef, Ruled};

/// The stages of a decision, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "the order of strength is what a decision is")]
pub enum Stage {
    /// The input is valid, and no protected path is used.
    Protected,
    /// A denial by a rule, a policy, a hook or a person, for the agent or for one of its ancestors.
    Denied,
    /// The mode of the agent.
    Mode,
    /// A destructive action.
    Destructive,
    /// The agent holds the permissions that the action uses.
    Held,
    /// A rule, a policy or a hook that requires an approval.
    AskRule,
    /// An approval, an allow rule or a policy.
    AllowRule,
    /// The classification as safe or dangerous.
    Tier,
    /// The default setting, if no other stage decided.
    Default,
}

impl Stage {
    /// All stages, strongest first.
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

    /// Returns the name in explanations.
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

/// The result of one stage.
#[derive(Clone, Debug)]
pub(crate) struct StageResult {
    pub(crate) ruled: Ruled,
    pub(crate) source: DecisionSource,
    pub(crate) reason: Cow<'static, str>,
    pub(crate) refs: Vec<RuleRef>,
    /// The indexes of the uses that the result is about. The list is empty if it is about the whole action.
    pub(crate) uses: Vec<usize>,
    /// True if the prompt takes the place of a denial. No mode skips it then.
    pub(crate) is_denial: bool,
}

impl StageResult {
    pub(super) fn new(ruled: Ruled, source: DecisionSource, reason: impl Into<Cow<'static, str>>) -> StageResult {
        StageResult { ruled, source, reason: reason.into(), refs: Vec::new(), uses: Vec::new(), is_denial: false }
    }

    /// Marks a prompt that takes the place of a denial.
    pub(super) fn in_place_of_denial(self) -> StageResult {
        StageResult { is_denial: true, ..self }
    }

    pub(super) fn about(self, uses: Vec<usize>) -> StageResult {
        StageResult { uses, ..self }
    }

    /// Adds each rule and each use of `voices` once.
    pub(super) fn said_by<'v>(mut self, voices: impl IntoIterator<Item = &'v Voice>) -> StageResult {
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

    pub(super) fn because_of(self, refs: Vec<RuleRef>) -> StageResult {
        StageResult { refs, ..self }
    }
}

/// An applicable rule and the index of the use that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Voice {
    pub(super) rule: RuleRef,
    pub(super) about: usize,
}
