//! What the engine does, told by the names of its tests.

mod config;
mod watch;
