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
    Ok(Explained {
        decision: decision.decision,
        decided_by: explained.decided_by,
        decision_source: decision.decision_source,
        tier: decision.action.tier,
        missing: decision.missing.clone(),
        ways_out: explained.ways_out.clone(),
        text: explained.to_string(),
    })
}
