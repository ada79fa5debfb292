//! What bestow does, told by tests: a module for each part, a sentence for each behaviour.

mod config;
mod fs;
mod watch;
