//! Long-running processes: an agent starts them and talks to them. People see and stop them.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{
    Action, Agent, AgentId, Effect, Error, Event, Permission,
    event::{OutputStream, Process, ProcessEvent, ProcessExit, ProcessId, Timestamp, camel_case},
    process::ProcessOptions,
    sandbox::{Command, ExecError, Profile, Sandbox, SandboxError},
    stdio::{ProcessOutput, ProcessWrite},
    text::Reason,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    authorize::AuthorizeResult,
    input::{Asked, Named, Sent},
    sender::{AgentSender, Person, Sender},
};
use crate::{identity::Entrance, problem::Problem};

/// The most bytes that one call reads, and the usual number.
const MOST_READ: usize = 64 << 10;

/// The time that a process has to end by itself, in milliseconds.
const GRACE: u64 = 5_000;

/// The longest such time, in milliseconds.
const LONGEST_GRACE: u64 = 600_000;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new()
        .routes(routes!(list, start))
        .routes(routes!(output))
        .routes(routes!(write))
        .routes(routes!(stop))
        .routes(routes!(restart))
}

/// A process.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProcessView {
    #[schema(value_type = String)]
    process_id: ProcessId,
    #[schema(value_type = String)]
    agent_id: AgentId,
    /// The command line, without secrets.
    command: String,
    /// The time of its latest start.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    restarts: u32,
    /// The exit, if it has ended.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<Value>,
}

impl ProcessView {
    fn of(process: &Process, exit: Option<ProcessExit>) -> ProcessView {
        ProcessView {
            process_id: process.id,
            agent_id: process.agent.clone(),
            command: process.command.to_string(),
            since: process.since,
            restarts: process.restarts,
            exit: exit.map(|exit| camel_case(json!(exit))),
        }
    }
}

/// The processes.
#[derive(Debug, Serialize, ToSchema)]
struct ProcessList {
    processes: Vec<ProcessView>,
}

/// Lists processes. An agent sees its own, and the latest of them that have ended. A person sees the running ones of
/// the owner's agents.
#[utoipa::path(
    get, path = "/v1/processes", tag = "processes",
    responses((status = 200, description = "The processes.", body = ProcessList))
)]
async fn list(State(_): State<Arc<Entrance>>, sender: Sender) -> Result<Json<ProcessList>, Problem> {
    let processes = match sender {
        Sender::Agent(AgentSender { agent, .. }) => {
            agent.process_list()?.iter().map(|status| ProcessView::of(&status.process, status.exit)).collect()
        }
        Sender::Person(Person { admin, .. }) => {
            admin.processes()?.iter().map(|process| ProcessView::of(process, None)).collect()
        }
    };
    Ok(Json(ProcessList { processes }))
}

/// A process to start.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StartProcessBody {
    /// The program and its arguments. No shell is involved unless the program is one.
    #[schema(min_items = 1)]
    command: Vec<String>,
    /// Permissions that the process needs besides its working directory, at most 32.
    #[serde(default)]
    #[schema(value_type = Vec<String>, max_items = 32)]
    permissions: Vec<Permission>,
}

/// A process that runs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Started {
    #[schema(value_type = String)]
    process_id: ProcessId,
}

/// The result of an order that is an action: it is done, or a person must decide first.
enum Done<T> {
    Yes(T),
    Asks(Box<AuthorizeResult>),
}

impl<T: Serialize> Done<T> {
    fn response(self, status: StatusCode) -> Response {
        match self {
            Done::Yes(done) => (status, Json(done)).into_response(),
            Done::Asks(decided) => (StatusCode::ACCEPTED, Json(*decided)).into_response(),
        }
    }
}

/// Starts a process in the sandbox. The start is an action. If a person must decide, the answer is that decision (202):
/// repeat the call after the approval.
#[utoipa::path(
    post, path = "/v1/processes", tag = "processes", request_body = StartProcessBody,
    responses(
        (status = 201, description = "The process runs.", body = Started),
        (status = 202, description = "A person must decide, or the start is denied.", body = AuthorizeResult),
    )
)]
async fn start(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Sent(StartProcessBody { command, permissions }): Sent<StartProcessBody>,
) -> Result<Response, Problem> {
    let mut words = command.into_iter();
    let program = words.next().ok_or_else(|| invalid("`command` is a list that begins with a program"))?;
    if permissions.len() > 32 {
        return Err(invalid("`permissions`: a process starts with at most 32"));
    }
    let (sandbox, command) = (sandbox(&entrance)?, Command::new(program).args(words));
    let work = async move {
        let profile = agent.sandbox_profile(&permissions)?;
        if let Some(asked) = asked(&agent, profile.process_action(&command)?).await? {
            return Ok(Done::Asks(Box::new(asked)));
        }
        started(&agent, &sandbox, profile, command).await
    };
    let done: Result<_, NotDone> = entrance.work(&caller, work).await?;
    Ok(done?.response(StatusCode::CREATED))
}

