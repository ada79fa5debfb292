//! What becomes of a question: whether the mode lets it be asked, and whether anybody can answer.

use crate::model::{Decider, DecisionSource as Source, Interaction, Mode, OnNoUser, RuleRef, Ruled};

use super::{
    super::{State, state::Agent},
    Case, Finding, Stage,
};

/// A question stays one, or is answered by the mode, or by there being nobody.
pub(super) fn settled(case: &Case<'_>, mode: Mode, stage: Stage, finding: Finding, lacks_rights: bool) -> Finding {
    if finding.ruled != Ruled::Ask {
        return finding;
    }
    let finding = match by_mode(case, mode, stage, lacks_rights) {
        Some((ruled, reason)) => {
            let reason = format!("{reason}; {}", finding.reason);
            Finding { ruled, source: Source::Mode, reason: reason.into(), ..finding }
        }
        None => finding,
    };
    let violations = if mode == Mode::OnFailure && lacks_rights { violations(case) } else { Vec::new() };
    let finding = if finding.ruled == Ruled::Ask && !violations.is_empty() {
        let reason = format!("the sandbox kept it from what it lacks; {}", finding.reason);
        let refs = violations.into_iter().chain(finding.refs).collect();
        Finding { source: Source::SandboxOverride, reason: reason.into(), refs, ..finding }
    } else {
        finding
    };
    if finding.ruled == Ruled::Ask && !case.state.somebody_can_answer(case.agent) {
        let reason = format!("nobody is there to ask; {}", finding.reason);
        return Finding { ruled: Ruled::Unavailable, reason: reason.into(), ..finding };
    }
    finding
}

fn by_mode(case: &Case<'_>, mode: Mode, stage: Stage, lacks_rights: bool) -> Option<(Ruled, &'static str)> {
    match mode {
        Mode::Never => Some((Ruled::Deny, "in mode never, nothing is asked")),
        // Leaving out a question is one thing; what is not held does not come out of nothing, and a no stays one.
        // Nor does what a hook would have said, had it not failed.
        Mode::Bypass if !lacks_rights && stage != Stage::Denied && !case.opinions.iter().any(|one| one.failed) => {
            Some((Ruled::Allow, "in mode bypass, questions are left out"))
        }
        Mode::OnFailure if lacks_rights && violations(case).is_empty() => {
            Some((Ruled::Deny, "in mode on_failure, only what the sandbox has kept it from can be asked for"))
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

/// The violations that show that the sandbox has kept the agent from the paths of this action, in this run.
fn violations(case: &Case<'_>) -> Vec<RuleRef> {
    let paths: Vec<_> = case.action.permissions().filter_map(|permission| permission.path()).collect();
    let about_it = case.agent.kept_from.iter().filter(|violated| paths.contains(&&violated.path));
    about_it.map(|violated| RuleRef::Violation(violated.id)).collect()
}

/// Whether the sandbox has kept the agent from one of the paths that it lacks, in this run.
pub(super) fn has_failed(case: &Case<'_>) -> bool {
    !violations(case).is_empty()
}

impl State {
    /// The mode in which nobody is asked for `agent`: its own, or that of an agent above it. None if it may ask.
    pub(in super::super) fn silenced(&self, agent: &Agent) -> Option<Decider> {
        let never = |bound: &&Agent| bound.profile.mode == Mode::Never;
        let silencing = std::iter::once(agent).chain(self.above(agent)).find(never)?;
        Some(Decider::Mode { mode: silencing.profile.mode, of: silencing.profile.id.clone() })
    }

    /// Whether a question of `agent` would wait for anybody.
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
