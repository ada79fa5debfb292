//! Tests that rules that allow cover their literal meaning only, and that a safe command obeys no file of an agent.

mod obeyed;
#[cfg(feature = "config")]
mod words;
