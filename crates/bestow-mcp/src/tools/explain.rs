//! `explain`: the reasons of the decision that an action would get now.

use bestow::{
    Permission,
    command::Tier,
    decision::{DecisionSource, Explanation, Ruled, Stage},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Acting;
pub(crate) use super::action::DescribeAction as Explain;
use crate::failure::Failure;

/// An explained decision. Nothing was decided, asked or consumed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// The decision that the action would get now: `allow`, `deny`, `ask`, `sandboxed` or `unavailable`.
    #[schemars(with = "String")]
    decision: Ruled,
    /// The deciding stage.
    #[schemars(with = "String")]
    decided_by: Stage,
    /// The source of the decision.
    #[schemars(with = "String")]
    decision_source: DecisionSource,
    /// The reason: why, about which path or host, and each rule with its place and its words.
    decision_reason: String,
    /// The rules, policies and other sources, strongest first, each as one line.
    rule_refs: Vec<String>,
    /// The digest of the input that would run, if it is not the requested input.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input_ref: Option<String>,
    /// The request that asked a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_action_id: Option<String>,
    /// The time at which the decision would expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// The scope that the person chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// `safe`, `dangerous` or `destructive`.
    #[schemars(with = "String")]
    tier: Tier,
    /// The permissions that the action needs and you do not hold.
    #[schemars(with = "Vec<String>")]
    missing: Vec<Permission>,
    /// The changes that would together allow the action. It is empty if the action is allowed.
    ways_out: Vec<String>,
    /// The explanation as a text.
    text: String,
}

/// Explains the decision about an action of the agent.
pub(crate) async fn explain(acting: Acting, asked: Explain) -> Result<Explained, Failure> {
    let explained: Explanation = acting.agent.explain(&asked.action()?)?;
    let decision = &explained.decision;
    let fields = decision.fields();
    Ok(Explained {
        decision: fields.decision,
        decided_by: explained.decided_by,
        decision_source: fields.decision_source,
        decision_reason: fields.decision_reason,
        rule_refs: fields.rule_refs,
        updated_input_ref: fields.updated_input_ref.map(|digest| digest.to_string()),
        approval_action_id: fields.approval_action_id.map(|id| id.to_string()),
        expires_at: fields.expires_at.map(|time| time.to_string()),
        scope: fields.scope.map(|scope| scope.to_string()),
        tier: decision.action.tier,
        missing: decision.missing.clone(),
        ways_out: explained.ways_out.clone(),
        text: explained.to_string(),
    })
}
