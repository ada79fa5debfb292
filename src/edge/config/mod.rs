//! `agents.toml`: the file in which a person writes down what agents start with. Every key: `docs/agents-toml.md`.
//!
//! From a path to a [`Policy`], or to everything that is wrong with the file. Nothing here decides what an agent
//! may do, notices that the file changed, or expands variables.

mod absolute;
mod agents;
mod before;
mod commands;
mod conditions;
mod disk;
mod document;
#[cfg(feature = "edit")]
mod edit;
mod error;
mod examples;
mod file;
mod finding;
mod ground;
mod limits;
mod owner;
mod pattern;
mod position;
mod protected;
mod rights;
mod rules;
mod settings;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod tools;
mod trials;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::model::Policy;
use ground::Ground;

pub(super) use before::Before;
#[cfg(feature = "edit")]
pub use edit::{Always, KeepError, Kept, KeptAtFirst};
pub use error::{ConfigError, Problem};
pub use position::Position;

/// A file that holds a policy, and whose home `~` stands for in it.
///
/// ```no_run
/// let file = bestow::PolicyFile::new("agents.toml");
/// let policy = file.load()?;
/// assert!(!policy.agents.is_empty());
/// # Ok::<(), bestow::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// As it was given, for messages.
    path: PathBuf,
    /// From the root on, so that it stays the same file when the process moves.
    absolute: PathBuf,
    home: Option<PathBuf>,
}

impl PolicyFile {
    /// The file at `path`; `~` is the home directory of whoever runs this process.
    pub fn new(path: impl Into<PathBuf>) -> PolicyFile {
        let path = path.into();
        // Only an empty path has no absolute form, and reading it is an error.
        let absolute = std::path::absolute(&path).unwrap_or_default();
        PolicyFile { path, absolute, home: home() }
    }

    /// The same file, read by somebody whose home is `home`.
    #[must_use]
    pub fn with_home(self, home: impl Into<PathBuf>) -> PolicyFile {
        PolicyFile { home: Some(home.into()), ..self }
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Reads and understands the file as it is now.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the file.
    pub fn load(&self) -> Result<Policy, ConfigError> {
        self.read()?.parse()
    }

    /// Reads the file as it is now, after checking that nobody else could have written it.
    ///
    /// # Errors
    ///
    /// The one reason why the file is not read.
    pub fn read(&self) -> Result<PolicyText, ConfigError> {
        let file: Arc<str> = self.path.to_string_lossy().into();
        let found = file::read(&self.absolute);
        let (bytes, ground) = found.map_err(|problems| ConfigError::new(file.clone(), problems, 0))?;
        Ok(PolicyText { file, home: self.home.clone(), bytes, ground, meant: OnceLock::new() })
    }
}

/// The only place where this edge looks at the environment.
fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// What a policy file held when it was read, not understood yet.
///
/// Two are equal if they hold the same bytes and were found in the same place: when a link is turned to another
/// directory, the same relative paths mean other files.
#[derive(Clone)]
pub struct PolicyText {
    file: Arc<str>,
    home: Option<PathBuf>,
    bytes: Vec<u8>,
    ground: Ground,
    /// What it meant when it was understood first.
    meant: OnceLock<Before>,
}

impl PolicyText {
    /// Understands the text, and pins every path in it to the object it leads to now.
    ///
    /// This is for somebody who starts: what the disk does not agree with is an error like any other. Once the text has
    /// been understood, it is understood again as a reload is ([`Policy::left_out`]).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn parse(&self) -> Result<Policy, ConfigError> {
        let (policy, before) = document::policy(self, self.meant.get(), disk::look)?;
        // The first time counts: whoever watches the file measures by it.
        let _known = self.meant.set(before);
        Ok(policy)
    }

    /// How many `[[test]]` it was tried with when it was understood.
    pub fn tests(&self) -> usize {
        self.meant.get().map_or(0, |before| before.tests)
    }

    /// Understands the text as a change of what it meant before, and keeps in mind what it means now. Without any
    /// before, it is understood as by somebody who starts.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text itself.
    pub(super) fn parse_after(&self, before: &mut Option<Before>) -> Result<Policy, ConfigError> {
        let (policy, now) = document::policy(self, before.as_ref(), disk::look)?;
        *before = Some(now);
        Ok(policy)
    }

    /// What it meant when it was understood first, if it was.
    pub(super) fn meant(self) -> Option<Before> {
        self.meant.into_inner()
    }
}

impl PartialEq for PolicyText {
    fn eq(&self, other: &PolicyText) -> bool {
        let (one, two) = (&self.ground.trail, &other.ground.trail);
        self.bytes == other.bytes && one.real == two.real && one.links == two.links
    }
}

impl Eq for PolicyText {}

impl fmt::Debug for PolicyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyText({}, {} bytes)", self.file, self.bytes.len())
    }
}
