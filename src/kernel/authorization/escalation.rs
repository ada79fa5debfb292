//! The handling of prompts: some modes forbid or skip a prompt, and a prompt needs a person who can answer.

use crate::model::{
    BlockedAccess, Decider, DecisionSource as AgentOrigin, Interaction, Mode, OnNoUser, Permission, RuleRef, Ruled,
};

use super::{
    super::{State, agent::Agent},
    EvaluationInput, StageResult,
};

/// Returns the final result of a prompt. The mode may answer it, and without an approver it is unavailable.
pub(super) fn settled(
    case: &EvaluationInput<'_>,
    mode: Mode,
    finding: StageResult,
    lacks_permissions: bool,
) -> StageResult {
    if finding.ruled != Ruled::Ask {
        return finding;
    }
    let finding = match by_mode(case, mode, &finding, lacks_permissions) {
        Some((ruled, reason)) => {
            let reason = format!("{reason}; {}", finding.reason);
            StageResult { ruled, source: AgentOrigin::Mode, reason: reason.into(), ..finding }
        }
        None => finding,
    };
    let violations = if mode == Mode::OnFailure && lacks_permissions { violations(case) } else { Vec::new() };
    let finding = if finding.ruled == Ruled::Ask && !violations.is_empty() {
        let reason = format!("the sandbox blocked an access without permission; {}", finding.reason);
        let refs = violations.into_iter().chain(finding.refs).collect();
        StageResult { source: AgentOrigin::SandboxOverride, reason: reason.into(), refs, ..finding }
    } else {
        finding
    };
    if finding.ruled == Ruled::Ask && !case.state.somebody_can_answer(case.agent) {
        let reason = format!("no person can answer; {}", finding.reason);
        return StageResult { ruled: Ruled::Unavailable, reason: reason.into(), ..finding };
    }
    finding
}

fn by_mode(
    case: &EvaluationInput<'_>,
    mode: Mode,
    finding: &StageResult,
    lacks_permissions: bool,
) -> Option<(Ruled, &'static str)> {
    match mode {
        Mode::Never => Some((Ruled::Deny, "mode never forbids questions")),
        // Bypass skips a prompt. It does not create missing permissions, and it does not override a denial or the
        // prompt of a failed hook.
        Mode::Bypass if !lacks_permissions && !finding.is_denial && !case.opinions.iter().any(|one| one.failed) => {
            Some((Ruled::Allow, "mode bypass skips questions"))
        }
        Mode::OnFailure if lacks_permissions && violations(case).is_empty() => {
            Some((Ruled::Deny, "mode on_failure allows requests only for accesses that the sandbox blocked"))
        }
        Mode::Default
        | Mode::Untrusted
        | Mode::OnRequest
        | Mode::OnFailure
        | Mode::Plan
        | Mode::Bypass
        | Mode::Auto => None,
    }
}

/// Returns the violations that the sandbox recorded in this run for the paths and hosts of this action.
fn violations(case: &EvaluationInput<'_>) -> Vec<RuleRef> {
    let needs = |access: &BlockedAccess| match access {
        BlockedAccess::Path(path) => case.action.permissions().any(|permission| permission.path() == Some(path)),
        BlockedAccess::Host(_) => case.action.permissions().any(|permission| *permission == Permission::Network),
    };
    let about_it = case.agent.kept_from.iter().filter(|violated| needs(&violated.access));
    about_it.map(|violated| RuleRef::Violation(violated.id)).collect()
}

/// Returns true if the sandbox denied the agent one of the paths of this action in this run.
pub(super) fn has_failed(case: &EvaluationInput<'_>) -> bool {
    !violations(case).is_empty()
}

impl State {
    /// Returns the mode that forbids prompts for `agent`: its own or that of an ancestor. Returns `None` if it may ask.
    pub(in super::super) fn silenced(&self, agent: &Agent) -> Option<Decider> {
        let never = |bound: &&Agent| bound.profile.mode == Mode::Never;
        let silencing = std::iter::once(agent).chain(self.above(agent)).find(never)?;
        Some(Decider::Mode { mode: silencing.profile.mode, of: silencing.profile.id.clone() })
    }

    /// Returns true if a request of `agent` would reach a person or wait for one.
    pub(in super::super) fn somebody_can_answer(&self, agent: &Agent) -> bool {
        let owner = &agent.profile.owner;
        let there =
            self.connected.get(owner).is_some_and(|there| !there.is_empty()) || self.approvers.contains_key(owner);
        match self.settings.interaction {
            Interaction::NonInteractive => false,
            Interaction::Interactive => there || self.settings.on_no_user == OnNoUser::Queue,
        }
    }
}
