//! A directory of tasks, an engine on a manual clock, and a host that records its runs.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc, time::Duration};

use bestow::{
    Agent, Engine, Event, InitialGrants, Kind, Permission, Profile, Settings,
    event::{Subscription, TaskEvent, TaskId, Timestamp},
    host::{Clock, DiskPaths, ManualClock, MemoryStore},
    path::SanitizedPath,
    policy::TaskSettings,
    schedule::{Scheduler, TaskRun, Tasks},
};
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::support::settings;

/// The start of the clock: midnight, long before any file of these tests was written.
pub(crate) const START: &str = "2026-01-01T00:00:00Z";

pub(crate) struct Stage {
    pub(crate) place: TempDir,
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) events: Subscription,
    pub(crate) runs: mpsc::UnboundedReceiver<TaskRun>,
    told: mpsc::UnboundedSender<TaskRun>,
    pub(crate) change: fn(&mut TaskSettings),
}

impl Stage {
    /// Creates a stage without tasks, with an agent `nightly` of kind cron and `pulse` of kind heartbeat.
    pub(crate) async fn new() -> Stage {
        Stage::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Stage {
        let place = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(moment(START)));
        let engine = Engine::on(settings(change), clock.clone(), Arc::new(DiskPaths)).unwrap();
        let events = engine.subscribe();
        let (told, runs) = mpsc::unbounded_channel();
        let stage = Stage { place, engine, clock, events, runs, told, change: |_| {} };
        for directory in ["tasks/cron", "tasks/heartbeat", "work"] {
            fs::create_dir_all(stage.path(directory).as_path()).unwrap();
        }
        stage.agent("nightly", Kind::Cron, &[]).await;
        stage.agent("pulse", Kind::Heartbeat, &[]).await;
        stage
    }

    /// Restarts the stage with an engine that keeps its state in `store`. Earlier runs are interrupted, as in a crash.
    pub(crate) async fn restarted(self, store: Arc<MemoryStore>) -> Stage {
        self.engine.shutdown().await;
        let clock: Arc<dyn Clock> = self.clock.clone();
        let engine = Engine::restore(Some(settings(|_| {})), clock, Arc::new(DiskPaths), store).await.unwrap();
        let stage = Stage { events: engine.subscribe(), engine, ..self };
        if stage.engine.agents().unwrap().is_empty() {
            stage.agent("nightly", Kind::Cron, &[]).await;
            stage.agent("pulse", Kind::Heartbeat, &[]).await;
        }
        stage
    }

    /// Returns the real path of a file below the place.
    pub(crate) fn path(&self, below: &str) -> SanitizedPath {
        let real = bestow::fs::real(self.place.path().to_str().unwrap()).unwrap().path().clone();
        format!("{real}/{below}").parse().unwrap()
    }

    /// Registers an agent of `you` with the working directory `work`. Paths in tags are below the place.
    pub(crate) async fn agent(&self, id: &str, kind: Kind, holds: &[&str]) -> Agent {
        let profile = Profile::new(id.parse().unwrap(), "you".parse().unwrap(), kind, self.path("work"));
        self.engine.register(profile, InitialGrants::of(holds.iter().map(|tag| self.tag(tag)))).await.unwrap()
    }

    pub(crate) fn tag(&self, tag: &str) -> Permission {
        match tag.split_once(':') {
            Some((access, below)) if !below.starts_with('/') => {
                format!("{access}:{}", self.path(below)).parse().unwrap()
            }
            _ => tag.parse().unwrap(),
        }
    }

    pub(crate) fn settings(&self) -> TaskSettings {
        let mut settings = TaskSettings::in_dir(self.path("tasks"));
        (self.change)(&mut settings);
        settings
    }

    /// Starts the tasks with a host that records each run and finishes at once.
    pub(crate) async fn start(&self) -> Tasks {
        let told = self.told.clone();
        let runner = move |run: TaskRun| {
            let sent = told.send(run);
            async move { sent.map_err(|why| why.to_string()) }
        };
        self.scheduler(runner).start(&self.engine).await.unwrap()
    }

    /// Starts the tasks with a host that never finishes.
    pub(crate) async fn start_hanging(&self) -> Tasks {
        let told = self.told.clone();
        let runner = move |run: TaskRun| {
            let sent = told.send(run);
            async move {
                sent.map_err(|why| why.to_string())?;
                std::future::pending().await
            }
        };
        self.scheduler(runner).start(&self.engine).await.unwrap()
    }

    pub(crate) fn scheduler(&self, runner: impl bestow::schedule::Runner) -> Scheduler {
        let scheduler = Scheduler::new(runner).with_settings(self.settings());
        #[cfg(all(feature = "cli", feature = "sandbox"))]
        let scheduler = scheduler.with_sandbox(bestow::sandbox::Sandbox::with_helper(crate::support::BESTOW));
        scheduler
    }

    /// Saves a file below `tasks`, as a person does.
    pub(crate) fn save(&self, file: &str, text: &str) {
        save(self.path(&format!("tasks/{file}")).as_path(), text);
    }

    pub(crate) fn cron(&self, name: &str, front: &str, prompt: &str) {
        self.save(&format!("cron/{name}/TASK.md"), &format!("---\n{front}\n---\n{prompt}\n"));
    }

    pub(crate) fn remove(&self, below: &str) {
        let path = self.path(&format!("tasks/{below}"));
        // The rename removes the path in one step, whatever is written into it meanwhile.
        fs::rename(path.as_path(), self.path("removed").as_path()).unwrap();
    }

    pub(crate) fn later(&self, minutes: u64) {
        self.clock.advance(Duration::from_secs(60 * minutes));
    }

    pub(crate) async fn run(&mut self) -> TaskRun {
        self.runs.recv().await.unwrap()
    }

    /// Returns the next event of a task that is `wanted`.
    pub(crate) async fn told(&mut self, wanted: impl Fn(&TaskEvent) -> bool) -> TaskEvent {
        loop {
            if let Event::Task(event) = self.events.next().await.unwrap().event
                && wanted(&event)
            {
                return event;
            }
        }
    }

    pub(crate) async fn told_kind(&mut self, kind: &str) -> TaskEvent {
        self.told(|event| event.kind() == kind).await
    }

    /// Returns all events of tasks up to now.
    pub(crate) fn told_so_far(&mut self) -> Vec<TaskEvent> {
        let all = crate::support::heard(&mut self.events).into_iter();
        all.filter_map(|recorded| if let Event::Task(event) = recorded.event { Some(event) } else { None }).collect()
    }
}

pub(crate) fn save(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(new, path).unwrap();
}

pub(crate) fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn task(text: &str) -> TaskId {
    text.parse().unwrap()
}
