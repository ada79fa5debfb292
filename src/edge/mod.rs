//! The outside. Edges do not name each other; what fits two of them together stands here.

pub(crate) mod config;
pub(crate) mod watch;
