//! Commands in real children: what they can do, and what they cannot.

mod agents;
mod events;
mod files;
pub(crate) mod ground;
mod kernel;
mod network;
mod processes;
mod profiles;
mod refusing;
mod shaking;
mod streams;
mod walls;
