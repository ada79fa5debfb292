//! `bestow watch`: the requests that wait, in a terminal, and the answers of a person.
//!
//! `inbox` holds what is shown, and `press` decides what a key does. `view` and `card` draw it. None of them reads a
//! clock, a key or a socket: `run` does, and passes the values in.

mod card;
mod entry;
mod field;
mod inbox;
mod keys;
mod leads;
mod plain;
mod press;
mod run;
mod screen;
mod send;
mod style;
mod view;
mod words;

use std::io::{IsTerminal as _, stdout};

use crate::{args::WatchArgs, exit::Exit, state};

/// Shows the requests in the terminal, or prints them where there is none.
pub(crate) fn watch(args: &WatchArgs) -> Result<Exit, Exit> {
    state::require(&args.state)?;
    let can_draw = std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb");
    if stdout().is_terminal() && can_draw { run::run(args) } else { plain::print(&args.state) }
}
