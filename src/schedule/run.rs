//! A single run, from its gates to its end.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Semaphore, task::JoinSet};

use super::{
    Gatekeeper, Happened, Runner, Task, TaskRun,
    gate::{Asked, Gates, Passed, Questions},
    key::Key,
    prompt,
    task_agent::{self, Actor},
};
use crate::{
    engine::Engine,
    model::{GateOutcome, SanitizedPath, Skip, TaskEnd, TaskEvent, TaskId, TaskSettings, Timestamp},
    ports::Clock,
};

/// The parts of the loop that a run needs.
pub(super) struct Place {
    pub(super) engine: Engine,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) runner: Arc<dyn Runner>,
    pub(super) keeper: Arc<dyn Gatekeeper>,
    pub(super) questions: Arc<Questions>,
    pub(super) settings: TaskSettings,
    pub(super) dir: SanitizedPath,
    pub(super) room: Arc<Semaphore>,
}

/// A run that is over, with the result of each task.
#[derive(Debug)]
pub(super) struct Over {
    pub(super) key: Key,
    pub(super) tasks: Vec<(Arc<Task>, Happened)>,
}

impl Over {
    fn all(key: Key, tasks: &[Arc<Task>], what: &Happened) -> Over {
        Over { key, tasks: tasks.iter().map(|task| (Arc::clone(task), what.clone())).collect() }
    }
}

/// A task that passed its gate.
struct Going {
    task: Arc<Task>,
    gate: Option<Asked>,
}

pub(super) async fn run(place: Place, key: Key, tasks: Vec<Arc<Task>>, due: Timestamp, missed: u32) -> Over {
    let actor = match place.actor(&key, &tasks, due).await {
        Ok(actor) => actor,
        Err(why) => return Over::all(key, &tasks, &Happened::Skipped(why)),
    };
    // A cron task waits for an answer. The heartbeat does not wait.
    let waits = key != Key::Heartbeat;
    let gates = Gates {
        engine: &place.engine,
        keeper: &*place.keeper,
        questions: &place.questions,
        settings: &place.settings,
        room: &place.room,
    };
    let (mut over, mut going) = (Vec::new(), Vec::new());
    for task in tasks {
        match gates.pass(&task.id, task.gate.as_ref(), &actor, waits).await {
            Passed::On(gate) => going.push(Going { task, gate }),
            Passed::No(why) => over.push((task, Happened::Skipped(why))),
        }
    }
    if !going.is_empty() {
        let limit = going.iter().find_map(|going| going.task.time_limit).unwrap_or(place.settings.time_limit);
        let end = place.carry_out(actor, &going, due, missed, limit).await;
        over.extend(going.into_iter().map(|going| (going.task, Happened::Ended(end.clone()))));
    }
    Over { key, tasks: over }
}

impl Place {
    async fn actor(&self, key: &Key, tasks: &[Arc<Task>], due: Timestamp) -> Result<Actor, Skip> {
        match (key, tasks) {
            (Key::Task(_), [task, ..]) => task_agent::cron(&self.engine, &self.dir, task, &self.settings, due).await,
            (Key::Task(_), []) | (Key::Heartbeat, _) => {
                let agent = task_agent::heartbeat(&self.engine, &self.settings);
                let agent = agent.map_err(|why| Skip::NoAgent { why: why.into() })?;
                Ok(Actor { target: agent.id().clone(), agent, files: None, memory: None })
            }
        }
    }

    /// Gives the run to the host, with the time limit `limit`.
    async fn carry_out(&self, actor: Actor, going: &[Going], due: Timestamp, missed: u32, limit: Duration) -> TaskEnd {
        let _room = self.room.acquire().await;
        for Going { task, .. } in going {
            let (task, agent) = (task.id.clone(), actor.agent.id().clone());
            // This fails only if the engine ends.
            let _ = self.engine.tell_task(TaskEvent::Started { task, agent, due, missed });
        }
        let run = TaskRun {
            tasks: going.iter().map(|going| going.task.id.clone()).collect(),
            agent: actor.agent,
            prompt: prompt_of(going),
            due,
            missed,
            gates: going.iter().filter_map(gate_of).collect(),
            files: actor.files,
            memory: actor.memory,
        };
        let Ok(now) = self.clock.now() else {
            return TaskEnd::Failed { why: "the clock returned no time".into() };
        };
        // The runner has its own tokio task. A panic in it becomes an error here. The run is cancelled when the set is
        // dropped.
        let (mut work, runner) = (JoinSet::new(), Arc::clone(&self.runner));
        work.spawn(async move { runner.run(run).await });
        tokio::select! {
            ended = work.join_next() => match ended {
                Some(Ok(Ok(()))) => TaskEnd::Done,
                Some(Ok(Err(why))) => TaskEnd::Failed { why: why.into() },
                Some(Err(why)) => TaskEnd::Failed { why: why.to_string().into() },
                None => TaskEnd::Failed { why: "the runner did not start".into() },
            },
            () = self.clock.reaches(now.after(limit)) => TaskEnd::CutOff { seconds: limit.as_secs() },
        }
    }
}

fn prompt_of(going: &[Going]) -> String {
    let output = |going: &Going| going.gate.as_ref().map(|gate| gate.output.clone()).unwrap_or_default();
    let mut all: Vec<_> = going.iter().map(|going| (&*going.task, prompt::of(&going.task, &output(going)))).collect();
    prompt::of_all(&mut all)
}

fn gate_of(going: &Going) -> Option<(TaskId, GateOutcome)> {
    Some((going.task.id.clone(), going.gate.as_ref()?.outcome.clone()))
}
