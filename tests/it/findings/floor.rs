//! Tests of the guarantees of every engine: protected paths, sensitive names, and the anchors of permissions.

mod anchors;
mod names;
mod proc;
mod protected;
#[cfg(all(feature = "cli", feature = "sandbox"))]
mod sandbox;
