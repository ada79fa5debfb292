//! Writes permanent decisions of people into the policy file, where they can be read, changed and removed like any
//! other line.
//!
//! An agent has no handle to these calls: their caller can write the file anyway. The written lines cover the decision
//! and no more; a decision that a rule cannot express exactly is not written.

mod error;
mod insert;
mod permanent;
mod replace;

use super::{PolicyFile, PolicyText};
use crate::{
    engine::DryRun,
    kernel::Stage,
    model::{AgentPolicy, Effect, Escaped, Place, Policy, Rule, Widening},
};

pub use error::PersistError;
pub use permanent::PermanentDecision;
use replace::Replaced;

/// The maximum number of attempts while another process keeps saving the file.
const MAX_TRIES: usize = 8;

/// The result of writing a permanent decision into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The lines that contain it.
    pub places: Vec<Place>,
    /// True if the file contained it already; then the file was not changed.
    pub was_there: bool,
    /// True if an engine that follows the file applies it only after a person accepts it (`confirm_widening`).
    pub waits: bool,
}

/// A decision that was written into a file and can still be removed. While this lives, no other caller of this library
/// writes the file.
///
/// Dropping it keeps the lines, so that a person's decision is not lost.
#[derive(Debug)]
#[must_use = "an edit either stays or is undone"]
pub struct WrittenAtStart {
    file: PolicyFile,
    kept: Written,
    /// The previous content of the file; none if the file contained the decision already.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    _alone: Option<std::fs::File>,
}

impl WrittenAtStart {
    /// Returns the result of writing.
    pub fn kept(&self) -> &Written {
        &self.kept
    }

    /// Keeps the decision in the file.
    pub fn stands(self) -> Written {
        self.kept
    }

    /// Restores the previous content of the file. If the file contained the decision already, it is left unchanged.
    ///
    /// # Errors
    ///
    /// [`PersistError::Disk`] if another process has saved the file meanwhile, or the file cannot be replaced: then the
    /// lines are still in it.
    pub fn take_back(self) -> Result<(), PersistError> {
        let Some(before) = &self.before else { return Ok(()) };
        let text = self.file.read()?;
        if text.bytes == self.after && matches!(replace::replace(&text, before)?, Replaced::Done) {
            return Ok(());
        }
        Err(PersistError::disk(&text, "another program saved it in the meantime"))
    }
}

impl PolicyFile {
    /// Writes a permanent decision of a person into the file: a permission among the agent's `permissions`, an approval
    /// of an action as one of its rules. A comment names the person and the time. Every other byte of the file stays as
    /// it is.
    ///
    /// The file is replaced as a whole at its real location, with its owner and mode. If another process saves it
    /// meanwhile, that version is kept, and the lines are added to it. An editor that has the file open and writes in
    /// place does not notice the change. So save the file by renaming, as for every change of it.
    ///
    /// # Authority
    ///
    /// The caller gives an agent a permission permanently, as by writing the file. The call takes a path and no engine:
    /// the handle of an agent cannot reach it, and the file is protected from the files and commands of agents.
    ///
    /// # Errors
    ///
    /// [`PersistError::NotSayable`] if the file cannot express exactly this, does not have the agent, or the action
    /// would still not be allowed; [`PersistError::File`] with every problem of the file as it is, or would be;
    /// [`PersistError::Disk`] if the file is read-only or cannot be replaced, or if another process holds the lock of
    /// its directory for seconds. In each case the file is unchanged.
    pub fn keep(&self, said: &PermanentDecision) -> Result<Written, PersistError> {
        self.keep_at_first(said).map(WrittenAtStart::stands)
    }

    /// Writes like [`PolicyFile::keep`], but the lines can still be removed. So a caller can write a decision before it
    /// applies it elsewhere: if the caller is killed in between, the decision is not lost, and if it cannot be applied
    /// there, the lines can be removed.
    ///
    /// # Authority
    ///
    /// The authority of [`PolicyFile::keep`].
    ///
    /// # Errors
    ///
    /// The errors of [`PolicyFile::keep`].
    pub fn keep_at_first(&self, said: &PermanentDecision) -> Result<WrittenAtStart, PersistError> {
        let alone = replace::alone(&self.read()?)?;
        for _ in 0..MAX_TRIES {
            let text = self.read()?;
            let (new, kept) = plan(&text, said)?;
            let before = (!kept.was_there).then(|| text.bytes.clone());
            let is_there = kept.was_there || matches!(replace::replace(&text, &new)?, Replaced::Done);
            if is_there {
                return Ok(WrittenAtStart { file: self.clone(), kept, before, after: new, _alone: alone });
            }
        }
        Err(PersistError::disk(&self.read()?, "another program saves it again and again"))
    }

    /// Returns the change of the lines that [`PolicyFile::keep`] would make, without writing. `None` if the file says
    /// it already.
    ///
    /// # Errors
    ///
    /// The errors of [`PolicyFile::keep`].
    pub fn edit_to_keep(&self, said: &PermanentDecision) -> Result<Option<LineEdit>, PersistError> {
        let text = self.read()?;
        let (after, kept) = plan(&text, said)?;
        let edit = || LineEdit::between(&String::from_utf8_lossy(&text.bytes), &String::from_utf8_lossy(&after));
        Ok((!kept.was_there).then(edit))
    }

    /// Returns the result that [`PolicyFile::keep`] would have, without writing.
    ///
    /// # Errors
    ///
    /// The errors of [`PolicyFile::keep`].
    pub fn could_keep(&self, said: &PermanentDecision) -> Result<Written, PersistError> {
        let text = self.read()?;
        let (_, kept) = plan(&text, said)?;
        if !kept.was_there {
            replace::refuse_read_only(&text)?;
        }
        Ok(kept)
    }
}

