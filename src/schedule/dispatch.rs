//! The start and the end of due runs. A due task is started or skipped, and the result of a run is recorded.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{
    Due, Happened, NotStarted, Task,
    event_loop::Work,
    files::{self, Once},
    key::{Key, key},
    orders::RunEnd,
    run::{self, Over, Place},
    write_access::WriteAccess,
};
use crate::{
    engine::Engine,
    model::{FileVersion, Skip, TaskEnd, TaskEvent, TaskId, Timestamp},
};

impl Work {
    /// Starts or skips the due runs.
    pub(super) async fn tick(&mut self, engine: &Engine) {
        let Ok(now) = self.clock.wall() else { return };
        let due = self.plan.tick(now);
        let writers = WriteAccess::now(engine, &self.dir);
        for (key, due) in due {
            match due {
                Due::Run { at, missed } => self.begin(&key, at, missed, now, &writers).await,
                Due::StillRunning => self.skip(&key, Skip::StillRunning, now),
                Due::Missed { times } => self.skip(&key, Skip::Missed { times }, now),
            }
        }
    }

    pub(super) async fn run_now(
        &mut self,
        engine: &Engine,
        id: &TaskId,
    ) -> Result<oneshot::Receiver<RunEnd>, NotStarted> {
        engine.settings().map_err(|_| NotStarted::Stopped)?;
        let now = self.clock.wall().map_err(|_| NotStarted::Stopped)?;
        if self.known.get(id).is_none_or(|known| known.task.is_none()) {
            return Err(NotStarted::Unknown);
        }
        let key = key(id);
        if self.plan.is_running(&key) {
            return Err(NotStarted::Running);
        }
        let writers = WriteAccess::now(engine, &self.dir);
        if let Some(why) = writers.of(id)
            && let Some(version) = self.known.get(id).map(|known| known.version)
        {
            self.taint(&writers, id, version, &why);
            return Err(NotStarted::Unknown);
        }
        self.plan.begin(key.clone());
        let (told, end) = oneshot::channel();
        self.waiting.insert(id.clone(), told);
        self.begin(&key, now, 0, now, &writers).await;
        Ok(end)
    }

    /// Rejects a file that an agent can write now. The file stays rejected until a person saves it again.
    fn taint(&mut self, writers: &WriteAccess, id: &TaskId, version: FileVersion, why: &str) {
        writers.judge(id, version, &self.ends, false);
        self.reject(id, version, &files::file(id), why, true);
    }

    fn skip(&mut self, key: &Key, why: Skip, now: Timestamp) {
        let tasks: Vec<TaskId> = match key {
            Key::Task(id) => vec![id.clone()],
            Key::Heartbeat => self.heartbeats().map(|task| task.id.clone()).collect(),
        };
        let what = Happened::Skipped(why.clone());
        self.settle(key, now);
        for task in tasks {
            // A run that continues is the latest thing that happened to the task, so the skip is not recorded.
            if why != Skip::StillRunning {
                self.note(&task, now, what.clone(), None);
            }
            self.tell(TaskEvent::Skipped { task, why: why.clone() });
        }
    }

    /// Records that every run up to `now` is settled.
    fn settle(&mut self, key: &Key, now: Timestamp) {
        match key {
            Key::Task(id) => {
                if let Some(known) = self.known.get_mut(id) {
                    known.memory.settled = Some(now);
                    self.scribe.write(self.dir.clone(), Some(id.clone()), known.memory.clone());
                }
            }
            Key::Heartbeat => {
                self.heartbeat.settled = Some(now);
                self.scribe.write(self.dir.clone(), None, self.heartbeat.clone());
            }
        }
    }

    fn note(&mut self, id: &TaskId, at: Timestamp, what: Happened, once: Option<Once>) {
        if let Some(known) = self.known.get_mut(id) {
            known.memory.note(at, what);
            known.memory.once = once.or(known.memory.once.take());
            self.scribe.write(self.dir.clone(), Some(id.clone()), known.memory.clone());
        }
    }

    async fn begin(&mut self, key: &Key, at: Timestamp, missed: u32, now: Timestamp, writers: &WriteAccess) {
        let mut tasks: Vec<Arc<Task>> = match key {
            Key::Task(id) => self.known.get(id).and_then(|known| known.task.clone()).into_iter().collect(),
            Key::Heartbeat => self.heartbeats().cloned().collect(),
        };
        // A permission that was granted after the file was read counts as well.
        let written: Vec<_> = tasks.iter().filter_map(|task| Some((task.id.clone(), writers.of(&task.id)?))).collect();
        for (id, why) in written {
            tasks.retain(|task| task.id != id);
            if let Some(version) = self.known.get(&id).map(|known| known.version) {
                self.taint(writers, &id, version, &why);
            }
        }
        self.settle(key, now);
        if tasks.is_empty() {
            self.plan.ended(key);
            return;
        }
        for task in &tasks {
            self.note(&task.id, now, Happened::Started, None);
        }
        // The record must be on the disk before the run. After a crash, the task then does not run again.
        let written = self.scribe.written();
        let Some(engine) = self.weak.upgrade() else { return };
        let place = Place {
            engine,
            clock: Arc::clone(&self.clock),
            runner: Arc::clone(&self.runner),
            keeper: Arc::clone(&self.keeper),
            questions: Arc::clone(&self.questions),
            settings: self.settings.clone(),
            dir: self.dir.clone(),
            room: Arc::clone(&self.room),
        };
        let key = key.clone();
        self.running.spawn(async move {
            // This fails only if the loop is gone, and this run with it.
            let _ = written.await;
            run::run(place, key, tasks, at, missed).await
        });
    }

    pub(super) fn over(&mut self, over: Over) {
        self.plan.ended(&over.key);
        let Ok(now) = self.clock.wall() else { return };
        for (task, what) in over.tasks {
            // The task is taken as it was when it ran, because its file may have changed since.
            let (id, once) = (task.id.clone(), Once::of(&task).filter(|_| what == Happened::Ended(TaskEnd::Done)));
            self.note(&id, now, what.clone(), once);
            let known = self.known.get(&id);
            if known.is_some_and(|known| known.task.as_ref().is_some_and(|task| known.memory.is_over(task))) {
                self.plan.remove(&key(&id));
            }
            let (end, event) = match what {
                Happened::Ended(end) => (Ok(end.clone()), TaskEvent::Finished { task: id.clone(), end }),
                Happened::Skipped(why) => (Err(why.clone()), TaskEvent::Skipped { task: id.clone(), why }),
                Happened::Started => continue,
            };
            self.tell(event);
            if let Some(waiting) = self.waiting.remove(&id) {
                // The receiver may be gone.
                let _ = waiting.send(end);
            }
        }
    }
}
