//! The decision about an action, with its facts (`sources/002`, "Permission decision").

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    ActionFacts, AgentId, DecisionId, Digest, Effect, Escaped, Permission, RequestId, RuleRef, RunId, SavedDecisionId,
    Scope, Timestamp, UseFacts,
};

/// The source of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "the eight of `sources/002`")]
pub enum DecisionSource {
    /// A rule of a file, or a tool policy.
    Rule,
    /// The mode of the agent.
    Mode,
    /// A hook of the host program.
    Hook,
    /// The tier of the action.
    Classifier,
    /// A person.
    Human,
    /// The engine itself: protected paths, held permissions, and the default verdict if no rule applies.
    HostPolicy,
    /// A sandbox violation: the sandbox blocked an access of the action.
    SandboxOverride,
    /// The declaration of the tool, which names the permissions that the tool needs.
    ToolContract,
}

impl DecisionSource {
    /// Returns the name on the wire.
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

/// The five outcomes of a permission decision (`sources/002`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "the five of `sources/002`")]
pub enum Ruled {
    /// The action may happen.
    Allow,
    /// The action may not happen.
    Deny,
    /// A person must approve the action.
    Ask,
    /// The action may happen inside a sandbox, and nowhere else. This is not an approval: see [`Effect::Confined`].
    Sandboxed,
    /// A person would have to approve the action, and no person can answer.
    Unavailable,
}

impl Ruled {
    /// Returns the effect of the outcome, as one of four values.
    pub fn verdict(self) -> Effect {
        match self {
            Ruled::Allow => Effect::Allow,
            Ruled::Sandboxed => Effect::Confined,
            Ruled::Ask => Effect::Ask,
            Ruled::Deny | Ruled::Unavailable => Effect::Deny,
        }
    }

    /// Returns the name on the wire.
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

/// The decision about one action of one agent, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// The id of the decision. It is none for a dry run, which decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DecisionId>,
    /// The agent that wants to do the action.
    pub agent: AgentId,
    /// The run of the agent.
    pub run: RunId,
    /// The action.
    pub action: Arc<ActionFacts>,
    /// The outcome.
    pub decision: Ruled,
    /// The source of the decision.
    pub decision_source: DecisionSource,
    /// The reason, for a person. It contains no secrets.
    pub decision_reason: Arc<str>,
    /// The rules, policies and other sources that apply to the action, strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_refs: Vec<RuleRef>,
    /// The digest of the input that runs, if it is not the requested input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input_ref: Option<Digest>,
    /// The request that asks a person, or asked one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_action_id: Option<RequestId>,
    /// The time at which the decision expires. It is none for a decision that does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The scope that the person chose, if a person decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The permissions that the action needs and the agent does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Permission>,
    /// The saved decision of a person that this action consumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<SavedDecisionId>,
    /// The uses of the action that the decision is about, at most eight. None if it is about the whole action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<UseFacts>,
}

impl Decision {
    /// Returns the effect: allow, confined, ask or deny.
    pub fn verdict(&self) -> Effect {
        self.decision.verdict()
    }

    /// Returns the reason for the person or agent that it concerns: why, about which path or host, and each rule with
    /// its place in the file and its words. Every door gives this text.
    pub fn full_reason(&self) -> String {
        let about = self.about.iter().map(|used| format!("{} of `{}`", used.operation, Escaped(&used.resource)));
        let about = about.collect::<Vec<_>>().join(", ");
        let reason = Escaped(&self.decision_reason).to_string();
        let reason = if about.is_empty() { reason } else { format!("{reason}: {about}") };
        self.rule_refs.iter().fold(reason, |reason, rule| format!("{reason}; {rule}"))
    }
}

/// The eight fields of a permission decision (`sources/002`), as programs get them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecisionFields {
    /// The outcome.
    pub decision: Ruled,
    /// The source of the decision.
    pub decision_source: DecisionSource,
    /// The reason ([`Decision::full_reason`]).
    pub decision_reason: String,
    /// The rules, policies and other sources, strongest first, each as one line.
    #[serde(default)]
    pub rule_refs: Vec<String>,
    /// The digest of the input that runs, if it is not the requested input.
    #[serde(default)]
    pub updated_input_ref: Option<Digest>,
    /// The request that asks a person, or asked one.
    #[serde(default)]
    pub approval_action_id: Option<RequestId>,
    /// The time at which the decision expires.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The scope that the person chose.
    #[serde(default)]
    pub scope: Option<Scope>,
}

impl Decision {
    /// Returns the eight fields of `sources/002`.
    pub fn fields(&self) -> DecisionFields {
        DecisionFields {
            decision: self.decision,
            decision_source: self.decision_source,
            decision_reason: self.full_reason(),
            rule_refs: self.rule_refs.iter().map(ToString::to_string).collect(),
            updated_input_ref: self.updated_input_ref,
            approval_action_id: self.approval_action_id,
            expires_at: self.expires_at,
            scope: self.scope,
        }
    }
}

/// Formats the decision on one line, as in "deny run `rm -rf /`: destructive (classifier)".
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decided = match self.decision {
            Ruled::Sandboxed => Effect::Confined.as_str(),
            Ruled::Allow | Ruled::Deny | Ruled::Ask | Ruled::Unavailable => self.decision.as_str(),
        };
        write!(f, "{decided} {}: {} ({})", self.action.phrase(), Escaped(&self.decision_reason), self.decision_source)?;
        self.rule_refs.iter().try_for_each(|rule| write!(f, "; {rule}"))
    }
}
