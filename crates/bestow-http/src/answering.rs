//! The input that a person approves instead of the requested one.

use axum::http::StatusCode;
use bestow::{
    Action, Answer,
    action::ActionFacts,
    request::Request,
    text::{StrictJson, is_shown_whole},
};
use serde_json::{Map, Value, json};

use crate::problem::Problem;

/// The fields that can contain a command.
const COMMAND_FIELDS: [&str; 2] = ["command", "input"];

/// An input, as it arrives.
#[derive(Clone, Debug)]
pub(crate) enum Modified<'a> {
    /// A whole input as JSON, or the text of a command.
    Text(&'a str),
    /// A whole input.
    Whole(Map<String, Value>),
}

/// Adds the modified input to the answer to a request.
pub(crate) fn with_modified(
    answer: Answer,
    is_approval: bool,
    request: &Request,
    modified: Option<Modified<'_>>,
) -> Result<Answer, Problem> {
    let Some(modified) = modified else { return Ok(answer) };
    let asked = request.action.as_deref().filter(|_| is_approval && request.asks_about_action());
    let asked = asked.ok_or_else(|| {
        bad("`modifiedInput` belongs to the approval of a tool call: not to a rejection, nor to permissions")
    })?;
    Ok(answer.instead(changed(asked, modified)?))
}

fn changed(action: &ActionFacts, modified: Modified<'_>) -> Result<Action, Problem> {
    let input = match modified {
        // The agent named a path, a command or a host, and no input of a tool.
        Modified::Text(text) if action.details.is_none() => {
            refuse_hidden(&Value::from(text))?;
            return Ok(Action::new(action.operation, text).by_tool(action.tool.clone()));
        }
        Modified::Whole(input) => Value::Object(input),
        Modified::Text(text) if text.trim_start().starts_with('{') => {
            let StrictJson(whole) = StrictJson::read(text.as_bytes())
                .map_err(|why| bad(format!("`modifiedInput` is not a valid JSON object: {why}")))?;
            whole
        }
        Modified::Text(text) => with_command(action, text).ok_or_else(|| {
            bad("`modifiedInput` is the whole input as a JSON object: the input of this call is more than a command")
        })?,
    };
    refuse_hidden(&input)?;
    Ok(Action::tool(action.tool.clone(), input.clone()).with_details(input))
}

/// Refuses an input that is not shown as it is. The agent gets the input as it is shown, and it has to be the approved
/// one.
fn refuse_hidden(input: &Value) -> Result<(), Problem> {
    if is_shown_whole(input) {
        return Ok(());
    }
    let detail = "`modifiedInput` has a secret, a mark of a redaction, or more text than is shown, so the agent \
                  could not be told this input: reject the call, with a remark";
    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_shown_whole", detail))
}

/// Returns the input of an action with another command, if the command is all of its input.
fn with_command(action: &ActionFacts, command: &str) -> Option<Value> {
    let shown = action.details.as_ref().filter(|details| details.left_out == 0)?;
    let input: Map<String, Value> = serde_json::from_str(&shown.shown).ok()?;
    let name = input.keys().next().filter(|name| input.len() == 1 && COMMAND_FIELDS.contains(&name.as_str()))?;
    Some(json!({ name.as_str(): command }))
}

fn bad(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail)
}
