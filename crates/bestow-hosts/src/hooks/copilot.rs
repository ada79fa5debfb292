//! The form of GitHub Copilot CLI (its documentation of 2026, `copilot/reference/copilot-cli-reference/
//! cli-hooks-reference`): `preToolUse`, `sessionStart` and `sessionEnd` with names in camel case, and the same events
//! in Pascal case with names of Claude Code.

use bestow::text::StrictJson;
use serde_json::{Value, json};

use super::{
    claude::{asks, session_of},
    event::{About, Event, Mistake, Question},
    input::{CLAUDE, Fields, Names},
    output::{Output, told},
};

/// The names of the form in camel case. The hook is not told which subagent calls.
const CAMEL: Names = Names { session: "sessionId", agent: "agentId", kind: "agentType" };

/// The fields of the begin of a session, in camel case.
const BEGIN: [&str; 5] = ["sessionId", "timestamp", "cwd", "source", "initialPrompt"];

/// The fields of the end of a session, in camel case.
const END: [&str; 4] = ["sessionId", "timestamp", "cwd", "reason"];

/// Reads what Copilot CLI sends. The form in camel case does not name its event: a call has `toolName` and no result,
/// and the begin and the end of a session have their fields and no other.
pub(super) fn read(text: &[u8]) -> Result<Event, Mistake> {
    let mut fields = Fields::of(text)?;
    if let Some(event) = fields.text("hook_event_name")? {
        return match event {
            "PreToolUse" => asks(&mut fields, About::Call),
            "SessionStart" => Ok(Event::Begins(session_of(&fields)?)),
            "SessionEnd" => Ok(Event::Ends(fields.parsed(CLAUDE.session)?, None)),
            _ => Err(unknown(&fields)),
        };
    }
    if fields.has("source") && fields.has_only(&BEGIN) {
        return Ok(Event::Begins(fields.caller(&CAMEL)?));
    }
    if fields.has("reason") && fields.has_only(&END) {
        return Ok(Event::Ends(fields.parsed(CAMEL.session)?, None));
    }
    let is_over = fields.has("toolResult") || fields.has("error");
    if is_over || !(fields.has("toolName") || fields.has("toolArgs")) {
        return Err(unknown(&fields));
    }
    fields.about = Some(About::Call);
    let (caller, tool) = (fields.caller(&CAMEL)?, fields.parsed("toolName")?);
    let input = arguments(&fields)?;
    Ok(Event::Asks(Box::new(Question { about: About::Call, caller, tool, input, is_planning: false })))
}

/// Refuses everything else: Copilot CLI takes silence as permission.
fn unknown(fields: &Fields) -> Mistake {
    fields.mistake(
        "it is none of the events of this hook: name `bestow hook copilot` under `preToolUse`, `sessionStart` and \
         `sessionEnd` alone",
    )
}

/// Returns the arguments of the tool: an object, or the text of one.
fn arguments(fields: &Fields) -> Result<Value, Mistake> {
    let Some(Value::String(text)) = fields.value("toolArgs") else { return fields.object("toolArgs") };
    let StrictJson(value) =
        StrictJson::read(text.as_bytes()).map_err(|why| fields.mistake(format!("`toolArgs` is not JSON: {why}")))?;
    if value.is_object() { Ok(value) } else { Err(fields.mistake("`toolArgs` is an object")) }
}

pub(super) fn allow(reason: &str, words: Option<&str>) -> Output {
    Output::of(&match words {
        None => call("allow", reason),
        Some(words) => json!({
            "permissionDecision": "allow",
            "permissionDecisionReason": told(reason),
            "additionalContext": told(words),
        }),
    })
}

/// Blocks a call. Copilot CLI passes over a hook with another exit code than 0, and the call goes on.
pub(super) fn deny(reason: &str) -> Output {
    Output::of(&call("deny", reason))
}

fn call(decision: &str, reason: &str) -> Value {
    json!({ "permissionDecision": decision, "permissionDecisionReason": told(reason) })
}
