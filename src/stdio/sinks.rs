//! The receivers of a bot's output, in the host program.

use std::sync::Arc;

/// The receiver of the lines of a bot's standard error.
pub(crate) type TextSink = Box<dyn FnMut(&str) + Send>;

/// The receiver of what an agent says to its own user.
pub(super) type Speech = Arc<dyn Fn(&str) + Send + Sync>;
