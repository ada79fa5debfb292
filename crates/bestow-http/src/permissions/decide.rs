//! `GET` and `POST /api/permissions`: the requests that wait, and the answers to them.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Query, Request, State, rejection::QueryRejection},
    http::StatusCode,
};
use bestow::{
    Answer, Approver, Error,
    decision::Refusal,
    grant::Scope,
    request::{Pending, RequestId},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::item::{self, Item};
use crate::{
    answering::{self, Modified},
    body::{self, Fields},
    identity::{Caller, Entrance},
    problem::Problem,
};

/// The filter of a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Filter {
    agent_id: Option<String>,
}

/// Lists the requests that wait for an answer of the caller.
pub(super) async fn list(
    State(_): State<Arc<Entrance>>,
    caller: Caller,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let approver = caller.approver()?;
    let Query(filter) =
        filter.map_err(|why| Problem::new(StatusCode::BAD_REQUEST, "invalid_query", why.body_text()))?;
    let pending = approver.pending()?;
    let wanted = |pending: &&Pending| filter.agent_id.as_deref().is_none_or(|id| pending.request.from.as_str() == id);
    let items: Vec<_> = pending.iter().filter(wanted).map(|pending| Item::of(&pending.request)).collect();
    let message = match items.len() {
        0 => "No request waits for an answer.".to_owned(),
        1 => "1 request waits for an answer.".to_owned(),
        count => format!("{count} requests wait for an answer."),
    };
    Ok(Json(json!({ "pending": items, "message": message })))
}

/// The decision of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Decision {
    Approve,
    Reject,
    ApproveAlways,
}

impl Decision {
    pub(super) fn parse(text: &str) -> Result<Decision, Problem> {
        match text {
            "approve" => Ok(Decision::Approve),
            "reject" => Ok(Decision::Reject),
            "approve_always" => Ok(Decision::ApproveAlways),
            _ => Err(bad("invalid decision value: it must be one of approve, reject, approve_always")),
        }
    }
}

impl Decision {
    /// Returns how long an approval is valid. A rejection has no scope.
    pub(super) fn scope(self) -> Option<Scope> {
        match self {
            Decision::Approve => Some(Scope::Once),
            Decision::ApproveAlways => Some(Scope::Always),
            Decision::Reject => None,
        }
    }
}

/// A decision about one request, as it arrives.
pub(crate) struct Submitted {
    pub(crate) request: String,
    pub(super) decision: Decision,
    pub(super) feedback: Option<String>,
    pub(super) modified_input: Option<String>,
    /// The owner that the client names. It must be the owner of its credential.
    owner: Option<String>,
}

impl Submitted {
    /// Reads the fields of a decision.
    pub(super) fn read(mut fields: Fields) -> Result<Submitted, Problem> {
        let submitted = Submitted {
            request: fields.required("requestId")?,
            decision: Decision::parse(&fields.required("decision")?)?,
            feedback: fields.text("feedback")?.filter(|text| !text.is_empty()),
            modified_input: modified(&mut fields)?,
            owner: fields.text("userId")?,
        };
        fields.nothing_else()?;
        Ok(submitted)
    }
}

/// Returns the changed input. An empty text is refused: it would approve a command that does nothing.
fn modified(fields: &mut Fields) -> Result<Option<String>, Problem> {
    match fields.text("modifiedInput")? {
        Some(text) if text.trim().is_empty() => Err(bad("`modifiedInput` is empty: leave it out to approve the input")),
        modified => Ok(modified),
    }
}

/// Answers a request.
pub(super) async fn decide(State(entrance): State<Arc<Entrance>>, request: Request) -> Result<Json<Value>, Problem> {
    let (parts, body) = request.into_parts();
    let caller = entrance.caller(&parts)?;
    caller.approver()?;
    let submitted = Submitted::read(entrance.object(&caller, &parts.headers, body).await?)?;
    let tier = apply(&entrance, &caller, &submitted).await?;
    let Submitted { request, decision, .. } = submitted;
    let mut answered = json!({ "success": true, "requestId": request, "decision": decision, "tier": tier });
    if let (Some(scope), Value::Object(fields)) = (decision.scope(), &mut answered) {
        fields.insert("scope".to_owned(), json!(scope));
    }
    Ok(Json(answered))
}

/// Answers a request with the authority of the caller. When this returns, the answer is in force. Returns the tier of
/// the request.
pub(super) async fn apply(
    entrance: &Entrance,
    caller: &Caller,
    submitted: &Submitted,
) -> Result<bestow::command::Tier, Problem> {
    let approver = caller.approver()?;
    caller.refuse_other_owner(submitted.owner.as_deref())?;
    let (id, pending) = find(&approver, &submitted.request)?;
    let answer = match submitted.decision {
        Decision::Reject => Answer::deny(),
        Decision::Approve | Decision::ApproveAlways => Answer::allow(),
    };
    let answer = match submitted.decision.scope() {
        Some(scope) => answer.scope(scope),
        None => answer,
    };
    let modified = submitted.modified_input.as_deref().map(Modified::Text);
    let is_approval = submitted.decision != Decision::Reject;
    let answer = answering::with_modified(answer, is_approval, &pending.request, modified)?;
    let answer = match &submitted.feedback {
        Some(feedback) => {
            answer.feedback(feedback.parse().map_err(|why| bad(format!("`feedback` is not valid: {why}")))?)
        }
        None => answer,
    };
    let tier = item::tier(&pending.request);
    let answered = entrance.work(caller, async move { approver.answer(id, answer).await }).await?;
    answered.map_err(|why| not_answered(&submitted.request, why))?;
    Ok(tier)
}

/// Returns the pending request with this id. A settled request, an unknown one and one of another owner look the same.
fn find(approver: &Approver, text: &str) -> Result<(RequestId, Pending), Problem> {
    let id = item::parse_id(text).map_err(|_| unknown(text))?;
    approver.waiting(id)?.map(|pending| (id, pending)).ok_or_else(|| unknown(text))
}

/// Returns the problem of an answer that the engine does not accept. In this dialect, a request that has ended looks
/// like one that never was.
fn not_answered(request: &str, why: Error) -> Problem {
    if let Error::Refused(Refusal::AlreadyResolved(_)) = why { unknown(request) } else { why.into() }
}

fn unknown(request: &str) -> Problem {
    Problem::not_found(format!("no request {:?} waits for an answer", body::shortened(request)))
}

fn bad(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail)
}
