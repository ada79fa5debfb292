//! What the commands of an agent are kept from, wherever a sandbox can do so: what is protected or sensitive, and what rules
//! and policies deny by name. A pattern is nothing that a file system could be told beforehand.

use std::iter;

use crate::model::{Access, Operation, SanitizedPath, SensitiveName};

use super::{State, state::Agent};

/// What the commands of an agent are kept from.
#[derive(Debug, Default)]
pub(crate) struct KeptFrom {
    /// Paths that they do not even read.
    pub(crate) hidden: Vec<SanitizedPath>,
    /// Paths that they do not write, whatever they are granted above them.
    pub(crate) unwritten: Vec<SanitizedPath>,
    /// Names that are sensitive besides the built-in ones.
    pub(crate) sensitive: Vec<SensitiveName>,
}

impl State {
    /// What is denied to those above an agent is denied to its commands too.
    pub(crate) fn kept_from_commands(&self, agent: &Agent) -> KeptFrom {
        let mut kept = KeptFrom {
            // Processes and devices a command has of its own.
            hidden: self.settings.protected.iter().chain(self.floor.protected()).cloned().collect(),
            unwritten: Vec::new(),
            sensitive: self.settings.sensitive.to_vec(),
        };
        let tool = Operation::Command.own_tool();
        let above = self.above(agent);
        for bound in iter::once(agent).chain(above.iter().copied()) {
            kept.hidden.extend(bound.rules.denied_by_name(Access::Read));
            kept.unwritten.extend(bound.rules.denied_by_name(Access::Write));
        }
        let runs = iter::once(agent).chain(above.iter().copied()).map(|bound| &bound.run);
        let runs = runs.chain(State::runs_of_creation(agent, &above).into_iter().map(|(_, run)| run));
        for guards in runs.filter_map(|run| self.guards_of(&agent.profile.owner, run)) {
            kept.hidden.extend(guards.of(&tool).denied_by_name(Access::Read));
            kept.unwritten.extend(guards.of(&tool).denied_by_name(Access::Write));
        }
        kept
    }
}
