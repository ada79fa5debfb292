//! The form of Codex (its source of October 2026, `codex-rs/hooks/src/engine/output_parser.rs`). It resembles that of
//! Claude Code, but an answer that Codex does not support is a failure of the hook, and the call goes on.

use serde_json::json;

use super::{
    claude::{self, asks},
    event::{About, Event, Mistake},
    input::Fields,
    output::{Output, told},
};

/// Reads what Codex sends.
pub(super) fn read(text: &[u8]) -> Result<Event, Mistake> {
    let mut fields = Fields::of(text)?;
    match fields.required("hook_event_name")? {
        "PreToolUse" => asks(&mut fields, About::Call),
        "PermissionRequest" => asks(&mut fields, About::Prompt),
        _ => claude::lifetime(&fields),
    }
}

/// Lets a call happen. Before a call, Codex takes an `allow` without a new input as a failure, so the answer has words
/// for the model alone, or nothing.
pub(super) fn allow(about: About, words: Option<&str>) -> Output {
    match about {
        About::Call => words.map_or_else(Output::of_nothing, |words| {
            let context = json!({ "hookEventName": "PreToolUse", "additionalContext": told(words) });
            Output::of(&json!({ "hookSpecificOutput": context }))
        }),
        About::Prompt => Output::of(&claude::prompt(&json!({ "behavior": "allow" }))),
    }
}

/// Blocks a call. Codex takes the exit code in both places.
pub(super) fn deny(about: About, reason: &str) -> Output {
    match about {
        About::Call => Output::blocking(&claude::call("deny", reason), reason),
        About::Prompt => {
            Output::blocking(&claude::prompt(&json!({ "behavior": "deny", "message": told(reason) })), reason)
        }
    }
}
