//! The form of Gemini CLI (its documentation of October 2026, `docs/hooks/reference.md`).

use serde_json::json;

use super::{
    claude::{asks, session_of},
    event::{About, Event, Mistake},
    input::{CLAUDE, Fields},
    output::{Output, told},
};

/// Reads what Gemini CLI sends.
pub(super) fn read(text: &[u8]) -> Result<Event, Mistake> {
    let mut fields = Fields::of(text)?;
    match fields.required("hook_event_name")? {
        "BeforeTool" => asks(&mut fields, About::Call),
        "SessionStart" => Ok(Event::Begins(session_of(&fields)?)),
        "SessionEnd" => Ok(Event::Ends(fields.parsed(CLAUDE.session)?, None)),
        _ => fields.other(),
    }
}

/// Lets a call happen. The rules of Gemini CLI still apply.
pub(super) fn allow() -> Output {
    Output::of(&json!({ "decision": "allow" }))
}

pub(super) fn deny(reason: &str) -> Output {
    Output::blocking(&json!({ "decision": "deny", "reason": told(reason) }), reason)
}
