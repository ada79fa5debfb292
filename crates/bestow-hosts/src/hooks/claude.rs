//! The form of Claude Code (documentation of August 2026, <https://code.claude.com/docs/en/hooks>).

use serde_json::{Value, json};

use super::{
    event::{About, Event, Mistake, Question},
    input::{CLAUDE, Fields},
    output::{Output, told},
};

/// Reads what Claude Code sends.
pub(super) fn read(text: &[u8]) -> Result<Event, Mistake> {
    let mut fields = Fields::of(text)?;
    match fields.required("hook_event_name")? {
        "PreToolUse" => asks(&mut fields, About::Call),
        "PermissionRequest" => asks(&mut fields, About::Prompt),
        _ => lifetime(&fields),
    }
}

/// Reads the begin or the end of a session or subagent. Every other event is no call, or a mistake.
pub(super) fn lifetime(fields: &Fields) -> Result<Event, Mistake> {
    match fields.required("hook_event_name")? {
        "SessionStart" => Ok(Event::Begins(session_of(fields)?)),
        "SessionEnd" => Ok(Event::Ends(fields.parsed(CLAUDE.session)?, None)),
        "SubagentStart" => Ok(Event::Begins(subagent_of(fields)?)),
        "SubagentStop" => {
            let ended = subagent_of(fields)?;
            Ok(Event::Ends(ended.session, ended.subagent.map(|subagent| subagent.id)))
        }
        _ => fields.other(),
    }
}

/// Reads a question about a call.
pub(super) fn asks(fields: &mut Fields, about: About) -> Result<Event, Mistake> {
    fields.about = Some(about);
    let (caller, tool) = (fields.caller(&CLAUDE)?, fields.parsed("tool_name")?);
    let input = fields.object("tool_input")?;
    let is_planning = fields.text("permission_mode")? == Some("plan");
    Ok(Event::Asks(Box::new(Question { about, caller, tool, input, is_planning })))
}

pub(super) fn session_of(fields: &Fields) -> Result<crate::Caller, Mistake> {
    Ok(crate::Caller { subagent: None, ..fields.caller(&CLAUDE)? })
}

fn subagent_of(fields: &Fields) -> Result<crate::Caller, Mistake> {
    fields.required(CLAUDE.agent)?;
    fields.caller(&CLAUDE)
}

pub(super) fn allow(about: About, reason: &str, words: Option<&str>) -> Output {
    match about {
        About::Call => Output::of(&match words {
            None => call("allow", reason),
            Some(words) => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "permissionDecisionReason": told(reason),
                "additionalContext": told(words),
            } }),
        }),
        About::Prompt => Output::of(&prompt(&json!({ "behavior": "allow" }))),
    }
}

/// Blocks a call. Claude Code passes over the exit code where it asks about a prompt, and would then not read the
/// object.
pub(super) fn deny(about: About, reason: &str) -> Output {
    match about {
        About::Call => Output::blocking(&call("deny", reason), reason),
        About::Prompt => Output::of(&prompt(&json!({ "behavior": "deny", "message": told(reason) }))),
    }
}

/// Shows a prompt to the person at the terminal.
pub(super) fn ask(reason: &str) -> Output {
    Output::of(&call("ask", reason))
}

/// Calls the tool with another input.
pub(super) fn change(about: About, input: &Value) -> Output {
    match about {
        About::Call => Output::of(&json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "the approver changed the input",
            "updatedInput": input,
        } })),
        About::Prompt => Output::of(&prompt(&json!({ "behavior": "allow", "updatedInput": input }))),
    }
}

pub(super) fn call(decision: &str, reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": told(reason),
    } })
}

pub(super) fn prompt(decision: &Value) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } })
}
