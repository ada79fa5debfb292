//! Advice on recovery after a destructive command.

use crate::{classification::Judged, programs, tier::Tier, values::SpokenPart};

/// The advice where no way back is known.
pub const NO_ROLLBACK: &str = "nothing is known to undo this: make a backup or a snapshot first";

impl Judged {
    /// Returns the advice for the first destructive part.
    pub fn rollback_advice(&self) -> &'static str {
        let part = self.commands.iter().find(|part| part.tier == Tier::Destructive);
        part.and_then(advice).unwrap_or(NO_ROLLBACK)
    }
}

fn advice(part: &SpokenPart) -> Option<&'static str> {
    let exactly = part.starts.iter().filter(|command| !command.anywhere).rev();
    let programs = exactly.filter_map(|command| command.words.first()?.written());
    let named = programs.map(|program| program.rsplit('/').next().unwrap_or(program));
    named.filter_map(advice_for).next()
}

/// Returns the advice for a program, or for a variant of one, such as `mkfs.ext4` of `mkfs`.
fn advice_for(name: &str) -> Option<&'static str> {
    let stems = name.match_indices('.').filter_map(|(at, _)| name.get(..at));
    let mut programs = [name].into_iter().chain(stems).filter_map(programs::find);
    programs.find_map(|program| program.rollback)
}
