//! `bestow hook`: the hooks of programs that run agents.
//!
//! A host may take a hook that fails, or that is too slow, as permission. So every failure becomes an answer here, also
//! a call of the system that does not return.

mod answer;
mod call;
mod host;
mod own;
mod pre_tool_use;
mod within;

use std::ffi::OsString;

use bestow_hosts::hooks::Host;

use crate::{args::HookPart, exit::Exit};

pub use pre_tool_use::{question, reply};
pub(crate) use within::within;

/// Answers as the hook that is named.
pub(crate) fn hook(part: HookPart) -> Exit {
    match part {
        HookPart::PreToolUse(args) => pre_tool_use::pre_tool_use(args),
        HookPart::Claude(args) => host::answer(Host::Claude, args),
        HookPart::Codex(args) => host::answer(Host::Codex, args),
        HookPart::Gemini(args) => host::answer(Host::Gemini, args),
        HookPart::Copilot(args) => host::answer(Host::Copilot, args),
    }
}

/// Prints the answer to a call of a hook with words that are not understood.
pub(crate) fn not_understood(words: &[OsString], why: &str) -> Exit {
    let named = Host::ALL.into_iter().find(|host| words.get(1).is_some_and(|word| word == host.as_str()));
    match named {
        Some(host) => host::not_understood(host, why),
        None => pre_tool_use::not_understood(why),
    }
}
