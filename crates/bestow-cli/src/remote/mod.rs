//! A running server that a command asks: its address, the token for it, and the connection to it.

mod connect;
mod holder;
mod peer;
mod post;
mod sessions;
mod settings;

pub(crate) use connect::{MOST_HEADERS, Stream, connect};
pub(crate) use holder::holder;
pub(crate) use post::{get, post};
pub(crate) use sessions::RemoteSessions;
pub(crate) use settings::{Server, Source, at_most};
