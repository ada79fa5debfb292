//! Limits for the content of one file. A short text can expand to much, since every agent gets the content of
//! `[defaults]`.

use std::{collections::BTreeSet, sync::Arc};

use super::{Problem, permissions::Written};
use crate::{kernel::Rules, model::Rule};

/// The maximum number of permissions of all agents of a file. Ten thousand agents with twenty-five lines fit.
const MAX_IN_ALL: usize = 250_000;

/// The maximum number of rules for one agent, and for all agents together. A decision evaluates all rules of one agent.
const MAX_RULES: usize = 2000;
const MAX_RULES_IN_ALL: usize = 250_000;

/// The permissions and rules that the rest of a file may still contain.
#[derive(Debug)]
pub(super) struct Limits {
    of_one: usize,
    left: usize,
    told: bool,
    rules_left: usize,
}

impl Limits {
    pub(super) fn new(max_grants: u32) -> Limits {
        Limits {
            of_one: usize::try_from(max_grants).unwrap_or(usize::MAX),
            left: MAX_IN_ALL,
            told: false,
            rules_left: MAX_RULES_IN_ALL,
        }
    }

    /// Returns each of `defaults` once, or the position at which they become too many for any agent.
    pub(super) fn of_defaults(&self, defaults: &[Written]) -> Result<Vec<Written>, (usize, Problem)> {
        let once = once(defaults);
        match once.get(self.of_one) {
            Some(first) => Err((first.offset, self.too_many("`[defaults]`"))),
            None => Ok(once.into_iter().cloned().collect()),
        }
    }

    /// Returns each permission of both lists once, `own` first. They are counted before they are copied.
    pub(super) fn joined(
        &mut self,
        name: &str,
        own: &[Written],
        defaults: &[Written],
    ) -> Result<Vec<Written>, Problem> {
        let mut all = once(own);
        let known: BTreeSet<_> = all.iter().map(|written| written.key()).collect();
        all.extend(defaults.iter().filter(|written| !known.contains(&written.key())));
        if all.len() > self.of_one {
            return Err(self.too_many(name));
        }
        let Some(left) = self.left.checked_sub(all.len()) else {
            let first = !std::mem::replace(&mut self.told, true);
            let problem = Problem::new(format!("the agents up to this one have more than {MAX_IN_ALL} permissions"));
            return if first { Err(problem.help("name fewer and larger directories")) } else { Ok(Vec::new()) };
        };
        self.left = left;
        Ok(all.into_iter().cloned().collect())
    }

    /// Checks the rules that apply to one agent: their number, alone and together with those of other agents, and that
    /// their patterns can be compared with a path in one step. The rules `tried` have passed the last check already.
    pub(super) fn rules(&mut self, name: &str, rules: &Arc<[Rule]>, tried: &Arc<[Rule]>) -> Result<(), Problem> {
        if rules.len() > MAX_RULES {
            let message = format!("{} rules apply to {name}, and the limit is {MAX_RULES}", rules.len());
            return Err(Problem::new(message).help("a list of patterns counts once for each"));
        }
        let left = self.rules_left.checked_sub(rules.len());
        self.rules_left = left.ok_or_else(|| {
            Problem::new(format!("the agents up to this one have more than {MAX_RULES_IN_ALL} rules"))
        })?;
        if !Arc::ptr_eq(rules, tried) && Rules::compile(rules).are_unusable() {
            return Err(Problem::new(format!("the patterns of the rules for {name} are too many or too large")));
        }
        Ok(())
    }

    fn too_many(&self, name: &str) -> Problem {
        let message = format!("{name} names more permissions than `max_grants` allows, which is {}", self.of_one);
        Problem::new(message).help("name fewer and larger directories, or raise `max_grants` in `[engine]`")
    }
}

fn once(permissions: &[Written]) -> Vec<&Written> {
    let mut known = BTreeSet::new();
    permissions.iter().filter(|written| known.insert(written.key())).collect()
}
