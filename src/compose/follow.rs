//! The connection of a policy file with the watcher for it.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::model::Policy;
use crate::{
    config::{ConfigError, PolicyFile, PolicyText},
    watch::{self, Change},
};

/// A change of a watched policy file.
pub type PolicyChange = Change<Policy, ConfigError>;

/// A policy and the text that says it.
pub(super) type WithText = (Policy, Arc<str>);

impl PolicyFile {
    /// Watches this file, and reports each change of its content since `seen`, until the receiver is dropped.
    ///
    /// Every way of saving is detected: in place, by rename, or by retargeting links. A burst of changes is reported as
    /// one, and equal content is not reported. Changes since `seen` was read are not lost. A missing or wrong file is
    /// reported once, as [`Change::Rejected`]; keep the last loaded policy then. A line that does not match the disk is
    /// left out of the policy and listed in [`Policy::left_out`]. A path keeps the meaning it had when it was first
    /// loaded, also if a link is retargeted. Call this within a Tokio runtime with time enabled.
    ///
    /// ```no_run
    /// # #[tokio::main] async fn main() -> Result<(), bestow::policy::ConfigError> {
    /// let file = bestow::PolicyFile::new("agents.toml");
    /// let text = file.read()?;
    /// let policy = text.parse()?;
    /// let mut changes = file.watch(text);
    /// while let Some(change) = changes.recv().await {
    ///     match change {
    ///         bestow::policy::Change::Loaded(policy) => println!("{} agents", policy.agents.len()),
    ///         bestow::policy::Change::Rejected(error) => eprintln!("{error}"),
    ///         bestow::policy::Change::Polling { why } => eprintln!("{why}"),
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn watch(&self, seen: PolicyText) -> mpsc::Receiver<PolicyChange> {
        self.watch_for(seen, |_, policy| policy)
    }

    /// Watches this file as [`PolicyFile::watch`] does, and reports each policy with its text.
    pub(super) fn watch_with_text(&self, seen: PolicyText) -> mpsc::Receiver<Change<WithText, ConfigError>> {
        self.watch_for(seen, |text, policy| (policy, text.as_text()))
    }

    fn watch_for<T: Send + 'static>(
        &self,
        seen: PolicyText,
        made: impl Fn(&PolicyText, Policy) -> T + Send + 'static,
    ) -> mpsc::Receiver<Change<T, ConfigError>> {
        let file = self.clone();
        // The result is ignored: the caller knows the mistakes of this text, or gets them with the first change.
        let _parsed = seen.parse();
        let mut meant = seen.clone().meant();
        let understand = move |text: &PolicyText| text.parse_after(&mut meant).map(|policy| made(text, policy));
        watch::watch(self.absolute().to_owned(), seen, move || file.read(), understand)
    }
}
