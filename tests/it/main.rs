//! One integration crate: a file per behaviour, names as sentences.

mod command;
