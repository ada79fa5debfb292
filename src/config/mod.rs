//! `agents.toml`: the policy file, in which a person writes the initial permissions of agents. Every key:
//! `docs/agents-toml.md`.
//!
//! This module reads a path into a [`Policy`], or into a list of all problems of the file. It does not decide if an
//! agent may do something, does not watch the file, and does not expand variables.

mod absolute;
mod agents;
mod baseline;
mod commands;
mod conditions;
mod diagnostics;
mod document;
#[cfg(feature = "edit")]
mod edit;
mod error;
mod examples;
mod file;
mod file_location;
mod limits;
mod owner;
mod pattern;
mod permissions;
mod policy_tests;
mod policy_text;
mod position;
mod protected;
mod resolve_paths;
mod rules;
mod settings;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod tools;
mod tried_examples;

use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::model::Policy;

pub(super) use baseline::Baseline;
#[cfg(feature = "edit")]
pub use edit::{LineEdit, PermanentDecision, PersistError, Written, WrittenAtStart};
pub use error::{ConfigError, Problem};
use file::Found;
pub use policy_text::PolicyText;
pub use position::Position;

/// A policy file, with the home directory that `~` names in it.
///
/// ```no_run
/// let file = bestow::PolicyFile::new("agents.toml");
/// let policy = file.load()?;
/// assert!(!policy.agents.is_empty());
/// # Ok::<(), bestow::policy::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// The path as given, for messages.
    path: PathBuf,
    /// The absolute path, so that it stays the same file when the process changes its directory.
    absolute: PathBuf,
    home: Option<PathBuf>,
}

impl PolicyFile {
    /// Creates a reference to the file at `path`; `~` is the home directory of the user of this process.
    pub fn new(path: impl Into<PathBuf>) -> PolicyFile {
        let path = path.into();
        // Only an empty path has no absolute form, and reading it is an error.
        let absolute = from_here(&path).unwrap_or_default();
        PolicyFile { path, absolute, home: home() }
    }

    /// Sets the home directory that `~` names in the file.
    #[must_use]
    pub fn with_home(self, home: impl Into<PathBuf>) -> PolicyFile {
        PolicyFile { home: Some(home.into()), ..self }
    }

    /// Returns the path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Reads and parses the current file.
    ///
    /// # Errors
    ///
    /// All problems of the file.
    pub fn load(&self) -> Result<Policy, ConfigError> {
        self.read()?.parse()
    }

    /// Reads the current file, after checking that only its owner or root could have written it.
    ///
    /// # Errors
    ///
    /// The reasons why the file was not read.
    pub fn read(&self) -> Result<PolicyText, ConfigError> {
        let (text, exposed) = self.found()?;
        if exposed.is_empty() { Ok(text) } else { Err(ConfigError::new(text.file, exposed, 0)) }
    }

    /// Reads and parses the current file, and returns every problem at once: those of its owner, its mode and its
    /// links, and those of its text.
    ///
    /// If another user could have written the file, its text is parsed only to report its problems. It gives no policy.
    ///
    /// # Errors
    ///
    /// All problems of the file.
    pub fn check(&self) -> Result<(Policy, PolicyText), ConfigError> {
        let (text, exposed) = self.found()?;
        match text.parse() {
            Ok(policy) if exposed.is_empty() => Ok((policy, text)),
            Ok(_) => Err(ConfigError::new(text.file, exposed, 0)),
            Err(why) => Err(why.and(exposed)),
        }
    }

    /// Reads the current file. Returns its text, and the ways in which other users could have written it.
    fn found(&self) -> Result<(PolicyText, Vec<Problem>), ConfigError> {
        let file: Arc<str> = self.path.to_string_lossy().into();
        let found = file::read(&self.absolute);
        let Found { bytes, ground, exposed } = found.map_err(|problems| ConfigError::new(file.clone(), problems, 0))?;
        Ok((PolicyText { file, home: self.home.clone(), bytes, ground, meant: OnceLock::new() }, exposed))
    }
}

/// Returns the absolute form of `path`. Each `..` at its start leads up from the current directory itself, as the
/// system reads it. The name of that directory is not on the way, so nobody moves the file by replacing the directory.
fn from_here(path: &Path) -> io::Result<PathBuf> {
    if path.is_absolute() || path.as_os_str().is_empty() {
        return std::path::absolute(path);
    }
    let (mut here, mut rest) = (std::env::current_dir()?, path.components());
    while let Some(part @ (Component::CurDir | Component::ParentDir)) = rest.clone().next() {
        if part == Component::ParentDir {
            here.pop();
        }
        rest.next();
    }
    std::path::absolute(here.join(rest.as_path()))
}

/// Returns the home directory. This is the only place where this module reads the environment.
fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

impl PolicyText {
    /// Parses the text, and pins every path in it to the object it leads to now.
    ///
    /// This is for the start of an engine: a line that does not agree with the disk is an error like any other. Once
    /// the text has been parsed, parsing it again treats it like a reload ([`Policy::left_out`]).
    ///
    /// # Errors
    ///
    /// All problems of the text.
    pub fn parse(&self) -> Result<Policy, ConfigError> {
        let (policy, before) = document::policy(self, self.meant.get(), resolve_paths::look)?;
        // The first parse sets the baseline: the watcher of the file compares with it.
        let _known = self.meant.set(before);
        Ok(policy)
    }

    /// Returns the number of `[[test]]` tables that were run when the text was parsed.
    pub fn tests(&self) -> usize {
        self.meant.get().map_or(0, |before| before.tests)
    }

    /// Parses the text as a change of `before`, and updates `before` to the new baseline. Without a baseline, it is
    /// parsed as at the start of an engine.
    ///
    /// # Errors
    ///
    /// All problems of the text itself.
    pub(super) fn parse_after(&self, before: &mut Option<Baseline>) -> Result<Policy, ConfigError> {
        let (policy, now) = document::policy(self, before.as_ref(), resolve_paths::look)?;
        *before = Some(now);
        Ok(policy)
    }

    /// Returns the baseline of the first parse, if the text was parsed.
    pub(super) fn meant(self) -> Option<Baseline> {
        self.meant.into_inner()
    }
}
