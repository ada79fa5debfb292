//! Paths on disk: resolving, opening, and being attacked while doing it.

mod cases;
mod circumstances;
mod clock;
mod opening;
mod oracles;
mod process;
mod races;
mod resolving;
mod tools;
mod world;

/// Each test of a behaviour runs over both ways of opening.
const BOTH: [bestow::fs::Backend; 2] = [bestow::fs::Backend::Openat2, bestow::fs::Backend::Walk];
