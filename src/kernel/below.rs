//! What somebody has said a no about, or a question, that may lie below a directory which is used with all that it holds.

use std::iter;

use crate::model::{Access, PathGlob, SanitizedPath, ToolName, Verdict};

use super::{State, state::Agent, uses::operation_of};

/// What is spoken about below some directories.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    /// Paths by name.
    pub(crate) paths: Vec<SanitizedPath>,
    /// Globs: which paths those are, the disk says.
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
    /// Returns what is protected below `roots`, and what rules, policies and people speak about there that may bind `agent`
    /// when it uses paths in this way by `tool`. Who is bound, and by what, is decided about each path that is found.
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
