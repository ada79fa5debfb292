//! The restrictions that a sandbox enforces on an agent's commands, if it can: protected and sensitive paths, paths
//! that rules and policies deny by name or glob, and paths that a person denied.

use std::iter;

use crate::model::{Access, Operation, PathGlob, SandboxFacts, SanitizedPath, SensitiveName, Timestamp};

use super::{State, agent::Agent};

/// The restrictions on an agent's commands.
#[derive(Debug, Default)]
#[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "a sandbox of the library looks at all of it"))]
pub(crate) struct SandboxDenials {
    /// Paths that the commands can neither read nor write.
    pub(crate) hidden: Vec<SanitizedPath>,
    /// Paths that the commands cannot write, whatever is granted above them.
    pub(crate) unwritten: Vec<SanitizedPath>,
    /// Globs of paths that the commands can neither read nor write. The disk determines which paths they match.
    pub(crate) hidden_globs: Vec<PathGlob>,
    /// Globs of paths that the commands cannot write.
    pub(crate) unwritten_globs: Vec<PathGlob>,
    /// Sensitive names in addition to the built-in ones.
    pub(crate) sensitive: Vec<SensitiveName>,
}

impl SandboxDenials {
    fn refuse(&mut self, access: Access, paths: Vec<SanitizedPath>) {
        match access {
            Access::Read => self.hidden.extend(paths),
            Access::Write => self.unwritten.extend(paths),
        }
    }

    fn deny<'g>(&mut self, access: Access, globs: impl Iterator<Item = &'g PathGlob>) {
        let (paths, patterns) = match access {
            Access::Read => (&mut self.hidden, &mut self.hidden_globs),
            Access::Write => (&mut self.unwritten, &mut self.unwritten_globs),
        };
        for glob in globs {
            match glob.named_as_no() {
                Some(path) => paths.push(path),
                None if patterns.contains(glob) => {}
                None => patterns.push(glob.clone()),
            }
        }
    }

    /// Adds the restrictions of another state.
    #[cfg(feature = "sandbox")]
    pub(crate) fn add(&mut self, more: SandboxDenials) {
        let SandboxDenials { hidden, unwritten, hidden_globs, unwritten_globs, sensitive } = more;
        self.hidden.extend(hidden);
        self.unwritten.extend(unwritten);
        self.hidden_globs.extend(hidden_globs);
        self.unwritten_globs.extend(unwritten_globs);
        self.sensitive.extend(sensitive);
    }

    /// Returns true if these restrictions contain one that `before` lacks and that matters to a command with write
    /// access below `roots`.
    #[cfg(feature = "sandbox")]
    pub(crate) fn is_more_than(&self, before: &SandboxDenials, roots: &[SanitizedPath]) -> bool {
        fn is_within<T: PartialEq>(now: &[T], before: &[T]) -> bool {
            now.iter().all(|one| before.contains(one))
        }
        let is_written = |path: &&SanitizedPath| roots.iter().any(|root| root.contains(path));
        let paths = is_within(&self.hidden, &before.hidden)
            && self.unwritten.iter().filter(is_written).all(|path| before.unwritten.contains(path));
        let globs = is_within(&self.hidden_globs, &before.hidden_globs)
            && is_within(&self.unwritten_globs, &before.unwritten_globs);
        !(paths && globs && is_within(&self.sensitive, &before.sensitive))
    }

    /// Returns the first path that `facts` let a command write although these restrictions name it.
    pub(crate) fn written_by(&self, facts: &SandboxFacts) -> Option<&SanitizedPath> {
        let kept = self.unwritten.iter().chain(&self.hidden);
        kept.into_iter().find(|path| {
            let is_in = |roots: &[SanitizedPath]| roots.iter().any(|root| root.contains(path));
            is_in(&facts.write_roots) && !is_in(&facts.read_only) && !is_in(&facts.hidden)
        })
    }
}

impl State {
    /// Returns the restrictions on the commands of `agent`. Restrictions on its ancestors are included.
    pub(crate) fn kept_from_commands(&self, agent: &Agent, now: Timestamp) -> SandboxDenials {
        let mut kept = SandboxDenials {
            // Processes and devices are not listed, because a sandboxed command has its own.
            hidden: self.settings.protected.iter().chain(self.floor.protected()).cloned().collect(),
            sensitive: self.settings.sensitive.to_vec(),
            ..SandboxDenials::default()
        };
        let tool = Operation::Command.own_tool();
        let above = self.above(agent);
        let bound = || iter::once(agent).chain(above.iter().copied());
        let runs = bound().map(|bound| &bound.run);
        let runs = runs.chain(State::runs_of_creation(agent, &above).into_iter().map(|(_, run)| run));
        let guards: Vec<_> = runs.filter_map(|run| self.guards_of(&agent.profile.owner, run)).collect();
        for access in [Access::Read, Access::Write] {
            bound().for_each(|bound| kept.deny(access, bound.rules.denied_globs(access)));
            guards.iter().for_each(|guards| kept.deny(access, guards.of(&tool).denied_globs(access)));
            kept.refuse(access, self.refused_paths(agent, access, now));
        }
        kept
    }
}
