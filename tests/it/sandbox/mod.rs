//! Tests of commands in real child processes: their abilities and their limits.

mod agents;
mod events;
mod files;
pub(crate) mod ground;
mod kernel;
mod limits;
mod network;
mod processes;
mod profiles;
mod refusing;
mod shaking;
mod streams;
mod walls;
