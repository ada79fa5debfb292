//! What a person said for good goes into the file, where it can be read, changed and taken back like anything else there.
//!
//! No agent's handle leads here: whoever calls this can write the file. What is written covers what was said and nothing
//! more; what a rule cannot say exactly is not written.

mod always;
mod insert;
mod replace;

use std::{fmt, sync::Arc};

use super::{ConfigError, PolicyFile, PolicyText};
use crate::{
    engine::Rehearsal,
    kernel::Stage,
    model::{AgentPolicy, Effect, Place, Policy, Rule, Shown, Widening},
};

pub use always::Always;
use replace::Replaced;

/// How often somebody else may save the file while it is being written, before that is odd.
const MAX_TRIES: usize = 8;

/// What a file says from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// The lines that say it.
    pub places: Vec<Place>,
    /// Whether the file said so already; then nothing was written.
    pub was_there: bool,
    /// Whether an engine that follows the file takes it over only once a person agrees (`confirm_widening`).
    pub waits: bool,
}

/// Why something is not written into a file. The file is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepError {
    /// The file cannot say exactly this, or it would not count there.
    NotSayable(String),
    /// The file is wrong, or would be.
    File(ConfigError),
    /// The disk says no.
    Disk {
        /// The file.
        file: Arc<str>,
        /// What was tried, and what happened.
        what: String,
    },
}

impl KeepError {
    fn not_sayable(why: impl fmt::Display) -> KeepError {
        KeepError::NotSayable(why.to_string())
    }

    fn disk(text: &PolicyText, what: impl fmt::Display) -> KeepError {
        KeepError::Disk { file: Arc::clone(&text.file), what: what.to_string() }
    }
}

impl fmt::Display for KeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepError::NotSayable(why) => f.write_str(why),
            KeepError::File(why) => why.fmt(f),
            KeepError::Disk { file, what } => write!(f, "`{}` is not written: {what}", Shown(file)),
        }
    }
}

impl std::error::Error for KeepError {}

impl From<ConfigError> for KeepError {
    fn from(why: ConfigError) -> KeepError {
        KeepError::File(why)
    }
}

/// What was written into a file and may still be taken back. Nobody else writes the file by this library meanwhile.
///
/// Dropping it lets the lines stand: what a person said is not lost by itself.
#[derive(Debug)]
#[must_use = "it stands or is taken back"]
pub struct KeptAtFirst {
    file: PolicyFile,
    kept: Kept,
    /// What the file said, unless it said so already.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    _alone: Option<std::fs::File>,
}

impl KeptAtFirst {
    /// What the file says.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// It stays.
    pub fn stands(self) -> Kept {
        self.kept
    }

    /// Puts back what the file said before; nothing is done if it said so already.
    ///
    /// # Errors
    ///
    /// [`KeepError::Disk`] if somebody else has saved the file meanwhile, or it cannot be replaced: then the lines are
    /// still in it.
    pub fn take_back(self) -> Result<(), KeepError> {
        let Some(before) = &self.before else { return Ok(()) };
        let text = self.file.read()?;
        if text.bytes == self.after && matches!(replace::replace(&text, before)?, Replaced::Done) {
            return Ok(());
        }
        Err(KeepError::disk(&text, "somebody else has saved it meanwhile"))
    }
}

impl PolicyFile {
    /// Writes what a person said for good into the file: a permission among the agent's `permissions`, a yes to an action as
    /// one of its rules, with a comment that says who said so and when. Everything else in the file stays as it is, to the
    /// byte.
    ///
    /// The file is replaced as a whole, with its owner and mode, where it really is. If somebody else saves it meanwhile,
    /// theirs stays, and this is added to it. An editor that has it open and writes in place does not notice; whoever edits
    /// the file should save by renaming, as for every change of it.
    ///
    /// # Authority
    ///
    /// Whoever calls this gives an agent something for good, as by writing the file. It takes a path, and no engine: an agent's
    /// handle cannot reach it, and the file is protected from agents' files and commands.
    ///
    /// # Errors
    ///
    /// [`KeepError::NotSayable`] if the file has no words for exactly this, does not have the agent, or would not come to a yes
    /// by it; [`KeepError::File`] with everything that is wrong with the file as it is, or would be; [`KeepError::Disk`] if it
    /// is read-only or cannot be replaced, or somebody holds the lock of its directory for seconds. In each case the file is as
    /// it was.
    pub fn keep(&self, said: &Always) -> Result<Kept, KeepError> {
        self.keep_at_first(said).map(KeptAtFirst::stands)
    }

    /// The same, for as long as nothing speaks against it: who writes it down before it is said elsewhere loses nothing if
    /// killed in between, and can take it back if it must not be said there.
    ///
    /// # Authority
    ///
    /// As [`PolicyFile::keep`].
    ///
    /// # Errors
    ///
    /// As [`PolicyFile::keep`].
    pub fn keep_at_first(&self, said: &Always) -> Result<KeptAtFirst, KeepError> {
        let alone = replace::alone(&self.read()?)?;
        for _ in 0..MAX_TRIES {
            let text = self.read()?;
            let (new, kept) = plan(&text, said)?;
            let before = (!kept.was_there).then(|| text.bytes.clone());
            let is_there = kept.was_there || matches!(replace::replace(&text, &new)?, Replaced::Done);
            if is_there {
                return Ok(KeptAtFirst { file: self.clone(), kept, before, after: new, _alone: alone });
            }
        }
        Err(KeepError::disk(&self.read()?, "somebody else saves it again and again"))
    }

