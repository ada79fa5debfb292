//! The check of an action that replaces another one in an approval.

use crate::model::{ActionFacts, Effect, Permission, Ruled};

use super::{EvaluationInput, evaluate};

/// Returns true if the action in `case` may replace `asked`. It must be of equal kind, no more harmful and not denied,
/// and it must lack no permission besides those in `lacked`.
pub(crate) fn is_no_worse(asked: &ActionFacts, lacked: &[&Permission], case: &EvaluationInput<'_>) -> bool {
    let facts = case.action.facts();
    let climbs = facts.tier > asked.tier || facts.operation != asked.operation || facts.tool != asked.tool;
    let judgement = evaluate(case);
    let ruled = judgement.conclusion.ruled;
    let denied = ruled.verdict() == Effect::Deny && ruled != Ruled::Unavailable || judgement.conclusion.is_denial;
    let lacks_more = judgement.missing.iter().any(|pinned| !lacked.contains(&&pinned.permission));
    !climbs && !denied && !lacks_more
}
