//! Sessions of coding agents. The credential is that of the host's agent, and reaches its own sessions only.

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use bestow::{
    AgentId,
    command::Shell,
    request::RequestId,
    tool::{CodingAgent, ToolName},
};
use bestow_hosts::{
    Answer, Call, Caller, OwnSessions, SessionId, Sessions as _, Subagent, SubagentId, Unanswered, answered,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{input::Sent, sender::AgentSender};
use crate::{
    desk::{Desk, HostDesk},
    identity::{self, Entrance},
    problem::Problem,
};

/// The longest wait for a person, in milliseconds. Hosts give up after ten minutes.
const LONGEST_WAIT: u64 = 600_000;

/// The longest type of a subagent that is looked up, in bytes. No agent has a longer id.
const LONGEST_KIND: usize = 128;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(call)).routes(routes!(begin)).routes(routes!(end))
}

/// A session of the host, or a subagent in it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallerBody {
    /// The id of the session, as the host names it.
    #[schema(value_type = String, example = "3f1c8a52-6c0e-4f0e-9f5e-6a1d9f0c2b7d")]
    session: SessionId,
    /// The subagent, if it is not the session itself.
    subagent: Option<SubagentBody>,
    /// The directory in which it works, as an absolute path.
    #[schema(value_type = String, example = "/work/site")]
    working_dir: PathBuf,
    /// The shell that runs the commands of the session: `bash`, `dash`, `zsh`, `unknown` for one of these, or `other`.
    #[serde(default)]
    #[schema(value_type = String)]
    shell: Shell,
}

/// A subagent of a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SubagentBody {
    /// The id, which is unique in the session.
    #[schema(value_type = String)]
    id: SubagentId,
    /// The type. The agent `HOST:TYPE` of the policy file limits it, if there is one.
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl CallerBody {
    fn caller(self) -> Result<Caller, Problem> {
        let CallerBody { session, subagent, working_dir, shell } = self;
        if !working_dir.is_absolute() {
            return Err(invalid("`workingDir` must be an absolute path"));
        }
        let subagent = subagent.map(|SubagentBody { id, kind }| {
            let kind = kind.filter(|kind| kind.len() <= LONGEST_KIND).map(Into::into);
            Subagent { id, kind }
        });
        Ok(Caller { session, subagent, working_dir, shell })
    }
}

/// The end of a question that nobody answers in time.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum UnansweredBody {
    /// It goes on waiting. A later approval holds for an equal call.
    Leave,
    /// It is withdrawn, because somebody else decides about the call.
    Withdraw,
}

/// A call of a tool that is about to happen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallBody {
    /// The caller.
    caller: CallerBody,
    /// The coding agent whose tool it is: `claude`, `codex`, `gemini` or `copilot`. Its own tools without an effect
    /// outside of its session need no approval.
    #[schema(value_type = Option<String>, example = "claude")]
    host: Option<CodingAgent>,
    /// The tool.
    #[schema(value_type = String, example = "Bash")]
    tool_name: ToolName,
    /// The whole input of the tool.
    #[schema(value_type = Object)]
    tool_input: Map<String, Value>,
    /// The time to wait for a person in milliseconds, at most 600,000. Without a person who could answer, the answer
    /// comes at once.
    #[serde(default)]
    wait_ms: u64,
    /// The end of a question that nobody answers in that time: `leave` or `withdraw`. Without it, it goes on waiting.
    unanswered: Option<UnansweredBody>,
    /// True if the host can call the tool with another input. This call then uses the approval of a changed input.
    #[serde(default)]
    can_replace_input: bool,
}

impl CallBody {
    fn call(self) -> Result<Call, Problem> {
        Ok(Call {
            caller: self.caller.caller()?,
            coding_agent: self.host,
            tool: self.tool_name,
            input: Value::Object(self.tool_input),
            wait: Duration::from_millis(self.wait_ms.min(LONGEST_WAIT)),
            unanswered: match self.unanswered {
                None | Some(UnansweredBody::Leave) => Unanswered::Leave,
                Some(UnansweredBody::Withdraw) => Unanswered::Withdraw,
            },
            can_replace_input: self.can_replace_input,
        })
    }
}

/// The kind of an answer. Only `allowed` lets the call happen as it is.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum AnswerKind {
    Allowed,
    Changed,
    Denied,
    Waits,
}

