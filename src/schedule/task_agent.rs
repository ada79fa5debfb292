//! The agents that tasks run as.
//!
//! A cron task has its own agent, `cron:<name>`, below the agent that the task is for. It gets the current permissions
//! of that agent through grants, which end with the grants that they depend on. The permissions that it requests and
//! gets in addition belong to no other task. A heartbeat task runs as the heartbeat agent itself.

use super::{Task, files};
#[cfg(feature = "sandbox")]
use crate::model::TaskKind;
use crate::{
    engine::{Agent, Engine, Error, InitialGrants},
    model::{
        AgentId, Kind, Permission, Permissions, Profile, Reason, RunId, SanitizedPath, Skip, TaskId, TaskSettings,
        Timestamp,
    },
};

/// The agent that a task is for, and the agent that it runs as.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) target: AgentId,
    pub(super) agent: Agent,
    pub(super) files: Option<SanitizedPath>,
    pub(super) memory: Option<SanitizedPath>,
}

/// Returns the agent for tasks of this kind that name none.
fn default_agent(engine: &Engine, named: Option<&AgentId>, kind: Kind) -> Result<AgentId, String> {
    if let Some(named) = named {
        return Ok(named.clone());
    }
    let all = engine.agents().map_err(|why| why.to_string())?;
    // An agent with a parent belongs to a single task.
    let mut fit = all.iter().filter(|profile| profile.kind == kind && profile.parent.is_none());
    match (fit.next(), fit.next()) {
        (Some(only), None) => Ok(only.id.clone()),
        (None, _) if kind == Kind::Heartbeat => {
            Err("there is no agent of kind `heartbeat`, and no other agent runs this: add one to the policy".to_owned())
        }
        (None, _) => Err(format!("it names no agent, and there is none of kind `{kind}`: add one to the policy")),
        (Some(_), Some(_)) if kind == Kind::Heartbeat => {
            Err("several agents are of kind `heartbeat`: say which runs this with `heartbeat_agent` in `[tasks]`"
                .to_owned())
        }
        (Some(_), Some(_)) => Err(format!(
            "it names no agent, and several are of kind `{kind}`: say which with `{kind}_agent` in `[tasks]`"
        )),
    }
}

/// Returns the agent that `task` is for, if the policy allows tasks for that agent. A file never gives authority.
pub(super) fn target(engine: &Engine, task: &Task, settings: &TaskSettings) -> Result<Agent, String> {
    let id = match &task.agent {
        Some(named) => named.clone(),
        None => default_agent(engine, settings.cron_agent.as_ref(), Kind::Cron)?,
    };
    let agent = known(engine, &id)?;
    let profile = agent.profile().map_err(|why| why.to_string())?;
    let is_for_tasks = profile.kind == Kind::Cron && profile.parent.is_none();
    if is_for_tasks || settings.agents.contains(&id) || settings.cron_agent.as_ref() == Some(&id) {
        return Ok(agent);
    }
    Err(format!(
        "{id} is of kind `{}`, and a file does not choose such an agent: name it under `agents` in `[tasks]` first",
        profile.kind
    ))
}

/// Returns the agent that a task is for under the current settings.
#[cfg(feature = "sandbox")]
pub(crate) fn agent_of(engine: &Engine, task: &Task) -> Result<Agent, String> {
    let settings = engine.settings().map_err(|why| why.to_string())?;
    match task.id.kind() {
        TaskKind::Cron => target(engine, task, &settings.tasks),
        TaskKind::Heartbeat => heartbeat(engine, &settings.tasks),
    }
}

/// Returns the heartbeat agent.
pub(super) fn heartbeat(engine: &Engine, settings: &TaskSettings) -> Result<Agent, String> {
    let id = default_agent(engine, settings.heartbeat_agent.as_ref(), Kind::Heartbeat)?;
    known(engine, &id)
}

fn known(engine: &Engine, id: &AgentId) -> Result<Agent, String> {
    engine.agent(id).map_err(|_| {
        let all = engine.agents().unwrap_or_default();
        let fit: Vec<_> = all.iter().filter(|profile| profile.kind == Kind::Cron && profile.parent.is_none()).collect();
        let fit: Vec<_> = fit.iter().take(8).map(|profile| format!("`{}`", profile.id)).collect();
        let help = if fit.is_empty() { "add it to the policy".into() } else { format!("there is {}", fit.join(", ")) };
        format!("there is no agent `{id}`: {help}")
    })
}

