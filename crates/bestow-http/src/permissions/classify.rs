//! `POST /api/hooks/classify`: may an agent call a tool with this input now?

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{
    Action, Agent,
    action::Authorization,
    command::Tier,
    decision::{Decision, DecisionFields},
    request::{Resolution, Ticket},
    tool::ToolName,
};
use bestow_hosts::{Judged, Unanswered, approver_remark, judged};
use serde::Serialize;
use serde_json::{Value, json};

use super::item;
use crate::{
    body::Fields,
    desk::Desk,
    identity::{Caller, Entrance},
    problem::Problem,
    shown,
};

/// The longest time that a call waits for a person, in milliseconds. Hooks give up after ten seconds.
const LONGEST_WAIT: u64 = 9_000;

/// The answer about one tool call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    allow: bool,
    tier: Tier,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The input to call the tool with instead, when a person or a hook changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Value>,
    /// The remark of the person who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// The eight fields of the decision. A host could take a field `decision` of its own for an order.
    decision_fields: DecisionFields,
}

/// A tool call, as a hook describes it.
struct Call {
    tool: ToolName,
    input: Value,
    wait: Duration,
}

/// Answers about a tool call of the agent whose credential the request has. Every error means no.
pub(super) async fn classify(State(entrance): State<Arc<Entrance>>, request: Request) -> Response {
    match classified(&entrance, request).await {
        Ok(answer) => Json(answer).into_response(),
        Err(problem) => problem.with(json!({ "allow": false, "reason": problem.detail })),
    }
}

async fn classified(entrance: &Entrance, request: Request) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let caller = entrance.caller(&parts)?;
    let agent = caller.agent()?;
    let fields = entrance.object(&caller, &parts.headers, body).await?;
    let call = read(&caller, &agent, fields)?;
    answer(entrance, &caller, &agent, call).await
}

fn read(caller: &Caller, agent: &Agent, mut fields: Fields) -> Result<Call, Problem> {
    let tool = fields.required("toolName")?;
    let input = fields.object("toolInput")?;
    let wait = Duration::from_millis(fields.number("waitMs", LONGEST_WAIT)?.unwrap_or(0));
    let profile = agent.profile()?;
    for (name, own) in [("agentId", agent.id().as_str()), ("userId", profile.owner.as_str())] {
        if fields.text(name)?.is_some_and(|said| said != own) {
            let id = caller.credential().id.as_str();
            return Err(Problem::forbidden(&format!("the credential {id} belongs to another `{name}`")));
        }
    }
    // Hosts send more about a call than this dialect asks for.
    fields.no_misspelling()?;
    let tool = tool.parse().map_err(|why| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_body", format!("`toolName` is not the name of a tool: {why}"))
    })?;
    Ok(Call { tool, input, wait })
}

async fn answer(entrance: &Entrance, caller: &Caller, agent: &Agent, call: Call) -> Result<Answer, Problem> {
    let Call { tool, input, wait } = call;
    let action = Action::tool(tool, input.clone()).with_details(input);
    let desk = Desk { entrance, caller };
    Ok(match judged(&desk, agent, &action, wait, Unanswered::Leave).await? {
        Judged::Settled(settled) => {
            let feedback = approver_remark(agent, settled.decision());
            Answer { feedback, ..of_settled(settled) }
        }
        Judged::Waits(decision, ticket) => queued(&decision, &ticket),
        Judged::NotGranted(decision, resolution) => not_granted(&decision, &resolution),
        Judged::Changed(decision, resolution) => changed(&decision, &resolution),
    })
}

impl Answer {
    fn of(decision: &Decision, allow: bool, reason: String) -> Answer {
        let tier = decision.action.tier;
        let decision_fields = decision.fields();
        Answer { allow, tier, reason, request_id: None, updated_input: None, feedback: None, decision_fields }
    }

    fn blocked(decision: &Decision, why: &str) -> Answer {
        Answer::of(decision, false, format!("Blocked: {why}"))
    }
}

/// Returns the answer to a decision that waits for nobody.
fn of_settled(settled: Authorization) -> Answer {
    match settled {
        Authorization::Allowed(decision) => Answer::of(&decision, true, decision.full_reason()),
        Authorization::Denied(decision) => Answer::blocked(&decision, &decision.full_reason()),
        Authorization::Confined(decision, _) => Answer::blocked(
            &decision,
            "the call may happen only inside a sandbox: run it with `bestow exec`, which applies one",
        ),
        Authorization::Updated(decision, _) => {
            Answer::blocked(&decision, "a hook of the host program changed the input: the tool was not called")
        }
        Authorization::Asked(decision, ticket) => queued(&decision, &ticket),
    }
}

fn queued(decision: &Decision, ticket: &Ticket) -> Answer {
    let reason = format!("Queued for approval: {}", decision.full_reason());
    Answer { request_id: Some(item::id_of_a_call(ticket.id())), ..Answer::of(decision, false, reason) }
}

fn not_granted(decision: &Decision, resolution: &Resolution) -> Answer {
    answered(decision, resolution, &resolution.to_string())
}

/// Returns the answer for an input that the approver changed. The approval is for the changed input, so the described
/// call may not happen.
fn changed(decision: &Decision, resolution: &Resolution) -> Answer {
    let why = "the approver changed the input: call the tool with `updatedInput`";
    let updated_input = resolution.updated_input.as_deref().map(shown::tool_input);
    Answer { updated_input, ..answered(decision, resolution, why) }
}

/// Returns the answer for a call that a person did not approve as it is.
fn answered(decision: &Decision, resolution: &Resolution, why: &str) -> Answer {
    let feedback = resolution.feedback.as_ref().map(ToString::to_string);
    let request_id = Some(item::id_of_a_call(resolution.request));
    Answer { request_id, feedback, ..Answer::blocked(decision, why) }
}