/// The answer about a call.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CallAnswer {
    answer: AnswerKind,
    /// The reason, for people and for the model.
    reason: String,
    /// The input that a person approved instead.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    /// The request that waits for a person, or waited until it was withdrawn.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<RequestId>,
    /// The short code of that request, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The remark of the person who approved the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
}

impl CallAnswer {
    fn of(answer: Answer) -> CallAnswer {
        let plain =
            |answer, reason| CallAnswer { answer, reason, input: None, request_id: None, code: None, feedback: None };
        match answer {
            Answer::Allowed { reason, feedback } => CallAnswer { feedback, ..plain(AnswerKind::Allowed, reason) },
            Answer::Denied { reason } => plain(AnswerKind::Denied, reason),
            Answer::Changed { input, reason } => {
                CallAnswer { input: Some(input), ..plain(AnswerKind::Changed, reason) }
            }
            Answer::Waits { id, code, reason } => {
                CallAnswer { request_id: Some(id), code: Some(code), ..plain(AnswerKind::Waits, reason) }
            }
        }
    }
}

/// The agent of a session or subagent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Begun {
    /// The id of the agent.
    #[schema(value_type = String)]
    agent_id: AgentId,
}

/// A session or subagent to end.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EndBody {
    /// The id of the session.
    #[schema(value_type = String)]
    session: SessionId,
    /// The id of the subagent. Without it, the whole session ends.
    #[schema(value_type = Option<String>)]
    subagent: Option<SubagentId>,
}

/// The end of a session or subagent.
#[derive(Debug, Serialize, ToSchema)]
struct Ended {
    /// Always true: there is no such session or subagent any more.
    ended: bool,
}

/// Answers about a call of a tool in a session of the host. The session and the subagent begin with their first call.
#[utoipa::path(
    post, path = "/v1/hosts/call", tag = "hosts", request_body = CallBody,
    responses((status = 200, description = "The answer. It is recorded.", body = CallAnswer))
)]
async fn call(
    State(entrance): State<Arc<Entrance>>,
    sender: AgentSender,
    Sent(body): Sent<CallBody>,
) -> Result<Json<CallAnswer>, Problem> {
    let call = body.call()?;
    let (sessions, caller) = of(&entrance, sender)?;
    let who = call.caller.clone();
    let member = entrance.work(&caller, async move { sessions.member(&who).await }).await??;
    let desk = HostDesk(Desk { entrance: &entrance, caller: &caller });
    Ok(Json(CallAnswer::of(answered(&desk, &member, &call).await?)))
}

/// Begins a session or a subagent. Nothing happens if it has begun already.
#[utoipa::path(
    post, path = "/v1/hosts/begin", tag = "hosts", request_body = CallerBody,
    responses((status = 200, description = "The agent of the session or subagent.", body = Begun))
)]
async fn begin(
    State(entrance): State<Arc<Entrance>>,
    sender: AgentSender,
    Sent(body): Sent<CallerBody>,
) -> Result<Json<Begun>, Problem> {
    let who = body.caller()?;
    let (sessions, caller) = of(&entrance, sender)?;
    let agent_id = entrance.work(&caller, async move { sessions.begin(who).await }).await??;
    Ok(Json(Begun { agent_id }))
}

/// Ends a session with its subagents, or one subagent. Its permissions and requests end with it.
#[utoipa::path(
    post, path = "/v1/hosts/end", tag = "hosts", request_body = EndBody,
    responses((status = 200, description = "It has ended, or there was none.", body = Ended))
)]
async fn end(
    State(entrance): State<Arc<Entrance>>,
    sender: AgentSender,
    Sent(EndBody { session, subagent }): Sent<EndBody>,
) -> Result<Json<Ended>, Problem> {
    let (sessions, caller) = of(&entrance, sender)?;
    entrance.work(&caller, async move { sessions.end(session, subagent).await }).await??;
    Ok(Json(Ended { ended: true }))
}

/// Returns the sessions of the sender.
fn of(
    entrance: &Entrance,
    AgentSender { caller, agent }: AgentSender,
) -> Result<(Arc<OwnSessions>, identity::Caller), Problem> {
    Ok((entrance.hosts().of(entrance.engine(), &agent)?, caller))
}

fn invalid(why: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_body", why)
}
