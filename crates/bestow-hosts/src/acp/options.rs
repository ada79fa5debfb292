//! The settings of a wrapper.

use std::time::Duration;

/// The fate of a request that no person answers through the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the editor answers, or no person does")]
pub enum Otherwise {
    /// The editor is asked, as without the wrapper.
    Editor,
    /// The request is refused. It goes on waiting in the engine, for the next try.
    Deny,
}

/// The settings of a [`Wrapper`](super::Wrapper).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WrapOptions {
    /// The fate of a request that no person answers through the engine.
    pub unanswered: Otherwise,
    /// The longest time that a request waits for a person who attends the engine.
    pub hold: Duration,
    /// True if an approval may choose an option that allows a call always, where the agent offers none that allows it
    /// once. The agent then asks no more about such calls, so the engine decides about none of them.
    pub allow_always: bool,
}

impl Default for WrapOptions {
    fn default() -> WrapOptions {
        WrapOptions { unanswered: Otherwise::Editor, hold: Duration::from_secs(60), allow_always: false }
    }
}
