//! Small languages inside arguments. Each is parsed only as far as the classifier needs.

pub(super) mod awk;
pub(super) mod filter;
pub(super) mod find;
pub(super) mod sed;
pub(super) mod sql;
mod sql_words;
pub(super) mod stream;
