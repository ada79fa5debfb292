//! A policy file and the watch on it, fitted together.

use tokio::sync::mpsc;

use super::{
    config::{ConfigError, PolicyFile, PolicyText},
    watch::{self, Change},
};
use crate::model::Policy;

/// What happened to a watched policy file.
pub type PolicyChange = Change<Policy, ConfigError>;

impl PolicyFile {
    /// Tells whenever this file, last read as `seen`, holds something else, until the receiver is dropped.
    ///
    /// Every way of saving counts: in place, by rename, through links that are turned. Bursts are told as one
    /// change, the same content is none, and what happened since `seen` was read is not lost. A file that is gone
    /// or wrong is told once, as [`Change::Rejected`]; keep what was loaded last. A line that the disk does not agree
    /// with is left out of the policy and named in it ([`Policy::left_out`]); a path means what it led to when it was
    /// first taken, also if a link is turned. Call it within a tokio runtime whose time is enabled.
    ///
    /// ```no_run
    /// # #[tokio::main] async fn main() -> Result<(), bestow::ConfigError> {
    /// let file = bestow::PolicyFile::new("agents.toml");
    /// let text = file.read()?;
    /// let policy = text.parse()?;
    /// let mut changes = file.watch(text);
    /// while let Some(change) = changes.recv().await {
    ///     match change {
    ///         bestow::Change::Loaded(policy) => println!("{} agents", policy.agents.len()),
    ///         bestow::Change::Rejected(error) => eprintln!("{error}"),
    ///         bestow::Change::Polling { why } => eprintln!("{why}"),
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn watch(&self, seen: PolicyText) -> mpsc::Receiver<PolicyChange> {
        let file = self.clone();
        // What is wrong with it, whoever calls this has heard, or will hear with the first change.
        let _parsed = seen.parse();
        let mut meant = seen.clone().meant();
        let understand = move |text: &PolicyText| text.parse_after(&mut meant);
        watch::watch(self.absolute().to_owned(), seen, move || file.read(), understand)
    }
}
