//! The answer about a call of a session or subagent.

use std::any::Any;

use async_trait::async_trait;
use bestow::{
    Action, Agent, Engine, Outcome,
    action::{ActionFacts, Authorization},
    decision::Decision,
    request::{Resolution, Route, Ticket},
};
use serde_json::Value;

use crate::{
    call::{Answer, Call, Unanswered},
    failure::Failure,
    judge::{Desk, Judged, ended, judged},
    member::Member,
    place::directory,
};

/// The engine of this process, on the calling task.
pub(crate) struct Here<'e>(pub(crate) &'e Engine);

#[async_trait]
impl Desk for Here<'_> {
    type Error = Failure;

    async fn authorize(&self, agent: &Agent, action: &Action, _: Unanswered) -> Result<Authorization, Failure> {
        Ok(agent.authorize(action.clone()).await?)
    }

    async fn read<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        Ok(work())
    }

    fn place_to_wait(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(()))
    }

    fn is_worth_waiting(&self, ticket: &Ticket) -> bool {
        somebody_is_there(self.0, ticket)
    }
}

/// Returns true if a person can answer the request now: an approver attends, or a connector shows it.
pub fn somebody_is_there(engine: &Engine, ticket: &Ticket) -> bool {
    let pending = engine.pending().unwrap_or_default();
    pending.iter().any(|pending| pending.request.id == ticket.id() && pending.route != Route::Queue)
}

/// Answers about a call of a member.
///
/// # Errors
///
/// There is no answer. The call may not happen.
pub async fn answered<D: Desk<Error: From<Failure>>>(
    desk: &D,
    member: &Member,
    call: &Call,
) -> Result<Answer, D::Error> {
    let action = action(call, call.input.clone())?;
    let (limited, limited_action) = (member.clone(), action.clone());
    if let Some(limit) = desk.read(move || limited.limit_that_denies(&limited_action)).await?? {
        return denied_to_type(desk, &limit, &action).await;
    }
    match decided(desk, &member.agent, call, &action).await? {
        Judged::Settled(settled) => Ok(of_settled(&member.agent, &settled)),
        Judged::Waits(decision, ticket) => Ok(waits(&decision, &ticket)),
        // An equal call of the same agent shared the question, and has withdrawn it.
        Judged::NotGranted(decision, resolution)
            if resolution.outcome == Outcome::Cancelled && call.unanswered == Unanswered::Withdraw =>
        {
            Ok(Answer::Waits {
                id: resolution.request,
                code: resolution.request.code().to_string(),
                reason: decision.full_reason(),
            })
        }
        Judged::NotGranted(_, resolution) => Ok(Answer::Denied { reason: not_granted(&resolution) }),
        Judged::Changed(_, resolution) => changed(desk, &member.agent, call, &resolution).await,
    }
}

/// Denies an action that the type of a subagent may not do. The denial is recorded as that of the type.
async fn denied_to_type<D: Desk<Error: From<Failure>>>(
    desk: &D,
    limit: &Agent,
    action: &Action,
) -> Result<Answer, D::Error> {
    let authorization = desk.authorize(limit, action, Unanswered::Withdraw).await?;
    if let Authorization::Asked(_, ticket) = &authorization {
        // The rules have changed since then. Nobody waits for the answer.
        limit.cancel(ticket.id()).await.ok();
    }
    let why = authorization.decision().full_reason();
    Ok(Answer::Denied { reason: format!("the type of this subagent, `{}`, is denied it: {why}", limit.id()) })
}

/// Returns the action of a call with this input.
fn action(call: &Call, input: Value) -> Result<Action, Failure> {
    let action = Action::tool(call.tool.clone(), input.clone()).with_details(input);
    let action = match call.coding_agent {
        Some(agent) => action.by_coding_agent(agent),
        None => action,
    };
    Ok(action.in_directory(directory(&call.caller)?).in_shell(call.caller.shell))
}

