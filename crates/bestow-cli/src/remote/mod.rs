//! A running server that a command asks: its address, the token for it, and the connection to it.

mod connect;
mod settings;

pub(crate) use connect::{MOST_HEADERS, connect};
pub(crate) use settings::{Server, Source, at_most};
