//! `POST /v1/requests/ID/answer`: a person answers.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use bestow::{Answer, Error, Permission, grant::Scope, request::Request, text::Reason};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{named::unknown, view::RequestState};
use crate::{
    answering::{self, Modified},
    identity::Entrance,
    problem::Problem,
    v1::{
        input::{self, Named, Sent, there},
        sender::Person,
    },
};

/// The answer of a person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AnswerBody {
    decision: AnswerDecision,
    /// The scope: `once`, `session`, `always` or `until TIME`. Without it, an action is approved once, and permissions
    /// for the scope that the agent asks for.
    #[schema(value_type = Option<String>)]
    scope: Option<Scope>,
    /// The permissions to give, if not all of them. The others are denied.
    #[serde(default, deserialize_with = "there")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    permissions: Option<Vec<Permission>>,
    /// A remark to the agent.
    #[schema(value_type = Option<String>)]
    feedback: Option<Reason>,
    /// The input to approve instead: the whole input of the tool, or the text of the command.
    #[serde(default, deserialize_with = "there")]
    #[schema(nullable = false)]
    modified_input: Option<ModifiedInput>,
}

/// A decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum AnswerDecision {
    Allow,
    Deny,
}

/// An input that replaces the requested one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum ModifiedInput {
    Text(String),
    #[schema(value_type = Object)]
    Whole(Map<String, Value>),
}

/// Answers a request. When the reply arrives, the answer is in force.
#[utoipa::path(
    post, path = "/v1/requests/{request}/answer", tag = "requests", request_body = AnswerBody,
    params(("request" = String, Path, description = "The id of the request, or its short code.")),
    responses((status = 200, description = "The request, which has ended.", body = RequestState))
)]
pub(super) async fn answer(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, by }: Person,
    Named(named): Named<String>,
    Sent(body): Sent<AnswerBody>,
) -> Result<Json<RequestState>, Problem> {
    let pending = admin.waiting(&named).map_err(not_answered)?;
    let request = pending.request;
    let answer = body.answer(&request)?;
    let (id, approver) = (request.id, admin.approver(&request.owner, by));
    entrance.work(&caller, async move { approver.answer(id, answer).await }).await?.map_err(not_answered)?;
    let how = entrance.engine().resolution(id)?.ok_or_else(unknown)?;
    Ok(Json(RequestState::ended(&how)))
}

/// Returns the problem of a request that cannot be answered. One of another owner looks like one that never was.
fn not_answered(why: Error) -> Problem {
    let problem = Problem::from(why);
    if problem.status == StatusCode::NOT_FOUND { unknown() } else { problem }
}

impl AnswerBody {
    fn answer(self, request: &Request) -> Result<Answer, Problem> {
        let invalid = |why: &str| Problem::new(StatusCode::BAD_REQUEST, "invalid_body", why);
        let is_approval = self.decision == AnswerDecision::Allow;
        let is_action = request.asks_about_action();
        let answer = match (self.decision, self.permissions) {
            (AnswerDecision::Allow, None) => Answer::allow(),
            (AnswerDecision::Allow, Some(only)) => Answer::allow_only(input::several(only)?),
            (AnswerDecision::Deny, None) => Answer::deny(),
            (AnswerDecision::Deny, Some(_)) => return Err(invalid("`permissions` goes with the decision `allow`")),
        };
        if !is_approval && !is_action && self.scope.is_some() {
            return Err(invalid("`scope`: a denial of permissions has none. It answers equal requests for a while"));
        }
        let scope = self.scope.or((is_approval && is_action).then_some(Scope::Once));
        let answer = scope.map_or(answer.clone(), |scope| answer.scope(scope));
        let answer = self.feedback.map_or(answer.clone(), |feedback| answer.feedback(feedback));
        match self.modified_input {
            None => Ok(answer),
            Some(ModifiedInput::Text(text)) if text.trim().is_empty() => {
                Err(invalid("`modifiedInput` is empty: leave it out to approve the input"))
            }
            Some(ModifiedInput::Text(text)) => {
                answering::with_modified(answer, is_approval, request, Some(Modified::Text(&text)))
            }
            Some(ModifiedInput::Whole(whole)) => {
                answering::with_modified(answer, is_approval, request, Some(Modified::Whole(whole)))
            }
        }
    }
}
