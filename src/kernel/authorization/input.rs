//! The input of a decision.

use crate::model::Timestamp;

use super::{
    super::{State, agent::Agent, command::StaleGrants, resolved_action::ResolvedAction},
    HookVerdict,
};

/// The input of a decision.
#[derive(Debug)]
pub(crate) struct EvaluationInput<'s> {
    pub(crate) state: &'s State,
    pub(crate) agent: &'s Agent,
    pub(crate) action: &'s ResolvedAction,
    pub(crate) broken: &'s StaleGrants,
    /// The results of the host program's hooks.
    pub(crate) opinions: &'s [HookVerdict],
    pub(crate) now: Timestamp,
}
