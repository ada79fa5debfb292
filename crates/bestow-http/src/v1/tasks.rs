//! `GET /v1/tasks`: the scheduled tasks, as their files are now.

use std::{iter, sync::Arc, time::Duration};

use axum::{Json, extract::State};
use bestow::{
    AgentId, Permission,
    event::Timestamp,
    schedule::{Happened, Last, Problem as TaskProblem, Surveyed, Task, When, survey},
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::sender::Person;
use crate::{identity::Entrance, problem::Problem};

/// The due times that are shown.
const UPCOMING: usize = 5;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// The tasks.
#[derive(Debug, Serialize, ToSchema)]
struct TaskList {
    tasks: Vec<TaskView>,
}

/// A task file, and its task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TaskView {
    /// The file, below the directory of tasks.
    file: String,
    /// The id of the task. It is missing if the file is not a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The agent that it runs as.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<AgentId>,
    enabled: bool,
    /// The times of its schedule, as the file says them.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    /// The time zone of the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    /// The seconds between two heartbeats. A heartbeat task has them in place of a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    heartbeat_every_seconds: Option<u64>,
    /// The command that runs before each run and decides about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<GateView>,
    /// The next due times, at most five.
    #[schema(value_type = Vec<String>)]
    upcoming: Vec<Timestamp>,
    /// The next due time.
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Timestamp>,
    /// The last run, or the last time that the task was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<TaskRun>,
    /// The last runs, and the times that the task was skipped: newest first, at most ten.
    runs: Vec<TaskRun>,
    /// The reasons for which the file is not a task, or the task would not run.
    problems: Vec<TaskProblemView>,
}

/// The gate of a task.
#[derive(Debug, Serialize, ToSchema)]
struct GateView {
    command: String,
    /// The permissions that the gate declares.
    #[schema(value_type = Vec<String>)]
    permissions: Vec<Permission>,
    /// The declared permissions that the agent does not hold.
    #[schema(value_type = Vec<String>)]
    missing: Vec<Permission>,
}

/// A run of a task, or a time that it was skipped.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct TaskRun {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    state: RunState,
    text: String,
}

/// The state of a run: `started` is a run whose end is not known.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum RunState {
    Started,
    Ended,
    Skipped,
}

/// A mistake in a task file, with its line.
#[derive(Debug, Serialize, ToSchema)]
struct TaskProblemView {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    text: String,
}

impl TaskRun {
    fn of(happened: &Last) -> TaskRun {
        let state = match happened.what {
            Happened::Started => RunState::Started,
            Happened::Ended(_) => RunState::Ended,
            Happened::Skipped(_) => RunState::Skipped,
        };
        TaskRun { at: happened.at, state, text: happened.what.to_string() }
    }
}

impl TaskView {
    fn of(surveyed: &Surveyed, heartbeat: Duration) -> TaskView {
        let problem = |problem: &TaskProblem| TaskProblemView { line: problem.line, text: problem.why.clone() };
        let (task, problems) = match &surveyed.task {
            Ok(task) => (Some(task), &surveyed.hindered),
            Err(problems) => (None, problems),
        };
        let (schedule, timezone) = match task.map(|task| &task.when) {
            Some(When::At(expression, zone)) => (Some(expression.to_string()), Some(zone.to_string())),
            Some(When::WithTheHeartbeat) | None => (None, None),
        };
        let is_heartbeat = task.is_some_and(|task| task.when == When::WithTheHeartbeat);
        TaskView {
            schedule,
            timezone,
            heartbeat_every_seconds: is_heartbeat.then_some(heartbeat.as_secs()),
            gate: task.and_then(|task| task.gate.as_ref()).map(|gate| GateView {
                command: gate.command.clone(),
                permissions: gate.permissions.clone(),
                missing: surveyed.missing.clone(),
            }),
            upcoming: upcoming(task, surveyed.next),
            file: surveyed.file.to_string(),
            id: task.map(|task| task.id.to_string()),
            title: task.map(|task| task.title.to_string()),
            agent_id: surveyed.agent.clone(),
            enabled: task.is_some_and(|task| task.enabled),
            next: surveyed.next,
            last: surveyed.last.as_ref().map(TaskRun::of),
            runs: surveyed.last.iter().chain(&surveyed.earlier).map(TaskRun::of).collect(),
            problems: problems.iter().map(problem).collect(),
        }
    }
}

/// Returns the next due times, beginning with `next`.
fn upcoming(task: Option<&Task>, next: Option<Timestamp>) -> Vec<Timestamp> {
    let after = |time: &Timestamp| task?.next(*time);
    iter::successors(next, after).take(UPCOMING).collect()
}

/// Lists the scheduled tasks with their last runs. An approver sees the tasks of its owner's agents. An operator also
/// sees files that are not tasks.
#[utoipa::path(
    get, path = "/v1/tasks", tag = "tasks",
    responses((status = 200, description = "The tasks.", body = TaskList))
)]
async fn list(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
) -> Result<Json<TaskList>, Problem> {
    let engine = entrance.engine().clone();
    let settings = engine.settings()?;
    if settings.tasks.dir.is_none() {
        return Ok(Json(TaskList { tasks: Vec::new() }));
    }
    let surveyed = entrance.work(&caller, async move { survey(&engine).map_err(|why| why.to_string()) }).await?;
    let surveyed =
        surveyed.map_err(|why| Problem::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "tasks_unreadable", why))?;
    let agents = admin.agents()?;
    let is_own = |agent: &AgentId| agents.iter().any(|profile| profile.id == *agent);
    let is_wanted = |surveyed: &&Surveyed| match &surveyed.agent {
        Some(agent) => is_own(agent),
        None => admin.is_of_every_owner(),
    };
    let view = |surveyed: &Surveyed| TaskView::of(surveyed, settings.tasks.heartbeat_every);
    Ok(Json(TaskList { tasks: surveyed.iter().filter(is_wanted).map(view).collect() }))
}
