//! The user of the client, who may answer the questions that reach a foreground agent (`elicitation/create`).
//!
//! The client is the program of the model. So this way is open only where a program asked for it, and only for a
//! foreground agent: the client of a background agent has no user.

use std::sync::Arc;

use bestow::{AgentId, Answer, Approver, Engine, grant::Scope, request::Request};
use rmcp::{
    RoleServer,
    model::{
        ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
        JsonObject, ProtocolVersion, ServerRequest,
    },
    service::Peer,
};
use serde_json::{Value, json};

/// The answer that denies.
const DENY: &str = "deny";

/// The answers that approve, with their scopes. Lasting ones are given elsewhere.
const APPROVALS: [(&str, Scope); 2] = [("once", Scope::Once), ("session", Scope::Session)];

/// Returns true if the client can ask its user.
pub(crate) fn can_ask(peer: &Peer<RoleServer>) -> bool {
    peer.peer_info().is_some_and(|client| {
        let is_new_enough = client.protocol_version.as_str() >= ProtocolVersion::V_2025_06_18.as_str();
        is_new_enough && client.capabilities.elicitation.is_some()
    })
}

/// Asks the user about each question that reaches the agent, until another connection replaces this one.
pub(crate) async fn answered_by_user(engine: Engine, agent: AgentId, approver: Approver, peer: Peer<RoleServer>) {
    // An answer that the engine refuses, and an agent that is gone, end this way. The questions go on to others.
    let _ = engine.serve_user(agent, &approver, move |question| asked(peer.clone(), question)).await;
}

/// Returns the answer of the user. Without a clear answer, the question stays open for another person.
async fn asked(peer: Peer<RoleServer>, question: Arc<Request>) -> Option<Answer> {
    let offered: Vec<_> = APPROVALS.into_iter().filter(|(_, scope)| question.accepts_scope(*scope)).collect();
    let form = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("[{}] {question}", question.code()),
        requested_schema: form(&offered)?,
    });
    let Ok(ClientResult::ElicitResult(reply)) = peer.send_request(ServerRequest::ElicitRequest(form)).await else {
        return None;
    };
    answer(&reply, &offered)
}

/// Returns the answer in a form that the client filled in. A form with further fields is not the one that was shown, so
/// it is no answer.
pub fn elicited_answer(content: &Value) -> Option<&str> {
    let Value::Object(fields) = content else { return None };
    if fields.len() == 1 { fields.get("answer")?.as_str() } else { None }
}

fn answer(reply: &ElicitResult, offered: &[(&str, Scope)]) -> Option<Answer> {
    match reply.action {
        ElicitationAction::Decline => Some(Answer::deny()),
        ElicitationAction::Accept => {
            let chosen = elicited_answer(reply.content.as_ref()?)?;
            if chosen == DENY {
                return Some(Answer::deny());
            }
            let (_, scope) = offered.iter().find(|(name, _)| *name == chosen)?;
            Some(Answer::allow().scope(*scope))
        }
        ElicitationAction::Cancel | _ => None,
    }
}

/// Returns the form with the answers that are offered. None of them is chosen beforehand.
fn form(offered: &[(&str, Scope)]) -> Option<ElicitationSchema> {
    let answers: Vec<_> = std::iter::once(DENY).chain(offered.iter().map(|(name, _)| *name)).collect();
    let answer = json!({ "type": "string", "title": "Answer", "enum": answers });
    let form = json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] });
    let Value::Object(form): Value = form else { return None };
    let form: JsonObject = form;
    ElicitationSchema::from_json_schema(form).ok()
}
