//! Whether one action may take the place of another that was asked about.

use crate::model::{ActionFacts, Effect, Permission, Ruled};

use super::{Case, judge};

/// Whether what `case` is about is the same kind of action as `asked`, no more harmful, lacks nothing besides what `asked`
/// `lacked`, and is nothing that is denied.
pub(crate) fn is_no_worse(asked: &ActionFacts, lacked: &[&Permission], case: &Case<'_>) -> bool {
    let facts = case.action.facts();
    let climbs = facts.tier > asked.tier || facts.operation != asked.operation || facts.tool != asked.tool;
    let judgement = judge(case);
    let ruled = judgement.conclusion.ruled;
    let denied = ruled.verdict() == Effect::Deny && ruled != Ruled::Unavailable;
    let lacks_more = judgement.missing.iter().any(|right| !lacked.contains(&&right.permission));
    !climbs && !denied && !lacks_more
}
