//! Denials by people. A denied action is denied to every tool that would do it.

use std::sync::Arc;

use crate::model::{
    Access, Operation, OwnerId, RunId, Said, SanitizedPath, SavedDecision, SpokenPart, Subject, Timestamp, UseOrigin,
    Verdict,
};

use super::{
    super::{
        State,
        action_uses::{Use, operation_of},
        agent::Agent,
        resolved_action::ResolvedAction,
        target::Target,
    },
    applicable_rules::is_about,
};

/// Returns the index of the first use of `action` that the denial covers.
fn refused_use(no: &SavedDecision, action: &ResolvedAction) -> Option<usize> {
    if is_about(no, action) || is_like(no, action) {
        return Some(0);
    }
    action.uses.iter().position(|used| does(no, action, used) || is_refused(no, action, used))
}

/// Returns true if the command has the denied shape, whichever tool runs it.
fn is_like(no: &SavedDecision, action: &ResolvedAction) -> bool {
    let Subject::Shape(shape) = &no.about else { return false };
    no.operation == action.operation() && action.remembered_shape().is_some_and(|other| shape.covers(&other))
}

/// Returns true if `used` is a command that does the denied action, or may do it.
fn does(no: &SavedDecision, action: &ResolvedAction, used: &Use) -> bool {
    let Some(doing) = no.refused_doing() else { return false };
    let is_told = || used.origin == UseOrigin::Own && action.told.as_ref().is_some_and(|told| told.may_do(doing));
    let mentions = || matches!(&used.target, Target::Tool { mentions, .. } if mentions.may_do(doing));
    used.target.doing().is_some_and(|other| doing.is_in(&other)) || is_told() || mentions()
}

/// Returns true if `used` is a use of the denied object, or may be one.
fn is_refused(no: &SavedDecision, action: &ResolvedAction, used: &Use) -> bool {
    if no.refuses(used.operation, used.target.resource()) {
        return true;
    }
    let is_of_object = matches!(no.about, Subject::Input(_) | Subject::Access(_));
    if let Target::Tool { mentions, .. } = &used.target {
        // The hosts of an unknown tool are determined from the words of its input.
        return is_of_object && no.operation == Operation::Network && mentions_host(mentions.words(), &no.resource);
    }
    if !is_of_object || no.operation != used.operation {
        return false;
    }
    match &used.target {
        Target::Tree(root) => !is_sorted_out(action, used) && no.path().is_some_and(|refused| root.contains(&refused)),
        Target::Network | Target::Host(_) if used.origin == UseOrigin::Needed => names(action, &no.resource),
        Target::Path(_)
        | Target::Command { .. }
        | Target::Tool { .. }
        | Target::Host(_)
        | Target::Network
        | Target::Events
        | Target::Capability(_)
        | Target::Unresolved { .. }
        | Target::Invalid { .. } => false,
    }
}

/// Returns true for a directory with known uses. Either the sandbox denies everything else, or a command line names the
/// directory. In the second case each denied path in it is a separate use.
fn is_sorted_out(action: &ResolvedAction, used: &Use) -> bool {
    let is_named = used.origin == UseOrigin::Named || used.origin.is_word();
    action.in_sandbox || is_named && action.operation() == Operation::Command
}

/// Returns true if a word of a command line names `host`, alone or in a URL. The program of the line needs the network.
fn names(action: &ResolvedAction, host: &str) -> bool {
    let Target::Command { parts, .. } = action.target() else { return false };
    let Some(parts) = parts else { return true };
    let commands = parts.iter().flat_map(|part: &SpokenPart| part.runs.iter().chain(&part.starts));
    commands.flat_map(|command| command.words.iter()).filter_map(Said::known).any(|word| mentions_host(word, host))
}

fn mentions_host(word: &str, host: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || "-_".contains(c);
    word.match_indices(host).any(|(at, host)| {
        let (before, after) = (word.get(..at).unwrap_or_default(), word.get(at + host.len()..).unwrap_or_default());
        // A trailing dot makes the name absolute. Further characters after the dot make it a different name.
        let after = after.strip_prefix('.').unwrap_or(after);
        !host.is_empty() && !before.ends_with(|c| is_part(c) || c == '.') && !after.starts_with(is_part)
    })
}

impl State {
    /// Returns the denials of `action` in the run of `agent`, whichever agent of the run was denied. Each comes with
    /// the index of the use that it covers.
    pub(super) fn noes<'s>(
        &'s self,
        agent: &'s Agent,
        action: &'s ResolvedAction,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'s Arc<SavedDecision>, usize)> {
        self.said_no(agent, now).filter_map(|ruling| Some((ruling, refused_use(ruling, action)?)))
    }

    /// Returns the denials of `action` in `run`.
    pub(super) fn noes_in<'s>(
        &'s self,
        owner: &OwnerId,
        run: &RunId,
        action: &'s ResolvedAction,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'s Arc<SavedDecision>, usize)> + use<'s> {
        self.said_no_in(owner, run, now).filter_map(|ruling| Some((ruling, refused_use(ruling, action)?)))
    }

    /// Returns all denials that bind `agent`: those in its run and the permanent ones.
    fn said_no<'s>(&'s self, agent: &'s Agent, now: Timestamp) -> impl Iterator<Item = &'s Arc<SavedDecision>> {
        let lasting = agent.rulings.iter().filter(|ruling| ruling.verdict == Verdict::Deny && ruling.run.is_none());
        let lasting = lasting.filter(move |ruling| ruling.is_live(now));
        self.said_no_in(&agent.profile.owner, &agent.run, now).chain(lasting)
    }

    fn said_no_in<'s>(
        &'s self,
        owner: &OwnerId,
        run: &RunId,
        now: Timestamp,
    ) -> impl Iterator<Item = &'s Arc<SavedDecision>> + use<'s> {
        let said = self.denied_in.get(&(owner.clone(), run.clone())).into_iter().flatten();
        said.filter_map(|id| self.rulings.get(id)).filter(move |ruling| ruling.is_live(now))
    }

    /// Returns the paths that a person denied to `agent` or to an ancestor that binds it.
    pub(in super::super) fn refused_paths(&self, agent: &Agent, access: Access, now: Timestamp) -> Vec<SanitizedPath> {
        let (above, owner) = (self.above(agent), &agent.profile.owner);
        let runs = State::runs_of_creation(agent, &above);
        let of_runs = runs.into_iter().flat_map(|(_, run)| self.said_no_in(owner, run, now));
        let of_agents = std::iter::once(agent).chain(above.iter().copied()).flat_map(|bound| self.said_no(bound, now));
        let of_access = |ruling: &&Arc<SavedDecision>| {
            ruling.operation == operation_of(access) && matches!(ruling.about, Subject::Input(_) | Subject::Access(_))
        };
        of_agents.chain(of_runs).filter(of_access).filter_map(|ruling| ruling.path()).collect()
    }
}
