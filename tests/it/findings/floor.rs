//! What no engine gives up: protected paths, sensitive names, and what a right is anchored to.

mod anchors;
mod names;
mod proc;
mod protected;
#[cfg(all(feature = "cli", feature = "sandbox"))]
mod sandbox;