    /// The same without writing: what [`PolicyFile::keep`] would write, or why it would not.
    ///
    /// # Errors
    ///
    /// As [`PolicyFile::keep`].
    pub fn could_keep(&self, said: &Always) -> Result<Kept, KeepError> {
        let text = self.read()?;
        let (_, kept) = plan(&text, said)?;
        if !kept.was_there {
            replace::refuse_read_only(&text)?;
        }
        Ok(kept)
    }
}

/// The bytes that say it, and what they come to.
fn plan(text: &PolicyText, said: &Always) -> Result<(Vec<u8>, Kept), KeepError> {
    let before = text.parse()?;
    let agent = known(text, &before, said)?;
    let missing = said.without(agent);
    let waits = before.settings.widening == Widening::Confirm;
    if missing.is_nothing() {
        let places = said.places_in(agent);
        return Ok((text.bytes.clone(), Kept { places, was_there: true, waits: false }));
    }
    let utf8 = std::str::from_utf8(&text.bytes).map_err(KeepError::not_sayable)?;
    let bytes = insert::insert(utf8, &missing).map_err(|why| KeepError::disk(text, why))?.into_bytes();
    let written = PolicyText { bytes, meant: std::sync::OnceLock::new(), ..text.clone() };
    let after = written.parse()?;
    let agent = known(text, &after, said)?;
    if !is_besides(&before, &after, &missing) {
        let why = "what the file would say is not what was said: a path leads elsewhere by now";
        return Err(KeepError::not_sayable(why));
    }
    counts(&after, said)?;
    let places = said.places_in(agent);
    Ok((written.bytes, Kept { places, was_there: false, waits }))
}

/// The agent, if it is that owner's in the file too.
fn known<'p>(text: &PolicyText, policy: &'p Policy, said: &Always) -> Result<&'p AgentPolicy, KeepError> {
    let (agent, file) = (said.agent(), Shown(&text.file));
    let known = policy.agents.get(agent).ok_or_else(|| {
        KeepError::not_sayable(format_args!(
            "`{file}` has no agent `{agent}`, so nothing can be written for it there: an `always` that the engine keeps \
             (`--scope always`) is the way"
        ))
    })?;
    if let Some(cwd) = said.said_elsewhere(&known.profile.working_dir) {
        let own = &known.profile.working_dir;
        return Err(KeepError::not_sayable(format_args!(
            "it was said of a command in `{}`, and `{agent}` works in `{}` by `{file}`",
            Shown(cwd.as_str()),
            Shown(own.as_str())
        )));
    }
    if known.profile.owner == *said.owner() {
        return Ok(known);
    }
    let (theirs, owner) = (&known.profile.owner, said.owner());
    Err(KeepError::not_sayable(format_args!(
        "`{agent}` belongs to {theirs} in `{file}`, and {owner}'s was asked about"
    )))
}

/// Whether `after` says what `before` does, and what was said, and nothing else. Lines may have moved.
fn is_besides(before: &Policy, after: &Policy, said: &Always) -> bool {
    let same_agents = before.agents.len() == after.agents.len();
    same_agents
        && before.settings == after.settings
        && after.left_out.is_empty()
        && before.agents.iter().zip(&after.agents).all(|((id, before), (other, after))| {
            let (rules, rights) = if id == said.agent() { (said.rules(), said.rights()) } else { (&[][..], &[][..]) };
            let told_before = |rule: &Rule| before.rules.iter().chain(rules).any(|other| other.says_the_same(rule));
            let held_before = |right: &crate::model::BaseRight| {
                before.rights.iter().any(|other| other.right == right.right && other.hold == right.hold)
                    || rights.iter().any(|other| *other == right.right && right.hold == crate::model::Hold::Use)
            };
            id == other
                && before.profile == after.profile
                && after.rules.len() == before.rules.len() + rules.len()
                && after.rights.len() == before.rights.len() + rights.len()
                && after.rules.iter().all(told_before)
                && after.rights.iter().all(held_before)
        })
}

/// Refuses a yes that would not count, so that nobody believes it does.
fn counts(policy: &Policy, said: &Always) -> Result<(), KeepError> {
    let Some(action) = said.example() else { return Ok(()) };
    let rehearsal = Rehearsal::of(policy.clone()).map_err(KeepError::not_sayable)?;
    let explanation = rehearsal.explain(said.agent(), &action).map_err(KeepError::not_sayable)?;
    // What the agent does not hold in the file it may hold otherwise; the stages below tell whether the rule counts.
    let in_the_way = explanation.walk.iter().find(|step| {
        let rights_aside = step.stage != Stage::Held && step.stage < Stage::AllowRule;
        rights_aside && step.says.is_some_and(|ruled| ruled.verdict() > Effect::Confined)
    });
    let Some(step) = in_the_way else { return Ok(()) };
    let reason = step.reason.clone().unwrap_or_default();
    let refs = step.rule_refs.iter().map(|rule| format!(", {rule}")).collect::<String>();
    Err(KeepError::not_sayable(format_args!(
        "a rule that allows it would not count: {}{refs}. Change that, or let the engine keep the answer (`--scope always`)",
        Shown(&reason)
    )))
}
