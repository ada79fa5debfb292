//! Small languages inside arguments: read as far as the question needs.

pub(super) mod awk;
pub(super) mod find;
pub(super) mod sed;
pub(super) mod sql;
mod sql_words;
pub(super) mod stream;