/// Decides about a call. A question that nobody answered in time is withdrawn, if the call says so.
async fn decided<D: Desk<Error: From<Failure>>>(
    desk: &D,
    agent: &Agent,
    call: &Call,
    action: &Action,
) -> Result<Judged, D::Error> {
    let judged = judged(desk, agent, action, call.wait, call.unanswered).await?;
    let Judged::Waits(decision, ticket) = judged else { return Ok(judged) };
    if call.unanswered == Unanswered::Leave {
        return Ok(Judged::Waits(decision, ticket));
    }
    match (agent.cancel(ticket.id()).await, ticket.poll()) {
        (Ok(()), _) => Ok(Judged::Waits(decision, ticket)),
        // A person was faster.
        (Err(_), Some(resolution)) => {
            let judged = ended(desk, agent, action, decision, resolution).await?;
            if let Judged::Waits(_, again) = &judged {
                drop(agent.cancel(again.id()).await);
            }
            Ok(judged)
        }
        (Err(why), None) => Err(Failure::from(why).into()),
    }
}

/// Returns the answer for an input that a person changed.
async fn changed<D: Desk<Error: From<Failure>>>(
    desk: &D,
    agent: &Agent,
    call: &Call,
    resolution: &Resolution,
) -> Result<Answer, D::Error> {
    let Some(input) = changed_input(call, resolution) else { return Ok(cannot_change(resolution)) };
    if !call.can_replace_input {
        return Ok(Answer::Changed { input, reason: with_remark(CALL_AGAIN, resolution) });
    }
    let authorized = desk.authorize(agent, &action(call, input.clone())?, Unanswered::Leave).await?;
    if let Authorization::Asked(_, ticket) = authorized {
        // Nobody waits for the answer to this question.
        drop(agent.cancel(ticket.id()).await);
        return Ok(cannot_change(resolution));
    }
    Ok(match of_settled(agent, &authorized) {
        Answer::Allowed { reason, .. } => Answer::Changed { input, reason: with_remark(&reason, resolution) },
        denied @ (Answer::Changed { .. } | Answer::Denied { .. } | Answer::Waits { .. }) => denied,
    })
}

/// The reason for a call whose input a person changed, where the host cannot replace it.
const CALL_AGAIN: &str = "the approver changed the input: call the tool with the changed input";

fn waits(decision: &Decision, ticket: &Ticket) -> Answer {
    Answer::Waits { id: ticket.id(), code: ticket.code().to_string(), reason: decision.full_reason() }
}

/// Returns the answer to a decision that waits for nobody.
fn of_settled(agent: &Agent, settled: &Authorization) -> Answer {
    let reason = match settled {
        Authorization::Allowed(decision) => {
            let feedback = approver_remark(agent, decision);
            let reason = match &feedback {
                Some(remark) => format!("{}; the approver's remark: {remark}", decision.full_reason()),
                None => decision.full_reason(),
            };
            return Answer::Allowed { reason, feedback };
        }
        Authorization::Confined(..) => {
            "the call may happen only inside a sandbox: run it with `bestow exec`, which applies one".to_owned()
        }
        Authorization::Updated(..) => {
            "a hook of the host program changed the input: the tool was not called".to_owned()
        }
        Authorization::Asked(decision, _) | Authorization::Denied(decision) => decision.full_reason(),
    };
    Answer::Denied { reason }
}

/// Returns the remark of the person whose approval let the action happen.
pub fn approver_remark(agent: &Agent, decision: &Decision) -> Option<String> {
    let approval = agent.ticket(decision.approval_action_id?).ok()?.poll()?;
    approval.feedback.as_ref().map(ToString::to_string)
}

fn not_granted(resolution: &Resolution) -> String {
    let why = match resolution.outcome {
        Outcome::Granted | Outcome::Denied => resolution.to_string(),
        Outcome::Expired | Outcome::Cancelled | Outcome::Unavailable => format!("not approved: {resolution}"),
    };
    with_remark(&why, resolution)
}

fn cannot_change(resolution: &Resolution) -> Answer {
    let why = "the approver changed the input, and the changed input cannot be used: ask again";
    Answer::Denied { reason: with_remark(why, resolution) }
}

fn with_remark(why: &str, resolution: &Resolution) -> String {
    match &resolution.feedback {
        Some(remark) if !why.contains(&remark.to_string()) => format!("{why}; the approver's remark: {remark}"),
        Some(_) | None => why.to_owned(),
    }
}

/// Returns the input that a person approved instead, if it is known in full and is for the same tool.
fn changed_input(call: &Call, resolution: &Resolution) -> Option<Value> {
    let facts: &ActionFacts = resolution.updated_input.as_deref().filter(|facts| facts.tool == call.tool)?;
    let details = facts.details.as_ref().filter(|details| details.left_out == 0)?;
    serde_json::from_str(&details.shown).ok()
}
