//! The command line of bestow, the agent-to-agent permission grant engine.
//!
//! It decides nothing: every answer is the library's. The library half of this package is for programs that carry the same
//! command line under another name; it has one function, [`main`].

#![forbid(unsafe_code)]

mod arguments;
mod audit;
mod classify;
mod command;
mod decide;
mod end;
mod events;
mod keep;
mod lines;
mod near;
mod path;
mod signals;
mod state;
mod tasks;
mod tools;

use std::process::ExitCode;

use arguments::{Asked, HELP};
use end::End;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    if let Some(code) = bestow::sandbox::enter_if_asked() {
        return code;
    }
    let end = Asked::parse(std::env::args_os().skip(1)).map_or_else(End::usage, carry_out);
    end.told()
}

fn carry_out(asked: Asked) -> End {
    match asked {
        Asked::Help => End::said(HELP),
        Asked::Version => End::said(concat!("bestow ", env!("CARGO_PKG_VERSION"), "\n")),
        Asked::Check(asked) => decide::check(&asked),
        Asked::Explain(asked) => decide::explain(&asked),
        Asked::CheckConfig(file) => decide::check_config(file),
        Asked::Protected(config) => decide::protected(config),
        Asked::Classify(asked) => classify::classify(&asked),
        Asked::Exec(asked) => command::exec(asked),
        Asked::Profile(asked, format) => command::profile(&asked, format),
        Asked::Audit(asked) => audit::audit(&asked),
        Asked::Keep(asked) => keep::keep(&asked),
        Asked::Order(asked) => state::order(&asked),
        Asked::Tools(config) => tools::list(config),
        Asked::Tasks(config, work) => tasks::work(&config, &work),
        Asked::Request(said, wait) => events::request(&said.tags, &said.reason, wait),
        Asked::Grant(said, to) => events::grant(&to, &said.tags, &said.reason),
        Asked::Events => events::relay(),
        Asked::Path => path::answer_lines(std::io::stdin().lock(), std::io::stdout().lock()),
    }
}
