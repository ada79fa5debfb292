//! How much one file may give: a short text can say a lot, since every agent gets what `[defaults]` says.

use std::collections::BTreeSet;

use super::{Problem, rights::Written};

/// What all agents of a file may hold together. Ten thousand agents of twenty-five lines fit.
const MAX_IN_ALL: usize = 250_000;

/// How much may still be given.
#[derive(Debug)]
pub(super) struct Limits {
    of_one: usize,
    left: usize,
    told: bool,
}

impl Limits {
    pub(super) fn new(max_grants: u32) -> Limits {
        Limits { of_one: usize::try_from(max_grants).unwrap_or(usize::MAX), left: MAX_IN_ALL, told: false }
    }

    /// Each of `defaults` once, or where they are too many for any agent.
    pub(super) fn of_defaults(&self, defaults: &[Written]) -> Result<Vec<Written>, (usize, Problem)> {
        let once = once(defaults);
        match once.get(self.of_one) {
            Some(first) => Err((first.offset, self.too_many("`[defaults]`"))),
            None => Ok(once.into_iter().cloned().collect()),
        }
    }

    /// Each of both once, `own` first; counted before it is copied.
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
            let problem = Problem::new(format!("this and all before it hold more than {MAX_IN_ALL} permissions"));
            return if first { Err(problem.help("name fewer and larger directories")) } else { Ok(Vec::new()) };
        };
        self.left = left;
        Ok(all.into_iter().cloned().collect())
    }

    fn too_many(&self, name: &str) -> Problem {
        let message = format!("{name} names more permissions than `max_grants` allows, which is {}", self.of_one);
        Problem::new(message).help("name fewer and larger directories, or raise `max_grants` in `[engine]`")
    }
}

fn once(rights: &[Written]) -> Vec<&Written> {
    let mut known = BTreeSet::new();
    rights.iter().filter(|written| known.insert(written.key())).collect()
}
