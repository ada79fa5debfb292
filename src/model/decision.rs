//! What was decided about an action, with the facts (`sources/002`, "Permission decision").

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    ActionFacts, AgentId, DecisionId, Digest, Effect, Permission, RequestId, RuleRef, RulingId, RunId, Scope, Shown,
    Timestamp,
};

/// Who or what a decision comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "the eight of `sources/002`")]
pub enum DecisionSource {
    /// A rule of a file, or a policy of a guard.
    Rule,
    /// The mode of the agent.
    Mode,
    /// A hook of the host program.
    Hook,
    /// The tier of the action.
    Classifier,
    /// A person.
    Human,
    /// What the engine holds for everybody: what is protected, what is held, what happens when nothing speaks.
    HostPolicy,
    /// The sandbox kept the action from something.
    SandboxOverride,
    /// The tool itself says what it needs.
    ToolContract,
}

impl DecisionSource {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            DecisionSource::Rule => "rule",
            DecisionSource::Mode => "mode",
            DecisionSource::Hook => "hook",
            DecisionSource::Classifier => "classifier",
            DecisionSource::Human => "human",
            DecisionSource::HostPolicy => "host_policy",
            DecisionSource::SandboxOverride => "sandbox_override",
            DecisionSource::ToolContract => "tool_contract",
        }
    }
}

impl fmt::Display for DecisionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The five words of `sources/002` for what was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "the five of `sources/002`")]
pub enum Ruled {
    /// It may happen.
    Allow,
    /// It may not.
    Deny,
    /// A person has to say.
    Ask,
    /// It may happen inside a sandbox, and nowhere else. That is no yes: [`Effect::Confined`].
    Sandboxed,
    /// A person would have to say, and nobody can.
    Unavailable,
}

impl Ruled {
    /// The effect of it, as one of four answers.
    pub fn verdict(self) -> Effect {
        match self {
            Ruled::Allow => Effect::Allow,
            Ruled::Sandboxed => Effect::Confined,
            Ruled::Ask => Effect::Ask,
            Ruled::Deny | Ruled::Unavailable => Effect::Deny,
        }
    }

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Ruled::Allow => "allow",
            Ruled::Deny => "deny",
            Ruled::Ask => "ask",
            Ruled::Sandboxed => "sandboxed",
            Ruled::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for Ruled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was decided about one action of one agent, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// Its name. None where nothing was decided, only asked what would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DecisionId>,
    /// Whose action.
    pub agent: AgentId,
    /// In which run.
    pub run: RunId,
    /// What was about to happen.
    pub action: Arc<ActionFacts>,
    /// What was decided.
    pub decision: Ruled,
    /// Who or what decided.
    pub decision_source: DecisionSource,
    /// Why, for a person; no secrets.
    pub decision_reason: Arc<str>,
    /// What spoke about it, strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_refs: Vec<RuleRef>,
    /// The input that runs, if it is not the one that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input_ref: Option<Digest>,
    /// The request that a person answers or answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_action_id: Option<RequestId>,
    /// Until when it counts, if not for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// For how long the person said, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What the agent does not hold and would need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Permission>,
    /// A person's word that is used up by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<RulingId>,
}

impl Decision {
    /// Yes, confined, a question, or no.
    pub fn verdict(&self) -> Effect {
        self.decision.verdict()
    }
}

/// As in "deny run `rm -rf /`: destructive (classifier)".
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decided = match self.decision {
            Ruled::Sandboxed => Effect::Confined.as_str(),
            Ruled::Allow | Ruled::Deny | Ruled::Ask | Ruled::Unavailable => self.decision.as_str(),
        };
        write!(f, "{decided} {}: {} ({})", self.action.phrase(), Shown(&self.decision_reason), self.decision_source)?;
        self.rule_refs.iter().try_for_each(|rule| write!(f, "; {rule}"))
    }
}
