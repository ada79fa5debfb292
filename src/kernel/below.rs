//! The restricted paths below a directory that an action uses as a whole: those with a denial, a deny rule or an ask
//! rule.

use std::iter;

use crate::model::{Access, PathGlob, SanitizedPath, ToolName, Verdict};

use super::{State, action_uses::operation_of, agent::Agent};

/// The restricted paths below some directories.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    /// Single paths.
    pub(crate) paths: Vec<SanitizedPath>,
    /// Globs. The disk determines which paths they match.
    pub(crate) globs: Vec<PathGlob>,
}

impl Spoken {
    fn add(&mut self, glob: &PathGlob) {
        if !self.globs.contains(glob) {
            self.globs.push(glob.clone());
        }
    }
}

impl State {
    /// Returns the protected paths below `roots`, and the paths there that rules, policies and denials may restrict for
    /// `agent`, for this access and `tool`. A separate decision is made about each path that is found.
    pub(crate) fn spoken_below(
        &self,
        agent: &Agent,
        tool: &ToolName,
        access: Access,
        roots: &[SanitizedPath],
    ) -> Spoken {
        let is_below = |path: &SanitizedPath| roots.iter().any(|root| root.contains(path));
        let mut spoken = Spoken::default();
        let (named, closed) = self.protected.paths();
        spoken.paths.extend(named.iter().chain(closed).filter(|path| is_below(path)).cloned());
        let operation = operation_of(access);
        let noes = self.rulings.values().filter(|ruling| ruling.verdict == Verdict::Deny);
        let noes = noes.filter(|ruling| ruling.operation == operation && ruling.owner == agent.profile.owner);
        let named = noes.filter_map(|ruling| ruling.resource.parse::<SanitizedPath>().ok());
        spoken.paths.extend(named.filter(is_below));
        let above = self.above(agent);
        let bound = || iter::once(agent).chain(above.iter().copied());
        bound().flat_map(|bound| bound.rules.strict_globs(access)).for_each(|glob| spoken.add(glob));
        let runs = bound().map(|bound| &bound.run);
        let runs = runs.chain(State::runs_of_creation(agent, &above).into_iter().map(|(_, run)| run));
        for guards in runs.filter_map(|run| self.guards_of(&agent.profile.owner, run)) {
            guards.of(tool).denied_globs(access).for_each(|glob| spoken.add(glob));
        }
        spoken
    }
}