/// Prepares the agent of a cron task for the run that was due at `due`.
pub(super) async fn cron(
    engine: &Engine,
    dir: &SanitizedPath,
    task: &Task,
    settings: &TaskSettings,
    due: Timestamp,
) -> Result<Actor, Skip> {
    let no_agent = |why: String| Skip::NoAgent { why: why.into() };
    let target = target(engine, task, settings).map_err(no_agent)?;
    let (dir, id) = (dir.clone(), task.id.clone());
    let furnished = tokio::task::spawn_blocking(move || files::furnish(&dir, &id)).await;
    let (files, memory) = furnished.unwrap_or_else(|why| Err(why.to_string())).map_err(no_agent)?;
    let agent = own_agent(engine, &target, task, &files, &memory).await.map_err(no_agent)?;
    pass_on(&target, &agent, &task.id).await.map_err(|why| no_agent(why.to_string()))?;
    let run = format!("{}-{}", task.id.name(), due.as_millis()).parse::<RunId>();
    let run = run.map_err(|why| no_agent(why.to_string()))?;
    engine.begin_run(agent.id(), run).await.map_err(|why| no_agent(why.to_string()))?;
    Ok(Actor { target: target.id().clone(), agent, files: Some(files), memory: Some(memory) })
}

/// Retires the agent of a task that is gone.
pub(super) async fn dismiss(engine: &Engine, task: &TaskId) {
    let Some(id) = own_id(task) else { return };
    let profile = engine.agent(&id).and_then(|agent| agent.profile());
    if profile.is_ok_and(|profile| profile.kind == Kind::Cron && profile.parent.is_some()) {
        // This fails only if the agent is already gone.
        let _ = engine.retire(&id).await;
    }
}

/// Returns the name of the agent of a cron task.
fn own_id(task: &TaskId) -> Option<AgentId> {
    format!("cron:{}", task.name()).parse().ok()
}

/// Returns the task's own agent, and creates it if necessary. The agent can write its own files, because the person who
/// configured the directory of tasks allows this.
async fn own_agent(
    engine: &Engine,
    target: &Agent,
    task: &Task,
    files: &SanitizedPath,
    memory: &SanitizedPath,
) -> Result<Agent, String> {
    let id = own_id(&task.id).ok_or("its name cannot be the name of an agent")?;
    let above = target.profile().map_err(|why| why.to_string())?;
    let own = [Permission::write(files.clone()), Permission::write(memory.clone())];
    if let Ok(there) = engine.agent(&id) {
        let profile = there.profile().map_err(|why| why.to_string())?;
        // Agents cannot create agents of kind cron. An agent of that kind with a parent was therefore created here.
        if profile.kind != Kind::Cron || profile.parent.is_none() {
            return Err(format!("another agent is called `{id}`"));
        }
        let set = there.permissions().map_err(|why| why.to_string())?;
        let still_writes = own.iter().all(|own| set.covers(own, crate::model::Reads::Granted));
        // The agent with this name may have been replaced by another one. Then the task's own agent is created again
        // too.
        let is_its_own = !there.has_outlived_its_creator().map_err(|why| why.to_string())?;
        let same = is_its_own && profile.parent.as_ref() == Some(&above.id) && profile.mode == above.mode;
        if same && still_writes && profile.working_dir == *files {
            return Ok(there);
        }
        engine.retire(&id).await.map_err(|why| why.to_string())?;
    }
    let mut profile = Profile::new(id, above.owner.clone(), Kind::Cron, files.clone()).in_mode(above.mode);
    profile.parent = Some(above.id.clone());
    profile.name = task.title.parse().ok();
    engine.register(profile, InitialGrants::of(own)).await.map_err(|why| why.to_string())
}

/// Grants the task's agent the permissions that the target holds and the agent lacks. Permissions that cannot be passed
/// on are left out.
async fn pass_on(target: &Agent, agent: &Agent, task: &TaskId) -> Result<(), Error> {
    let held = agent.permissions()?;
    let lacks = |wanted: &Permission| !held.covers(wanted, crate::model::Reads::Granted);
    let missing: Vec<Permission> = target.permissions()?.iter().filter(lacks).collect();
    let Ok(reason) = format!("for the scheduled task {task}").parse::<Reason>() else { return Ok(()) };
    for part in missing.chunks(32) {
        let Ok(all) = Permissions::try_from(part.to_vec()) else { continue };
        if target.grant(agent.id(), all, reason.clone()).await.is_ok() {
            continue;
        }
        for one in part {
            // The engine records the denial.
            let _ = target.grant(agent.id(), one.clone(), reason.clone()).await;
        }
    }
    Ok(())
}
