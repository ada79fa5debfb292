//! Paths on disk: resolving, opening, and being attacked while doing it.

mod cases;
mod clock;
mod races;
mod world;

/// Each test of a behaviour runs over both ways of opening.
const BOTH: [bestow::fs::Backend; 2] = [bestow::fs::Backend::Openat2, bestow::fs::Backend::Walk];