async fn started(
    agent: &Agent,
    sandbox: &Sandbox,
    profile: Profile,
    command: Command,
) -> Result<Done<Started>, NotDone> {
    let options = ProcessOptions::default();
    let process_id = agent.process_start_under(sandbox, profile, command, options).await?;
    Ok(Done::Yes(Started { process_id }))
}

/// Asks a person about an action, if a person must decide. Returns the decision then.
async fn asked(agent: &Agent, action: Action) -> Result<Option<AuthorizeResult>, NotDone> {
    if agent.verdict(&action)? != Effect::Ask {
        return Ok(None);
    }
    Ok(Some(AuthorizeResult::of_authorized(&agent.authorize(action).await?)))
}

/// The wanted part of the output.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// The stream: `stdout` (the default) or `stderr`.
    #[param(value_type = Option<String>)]
    stream: Option<OutputStream>,
    /// The first byte, counted from the first byte that the process wrote. Without it, 0.
    from: Option<u64>,
    /// The most bytes: at most 65,536, which is also the default.
    max: Option<usize>,
}

/// A piece of the output of a process.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OutputView {
    #[schema(value_type = String)]
    process_id: ProcessId,
    /// The offset of the first byte of this piece.
    from: u64,
    /// The offset of the next piece.
    next: u64,
    /// The number of wanted bytes before `from` that are not kept any more.
    dropped: u64,
    /// The piece, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The piece as Base64, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// True if no output follows, unless the process is restarted.
    end: bool,
}

/// Reads the output of a process of the agent. Only the latest output is kept.
#[utoipa::path(
    get, path = "/v1/processes/{process}/output", tag = "processes",
    params(("process" = String, Path, description = "The id of the process."), Wanted),
    responses((status = 200, description = "A piece of the output.", body = OutputView))
)]
async fn output(
    State(_): State<Arc<Entrance>>,
    AgentSender { agent, .. }: AgentSender,
    Named(process): Named<ProcessId>,
    Asked(Wanted { stream, from, max }): Asked<Wanted>,
) -> Result<Json<OutputView>, Problem> {
    let (stream, most) = (stream.unwrap_or(OutputStream::Stdout), max.unwrap_or(MOST_READ).min(MOST_READ));
    let read = agent.process_read(process, stream, from.unwrap_or(0), most)?;
    let (text, base64, next) = ProcessOutput::told(read.bytes, read.next, read.is_end);
    let (from, dropped, end) = (read.from, read.dropped, read.is_end);
    Ok(Json(OutputView { process_id: process, from, next, dropped, text, base64, end }))
}

/// Input for a process: `text` or `base64`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct InputBody {
    /// The input as text.
    text: Option<String>,
    /// The input as Base64, if it is not text.
    base64: Option<String>,
    /// True to close the input after these bytes.
    #[serde(default)]
    close: bool,
}

/// The number of bytes that were accepted. The rest did not fit, and has to be written again.
#[derive(Debug, Serialize, ToSchema)]
struct Written {
    written: usize,
}

/// Writes to the input of a process of the agent.
#[utoipa::path(
    post, path = "/v1/processes/{process}/input", tag = "processes", request_body = InputBody,
    params(("process" = String, Path, description = "The id of the process.")),
    responses((status = 200, description = "The bytes are written.", body = Written))
)]
async fn write(
    State(_): State<Arc<Entrance>>,
    AgentSender { agent, .. }: AgentSender,
    Named(process_id): Named<ProcessId>,
    Sent(InputBody { text, base64, close }): Sent<InputBody>,
) -> Result<Json<Written>, Problem> {
    let bytes = ProcessWrite { process_id, text, base64, close, request_id: None }.bytes().map_err(invalid)?;
    let written = match bytes.len() {
        0 => 0,
        _ => agent.process_write(process_id, &bytes).await.map_err(NotDone::from)?,
    };
    if close && written == bytes.len() {
        agent.process_close_input(process_id)?;
    }
    Ok(Json(Written { written }))
}

/// The way in which a process ends.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StopBody {
    /// The time that it has to end by itself, in milliseconds, at most 600,000. Without it, 5,000.
    grace_ms: Option<u64>,
    /// The reason. Only a person states one.
    #[schema(value_type = Option<String>)]
    reason: Option<Reason>,
}

