//! Tests of commands in real child processes: their abilities and their limits.

mod agents;
mod events;
mod exploits;
mod files;
pub(crate) mod ground;
mod guarding;
mod kernel;
mod limits;
mod litter;
mod network;
mod overlapping;
mod processes;
mod profiles;
mod racing;
mod refusing;
mod shaking;
mod streams;
mod versions;
mod walls;
