//! What bestow does, told by tests: a module for each part, a sentence for each behaviour.

mod engine;
mod fs;