/// A process that was told to end.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Stopping {
    #[schema(value_type = String)]
    process_id: ProcessId,
}

/// Stops a process. An agent stops its own, and those of agents that it created. A person stops those of the owner's
/// agents.
#[utoipa::path(
    post, path = "/v1/processes/{process}/stop", tag = "processes", request_body = StopBody,
    params(("process" = String, Path, description = "The id of the process.")),
    responses((status = 200, description = "The process ends.", body = Stopping))
)]
async fn stop(
    State(entrance): State<Arc<Entrance>>,
    sender: Sender,
    Named(process): Named<ProcessId>,
    Sent(StopBody { grace_ms, reason }): Sent<StopBody>,
) -> Result<Json<Stopping>, Problem> {
    let grace = Duration::from_millis(grace_ms.unwrap_or(GRACE).min(LONGEST_GRACE));
    let caller = sender.caller().clone();
    match sender {
        Sender::Agent(_) if reason.is_some() => return Err(invalid("`reason`: only a person states one")),
        Sender::Agent(AgentSender { agent, .. }) => {
            entrance.work(&caller, async move { agent.process_stop(process, grace).await }).await??;
        }
        Sender::Person(Person { admin, by, .. }) => {
            let stopping = async move { admin.stop_process(process, grace, reason, by).await };
            entrance.work(&caller, stopping).await??;
        }
    }
    Ok(Json(Stopping { process_id: process }))
}

/// Restarts a process of the agent, under its id. The restart is an action, like the start.
#[utoipa::path(
    post, path = "/v1/processes/{process}/restart", tag = "processes",
    params(("process" = String, Path, description = "The id of the process.")),
    responses(
        (status = 200, description = "The process runs.", body = Started),
        (status = 202, description = "A person must decide.", body = AuthorizeResult),
    )
)]
async fn restart(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Named(process_id): Named<ProcessId>,
) -> Result<Response, Problem> {
    let work = async move {
        if let Some(asked) = asked(&agent, agent.process_restart_action(process_id)?).await? {
            return Ok(Done::Asks(Box::new(asked)));
        }
        agent.process_restart(process_id).await?;
        Ok(Done::Yes(Started { process_id }))
    };
    let done: Result<_, NotDone> = entrance.work(&caller, work).await?;
    Ok(done?.response(StatusCode::OK))
}

/// Returns the sandbox of the server.
fn sandbox(entrance: &Entrance) -> Result<Sandbox, Problem> {
    let none = || {
        let detail = "this server has no sandbox, so it runs no processes: `bestow sandbox check` says what is missing";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "sandbox_unavailable", detail)
    };
    entrance.runs().sandbox().ok_or_else(none)
}

fn invalid(detail: &'static str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail)
}

/// An order about a process that was not carried out.
enum NotDone {
    Engine(Error),
    Sandbox(SandboxError),
    Other(String),
}

impl From<Error> for NotDone {
    fn from(why: Error) -> NotDone {
        NotDone::Engine(why)
    }
}

impl From<SandboxError> for NotDone {
    fn from(why: SandboxError) -> NotDone {
        NotDone::Sandbox(why)
    }
}

impl From<ExecError> for NotDone {
    fn from(why: ExecError) -> NotDone {
        match why {
            ExecError::Engine(why) => NotDone::Engine(why),
            ExecError::Sandbox(why) => NotDone::Sandbox(why),
            other => NotDone::Other(other.to_string()),
        }
    }
}

impl From<NotDone> for Problem {
    fn from(why: NotDone) -> Problem {
        match why {
            NotDone::Engine(why) => why.into(),
            NotDone::Sandbox(why @ SandboxError::Unavailable(_)) => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "sandbox_unavailable", why.to_string())
            }
            NotDone::Sandbox(why) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_started", why.to_string()),
            NotDone::Other(why) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_started", why),
        }
    }
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_start(events: &[Event], status: StatusCode) -> Option<Response> {
    let process_id = events.iter().find_map(|event| {
        let Event::Process(ProcessEvent::Started { process } | ProcessEvent::Restarted { process, .. }) = event else {
            return None;
        };
        Some(process.id)
    })?;
    Some((status, Json(Started { process_id })).into_response())
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_stop(events: &[Event]) -> Option<Response> {
    let process_id = events.iter().find_map(|event| {
        let Event::Process(ProcessEvent::Stopped { process, .. }) = event else { return None };
        Some(process.id)
    })?;
    Some(Json(Stopping { process_id }).into_response())
}