/// A change of a file in its lines. A person can make it by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineEdit {
    /// The first line that changes, from 1. New lines come before it.
    pub line: u32,
    /// The lines that the new ones replace. They are often none.
    pub old: String,
    /// The new lines.
    pub new: String,
}

impl LineEdit {
    /// Returns the smallest change of whole lines that leads from one text to the other.
    fn between(before: &str, after: &str) -> LineEdit {
        let (old, new): (Vec<_>, Vec<_>) = (before.split('\n').collect(), after.split('\n').collect());
        let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (old, new) = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
        let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let middle = |lines: &[&str]| lines.get(..lines.len() - end).unwrap_or_default().join("\n");
        LineEdit { line: u32::try_from(start + 1).unwrap_or(u32::MAX), old: middle(old), new: middle(new) }
    }
}

/// Returns the new content of the file, and the result of writing it.
fn plan(text: &PolicyText, said: &PermanentDecision) -> Result<(Vec<u8>, Written), PersistError> {
    let before = text.parse()?;
    let agent = known(text, &before, said)?;
    let missing = said.without(agent);
    let waits = before.settings.widening == Widening::Confirm;
    if missing.is_nothing() {
        let places = said.places_in(agent);
        return Ok((text.bytes.clone(), Written { places, was_there: true, waits: false }));
    }
    let utf8 = std::str::from_utf8(&text.bytes).map_err(PersistError::not_sayable)?;
    let bytes = insert::insert(utf8, &missing).map_err(|why| PersistError::disk(text, why))?.into_bytes();
    let written = PolicyText { bytes, meant: std::sync::OnceLock::new(), ..text.clone() };
    let after = written.parse()?;
    let agent = known(text, &after, said)?;
    if !is_besides(&before, &after, &missing) {
        let why = "the written rule would differ from the answer, because a path now leads to another place";
        return Err(PersistError::not_sayable(why));
    }
    counts(&after, said)?;
    let places = said.places_in(agent);
    Ok((written.bytes, Written { places, was_there: false, waits }))
}

/// Returns the agent's policy, if the agent has the same owner in the file.
fn known<'p>(text: &PolicyText, policy: &'p Policy, said: &PermanentDecision) -> Result<&'p AgentPolicy, PersistError> {
    let (agent, file) = (said.agent(), Escaped(&text.file));
    let known = policy.agents.get(agent).ok_or_else(|| {
        PersistError::not_sayable(format_args!(
            "`{file}` has no agent `{agent}`, so no rule can be written for it: let the engine store the answer \
             with `--scope always`"
        ))
    })?;
    if let Some(cwd) = said.said_elsewhere(&known.profile.working_dir) {
        let own = &known.profile.working_dir;
        return Err(PersistError::not_sayable(format_args!(
            "the answer was for a command in `{}`, but the working directory of `{agent}` is `{}` in `{file}`",
            Escaped(cwd.as_str()),
            Escaped(own.as_str())
        )));
    }
    if known.profile.owner == *said.owner() {
        return Ok(known);
    }
    let (theirs, owner) = (&known.profile.owner, said.owner());
    Err(PersistError::not_sayable(format_args!(
        "`{agent}` belongs to owner {theirs} in `{file}`, but the question was about an agent of {owner}"
    )))
}

/// Returns true if `after` contains exactly the meaning of `before` and the decision. Lines may have moved.
fn is_besides(before: &Policy, after: &Policy, said: &PermanentDecision) -> bool {
    let same_agents = before.agents.len() == after.agents.len();
    same_agents
        && before.settings == after.settings
        && after.left_out.is_empty()
        && before.agents.iter().zip(&after.agents).all(|((id, before), (other, after))| {
            let is_its = id == said.agent();
            let (rules, permissions) = if is_its { (said.rules(), said.permissions().len()) } else { (&[][..], 0) };
            let told_before = |rule: &Rule| before.rules.iter().chain(rules).any(|other| other.says_the_same(rule));
            let held_before = |held: &crate::model::PolicyPermission| {
                before.permissions.iter().any(|other| other.pinned == held.pinned && other.hold == held.hold)
                    || is_its && said.gives(&held.pinned) && held.hold == crate::model::Hold::Use
            };
            id == other
                && before.profile == after.profile
                && after.rules.len() == before.rules.len() + rules.len()
                && after.permissions.len() == before.permissions.len() + permissions
                && after.rules.iter().all(told_before)
                && after.permissions.iter().all(held_before)
        })
}

/// Refuses an approval that would have no effect, so that a person does not rely on it.
fn counts(policy: &Policy, said: &PermanentDecision) -> Result<(), PersistError> {
    let Some(action) = said.example() else { return Ok(()) };
    let rehearsal = DryRun::of(policy.clone()).map_err(PersistError::not_sayable)?;
    let explanation = rehearsal.explain(said.agent(), &action).map_err(PersistError::not_sayable)?;
    // The agent may hold a missing permission in another way. The later stages show if the rule has an effect.
    let in_the_way = explanation.walk.iter().find(|step| {
        let permissions_aside = step.stage != Stage::Held && step.stage < Stage::AllowRule;
        permissions_aside && step.says.is_some_and(|ruled| ruled.verdict() > Effect::Confined)
    });
    let Some(step) = in_the_way else { return Ok(()) };
    let reason = step.reason.clone().unwrap_or_default();
    let refs = step.rule_refs.iter().map(|rule| format!(", {rule}")).collect::<String>();
    Err(PersistError::not_sayable(format_args!(
        "an allow rule would have no effect: {}{refs}. Change that, or let the engine store the answer with \
         `--scope always`",
        Escaped(&reason)
    )))
}
