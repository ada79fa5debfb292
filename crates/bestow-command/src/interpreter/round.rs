//! Rounds of a loop that repeat the first one.
//!
//! Most bodies change nothing that another round depends on. Such a round need not be followed: it does what the first
//! one did, at the same cost.

use crate::{
    budget::Budget,
    interpreter::{Interpreter, Scope},
    part::RecordedPart,
    tier::Tier,
};

#[cfg(test)]
thread_local! {
    /// True while a test of this thread follows every round.
    pub(crate) static FOLLOWS_EACH: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The first round of a loop.
pub(super) struct Round {
    /// The state before the body, and after it.
    before: Scope,
    after: Scope,
    /// The work before the body, and after it.
    budget: (Budget, Budget),
    /// The recorded words before the body, and after it.
    words: (usize, usize),
    beside: Beside,
    /// The number of parts before the body.
    parts: usize,
    /// The part in which every command of the body is recorded, if there is one.
    only: Option<Only>,
}

/// A part in which another round is recorded too: it starts the same commands once more.
struct Only {
    at: usize,
    starts: usize,
    dirs: usize,
    obeys: usize,
}

/// The state beside the scope on which a round depends. It only grows.
#[derive(Debug, PartialEq, Eq)]
struct Beside {
    texts: usize,
    commands: usize,
    hosts: usize,
    is_cut: bool,
    files: usize,
    traps: usize,
    exits: bool,
    /// The directories of the last part before the loop. A command of the loop may be recorded in that part.
    dirs: Option<usize>,
}

impl Beside {
    fn of(shell: &Interpreter<'_>, parts: usize) -> Self {
        Beside {
            texts: shell.invocations.texts(),
            commands: shell.invocations.recorded(),
            hosts: shell.uses.told_hosts(),
            is_cut: shell.uses.is_cut(),
            files: shell.generated.len(),
            traps: shell.traps.len(),
            exits: shell.left.is_some(),
            dirs: parts.checked_sub(1).and_then(|last| shell.parts.get(last)).map(|part| part.dirs.len()),
        }
    }
}

impl Round {
    /// Returns the round whose body follows now.
    pub(super) fn begin(shell: &Interpreter<'_>) -> Round {
        let (budget, words, parts) = (shell.budget, shell.invocations.words(), shell.parts.len());
        let beside = Beside::of(shell, parts);
        let (before, after) = (shell.scope.clone(), Scope::default());
        Round { before, after, budget: (budget, budget), words: (words, words), beside, parts, only: None }
    }

    /// Returns the round after its body, if another one from the same state does the same.
    pub(super) fn end(mut self, shell: &Interpreter<'_>) -> Option<Round> {
        if self.beside != Beside::of(shell, self.parts) {
            return None;
        }
        let joins = |first: &RecordedPart, last: &RecordedPart| last.tier == Tier::Safe && first.looks_like(last);
        match shell.parts.get(self.parts..).unwrap_or_default() {
            [RecordedPart { is_program: true, tier: Tier::Safe, starts, dirs, obeys, .. }] if !shell.is_inside() => {
                self.only = Some(Only { at: self.parts, starts: starts.len(), dirs: dirs.len(), obeys: obeys.len() });
            }
            // A safe part that follows an equal one is recorded in it.
            [first, .., last] | [first @ last] if joins(first, last) => return None,
            _ => {}
        }
        self.after = shell.scope.clone();
        self.budget.1 = shell.budget;
        self.words.1 = shell.invocations.words();
        Some(self)
    }

    /// Repeats the round without following its body. Returns false, and does nothing, if this round may differ.
    pub(super) fn repeat(&self, shell: &mut Interpreter<'_>) -> bool {
        #[cfg(test)]
        if FOLLOWS_EACH.get() {
            return false;
        }
        let words = self.words.1 - self.words.0;
        let fits = shell.invocations.has_room(words)
            && shell.scope.is_same(&self.before)
            && shell.budget.repeat(&self.budget.0, &self.budget.1);
        if fits {
            shell.invocations.repeat(words);
            shell.scope = self.after.clone();
            let last = shell.parts.len().wrapping_sub(1);
            let only = self.only.as_ref().filter(|only| only.at == last);
            if let Some((only, part)) = only.zip(shell.parts.last_mut()) {
                part.starts.extend_from_within(..only.starts);
                part.dirs.to_mut().extend_from_within(..only.dirs);
                part.obeys.extend_from_within(..only.obeys);
            }
        }
        fits
    }
}
