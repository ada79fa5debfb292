//! The command that a person allows instead of the requested one.

use serde_json::{Map, Value, json};

use super::reply::NotDone;
use crate::{
    engine::Error,
    kernel::Explanation,
    model::{Action, ActionFacts, Escaped, Request, is_shown_whole},
};

use super::{Admin, Line};

/// The fields that can contain a command.
const COMMAND_FIELDS: [&str; 2] = ["command", "input"];

/// Returns the requested action with another command.
pub(super) fn changed(request: &Request, command: &str) -> Result<Action, NotDone> {
    let asked = request.action.as_deref().filter(|_| request.asks_about_action());
    let asked = asked.ok_or_else(|| refused("only an action can be changed, and this request asks for permissions"))?;
    if !is_shown_whole(&Value::from(command)) {
        return Err(refused("the command has a secret, or is too long to be shown: deny the request instead"));
    }
    let with_input = || with_command(asked, command).map(|input| (asked.tool.clone(), input));
    match &asked.details {
        None => Ok(Action::new(asked.operation, command).by_tool(asked.tool.clone())),
        Some(_) => {
            let (tool, input) = with_input().ok_or_else(|| {
                refused("the input of this call is more than a command: change it in the dashboard, or deny it")
            })?;
            Ok(Action::tool(tool, input.clone()).with_details(input))
        }
    }
}

/// Returns the decision about the changed action, for a person.
pub(super) fn judge(admin: &Admin, request: &Request, command: &str) -> Result<Vec<Line>, NotDone> {
    let action = changed(request, command)?;
    let explained: Result<Explanation, Error> = admin.explain(&request.from, &action);
    let decision = explained?.decision;
    let tier = decision.action.tier;
    let text = format!("{tier}: {}", Escaped(&decision.decision_reason));
    Ok(vec![Line::new(text, json!({ "tier": tier, "decision": decision.decision, "missing": decision.missing }))])
}

/// Returns the input of an action with another command, if the command is all of its input.
fn with_command(action: &ActionFacts, command: &str) -> Option<Value> {
    let shown = action.details.as_ref().filter(|details| details.left_out == 0)?;
    let input: Map<String, Value> = serde_json::from_str(&shown.shown).ok()?;
    let name = input.keys().next().filter(|name| input.len() == 1 && COMMAND_FIELDS.contains(&name.as_str()))?;
    Some(json!({ name.as_str(): command }))
}

fn refused(why: &str) -> NotDone {
    NotDone::Refused(why.to_owned())
}
