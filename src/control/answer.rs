//! The answer of a person to a request, as an order gives it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Admin, modified,
    reply::{Line, NotDone},
};
use crate::{
    engine::{Engine, Error},
    kernel::Refusal,
    model::{Answer, ApproverId, Decider, Permission, Permissions, Reason, Request, Resolution, Scope},
};

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "yes and no")]
pub enum Approval {
    /// Approves the request.
    Approve,
    /// Denies the request.
    Deny,
}

/// The answer of a person, as an order gives it.
pub(super) struct GivenAnswer {
    pub(super) verdict: Approval,
    pub(super) scope: Option<Scope>,
    pub(super) feedback: Option<Reason>,
    pub(super) permissions: Option<Vec<Permission>>,
    pub(super) instead: Option<String>,
}

impl GivenAnswer {
    fn approves(&self) -> bool {
        self.verdict == Approval::Approve
    }

    /// Returns the answer to a request.
    fn to(self, request: &Request) -> Result<Answer, NotDone> {
        if !self.approves() && self.scope.is_some() && request.action.is_none() {
            return Err(NotDone::Refused(format!(
                "a denial of a permission has no scope: it answers equal requests for the time in \
                 `denial_memory`. Deny without `--scope`; [{}] stays pending",
                request.code()
            )));
        }
        let instead = if self.approves() { self.instead } else { None };
        let answer = match (self.verdict, self.permissions) {
            (Approval::Approve, None) => Answer::allow(),
            (Approval::Approve, Some(only)) => {
                let only = Permissions::try_from(only).map_err(|why| NotDone::Refused(why.to_string()))?;
                Answer::allow_only(only)
            }
            (Approval::Deny, _) => Answer::deny(),
        };
        let answer = match instead {
            Some(command) => answer.instead(modified::changed(request, &command)?),
            None => answer,
        };
        let answer = self.scope.map_or(answer.clone(), |scope| answer.scope(scope));
        Ok(self.feedback.map_or(answer.clone(), |feedback| answer.feedback(feedback)))
    }
}

/// Answers a request. An approval of what the agent holds by now reports the existing resolution.
pub(super) async fn give(
    engine: &Engine,
    admin: &Admin,
    request: &str,
    given: GivenAnswer,
    by: ApproverId,
) -> Result<Vec<Line>, NotDone> {
    let approves = given.approves();
    let waiting = match admin.waiting(request) {
        Err(Error::Refused(Refusal::AlreadyResolved(how))) if approves && is_held(&how) => {
            return Ok(vec![Line::new(&how, json!(*how))]);
        }
        waiting => waiting?,
    };
    let (id, answer) = (waiting.request.id, given.to(&waiting.request)?);
    let answered = admin.approver(&waiting.request.owner, by).answer(id, answer).await;
    let resolution = engine.resolution(id)?;
    if !(approves && resolution.as_deref().is_some_and(is_held)) {
        answered?;
    }
    Ok(resolution.iter().map(|how| Line::new(how, json!(**how))).collect())
}

/// Returns true if the agent already holds the permission. An approval would have had that result, so the reply reports
/// the existing resolution.
fn is_held(how: &Resolution) -> bool {
    how.decider == Decider::AlreadyHeld
}
