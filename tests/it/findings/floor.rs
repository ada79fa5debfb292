//! What no engine gives up: protected paths, sensitive names, and what a right is anchored to.

mod proc;
mod protected;
