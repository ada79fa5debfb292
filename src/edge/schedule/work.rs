//! The loop around the plan: waits for whatever comes first, and does what follows. All waiting for time is the clock's.

use std::{collections::BTreeMap, sync::Arc};

use chrono_tz::Tz;
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    task::JoinSet,
};

use super::{
    Due, Gatekeeper, Happened, Last, NotStarted, Plan, Runner, Scheduler, SchedulerError, Task, TaskStatus, Tasks,
    Timing, When, actors,
    files::{self, Directory, Look, Memory, Version},
    gate::Questions,
    read::{self, Read},
    run::{self, Over, Place},
    scheduler::directory,
    scribe::Scribe,
};
use crate::{
    engine::{Engine, NoEvent, Subscription, WeakEngine},
    model::{Event, SanitizedPath, Skip, TaskEnd, TaskEvent, TaskId, TaskKind, TaskSettings, Timestamp},
    seam::Clock,
};

/// What a host asks of the loop.
#[derive(Debug)]
pub(super) enum Order {
    List(oneshot::Sender<Vec<TaskStatus>>),
    Run(TaskId, oneshot::Sender<Result<(), NotStarted>>),
    Look(oneshot::Sender<()>),
}

/// What whoever watches the directory tells.
#[derive(Debug)]
pub(crate) enum News {
    /// Look at it.
    Changed,
    /// Changes are noticed later than they should be.
    Polling(String),
}

/// Watches a directory of tasks until the receiver is dropped.
pub(crate) type Watch = Box<dyn Fn(SanitizedPath) -> mpsc::Receiver<News> + Send + Sync>;

/// What is planned: each cron task, and the heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Task(TaskId),
    Heartbeat,
}

/// A file as it is known.
#[derive(Debug)]
struct Known {
    version: Version,
    /// None if it is not taken.
    task: Option<Arc<Task>>,
    memory: Memory,
}

pub(super) struct Work {
    weak: WeakEngine,
    clock: Arc<dyn Clock>,
    runner: Arc<dyn Runner>,
    keeper: Arc<dyn Gatekeeper>,
    questions: Arc<Questions>,
    settings: TaskSettings,
    follows: bool,
    zone: Tz,
    directory: Directory,
    /// Where it really is, once that is known.
    dir: SanitizedPath,
    /// Why the directory as a whole is not taken, if it is not.
    trouble: Option<Arc<str>>,
    known: BTreeMap<TaskId, Known>,
    /// Files that have no name a task could have.
    nameless: BTreeMap<Arc<str>, Arc<str>>,
    heartbeat: Memory,
    plan: Plan<Key>,
    running: JoinSet<Over>,
    room: Arc<Semaphore>,
    scribe: Scribe,
    watch: Watch,
    news: mpsc::Receiver<News>,
}

/// Starts the loop, with everything known that is there now.
pub(crate) async fn start(
    scheduler: Scheduler,
    engine: &Engine,
    keeper: Arc<dyn Gatekeeper>,
    watch: Watch,
) -> Result<Tasks, SchedulerError> {
    let follows = scheduler.settings.is_none();
    let settings = match scheduler.settings {
        Some(settings) => settings,
        None => engine.settings()?.tasks.clone(),
    };
    let dir = directory(&settings)?;
    let zone = zone(&settings)?;
    // Before the first look, so that no change of the settings is missed.
    let events = engine.subscribe();
    let mut work = Work {
        weak: engine.downgrade(),
        clock: engine.clock(),
        runner: scheduler.runner,
        keeper,
        questions: Arc::default(),
        follows,
        zone,
        directory: Directory::new(dir.clone()),
        trouble: None,
        known: BTreeMap::new(),
        nameless: BTreeMap::new(),
        heartbeat: Memory::default(),
        plan: Plan::new(settings.catch_up, settings.jitter),
        running: JoinSet::new(),
        room: Arc::new(Semaphore::new(room(&settings))),
        scribe: Scribe::start(),
        news: watch(dir.clone()),
        watch,
        dir,
        settings,
    };
    work.remember_heartbeat(engine).await;
    work.look(engine).await;
    let (orders, theirs) = mpsc::channel(16);
    let work = tokio::spawn(work.run(events, theirs));
    Ok(Tasks { orders, work })
}

fn zone(settings: &TaskSettings) -> Result<Tz, SchedulerError> {
    settings.time_zone.parse().map_err(|_| SchedulerError::TimeZone(Arc::clone(&settings.time_zone)))
}

fn room(settings: &TaskSettings) -> usize {
    usize::try_from(settings.max_running).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS)
}

impl Work {
    /// Ends with the engine, or with the handle.
    async fn run(mut self, mut events: Subscription, mut orders: mpsc::Receiver<Order>) {
        loop {
            let clock = Arc::clone(&self.clock);
            let next = self.plan.next();
            let due = async move {
                match next {
                    Some(next) => clock.reaches(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.next() => match event {
                    Err(NoEvent::Ended) => return,
                    Ok(recorded) if !matches!(recorded.event, Event::SettingsChanged { .. }) => {}
                    // Something may have been missed, so look.
                    Ok(_) | Err(NoEvent::Missed(_)) => self.with(Work::follow).await,
                },
                Some(over) = self.running.join_next(), if !self.running.is_empty() => {
                    if let Ok(over) = over {
                        self.over(over);
                    }
                }
                Some(news) = self.news.recv() => match news {
                    News::Changed => self.with(Work::look).await,
                    News::Polling(why) => self.tell_trouble(&why),
                },
                order = orders.recv() => match order {
                    Some(order) => self.obey(order).await,
                    None => return,
                },
                () = due => self.with(Work::tick).await,
            }
        }
    }

    /// Does something with the engine, if it is still there.
    async fn with(&mut self, work: impl AsyncFnOnce(&mut Work, &Engine)) {
        if let Some(engine) = self.weak.upgrade() {
            work(self, &engine).await;
        }
    }

    fn tell(&self, event: TaskEvent) {
        // Fails only if the engine ends, and then there is nobody to tell.
        if let Some(engine) = self.weak.upgrade() {
            let _ = engine.tell_task(event);
        }
    }

    fn tell_trouble(&self, why: &str) {
        self.tell(TaskEvent::Trouble { why: why.into() });
    }

    async fn obey(&mut self, order: Order) {
        // Whoever asked may have gone.
        match order {
            Order::List(answer) => {
                let _ = answer.send(self.list());
            }
            Order::Run(id, answer) => {
                let mut started = Err(NotStarted::Stopped);
                self.with(async |work: &mut Work, engine: &Engine| started = work.run_now(engine, &id).await).await;
                let _ = answer.send(started);
            }
            Order::Look(answer) => {
                self.with(Work::look).await;
                let _ = answer.send(());
            }
        }
    }

    fn list(&self) -> Vec<TaskStatus> {
        let all = self.known.iter().filter_map(|(id, known)| Some((id, known, known.task.as_ref()?)));
        all.map(|(id, known, task)| {
            let key = key(id);
            let is_planned = task.enabled;
            TaskStatus {
                id: id.clone(),
                title: Arc::clone(&task.title),
                next: self.plan.due(&key).filter(|_| is_planned),
                is_running: self.plan.is_running(&key),
                last: known.memory.last.clone(),
            }
        })
        .collect()
    }

    /// Takes over settings that changed.
    async fn follow(&mut self, engine: &Engine) {
        let Ok(settings) = engine.settings() else { return };
        let new = settings.tasks.clone();
        if !self.follows || new == self.settings {
            return;
        }
        let (dir, zone) = match (directory(&new), zone(&new)) {
            (Ok(dir), Ok(zone)) => (dir, zone),
            (Err(why), _) | (_, Err(why)) => return self.tell_trouble(&format!("the settings are not taken: {why}")),
        };
        self.room = Arc::new(Semaphore::new(room(&new)));
        self.plan.change(new.catch_up, new.jitter);
        if self.settings.dir != new.dir {
            self.news = (self.watch)(dir.clone());
        }
        self.directory = Directory::new(dir.clone());
        (self.dir, self.zone, self.settings) = (dir, zone, new);
        // Everything reads differently: the zone of schedules, the interval of the heartbeat.
        for (id, _) in std::mem::take(&mut self.known) {
            self.plan.remove(&key(&id));
        }
        self.remember_heartbeat(engine).await;
        self.look(engine).await;
    }

    async fn remember_heartbeat(&mut self, engine: &Engine) {
        let dir = self.dir.clone();
        let read = tokio::task::spawn_blocking(move || {
            let mut why = None;
            (files::remembered(&dir, None, &mut |trouble| why = Some(trouble)), why)
        });
        let Ok((memory, why)) = read.await else { return };
        self.heartbeat = memory;
        if let Some(why) = why {
            let _ = engine.tell_task(TaskEvent::Trouble { why: why.into() });
        }
    }

    /// Looks at the files, and takes over what they say now.
    async fn look(&mut self, engine: &Engine) {
        let mut directory = self.directory.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let look = directory.look();
            (directory, look)
        });
        let Ok((directory, look)) = looked.await else { return };
        self.directory = directory;
        match look {
            Ok(look) => {
                self.trouble = None;
                self.take(engine, look).await;
            }
            Err(why) => self.take_nothing(why),
        }
        self.plan_heartbeat();
    }

    /// The directory cannot be trusted, or is gone.
    fn take_nothing(&mut self, why: Arc<str>) {
        for (id, _) in std::mem::take(&mut self.known) {
            self.plan.remove(&key(&id));
        }
        if self.trouble.as_ref() != Some(&why) {
            self.tell(TaskEvent::Rejected { file: self.dir.as_str().into(), why: Arc::clone(&why) });
            self.trouble = Some(why);
        }
    }

    async fn take(&mut self, engine: &Engine, look: Look) {
        self.dir = look.dir;
        let writers = actors::writers(engine, &self.dir);
        let (mut there, mut nameless, mut fresh) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for found in look.found {
            match found.what {
                Ok(content) => {
                    there.insert(content.id.clone(), ());
                    let is_same = self.known.get(&content.id).is_some_and(|known| known.version == content.version);
                    let writer = self.writer_of(&content.id, &writers);
                    match writer {
                        Some(why)
                            if !is_same || self.known.get(&content.id).is_some_and(|known| known.task.is_some()) =>
                        {
                            self.reject(&content.id, content.version, &found.file, &why);
                        }
                        Some(_) => {}
                        None if is_same => {}
                        None => fresh.push((content, found.file)),
                    }
                }
                Err(why) => {
                    nameless.insert(found.file, why);
                }
            }
        }
        self.forget_all_but(engine, &there).await;
        for (file, why) in &nameless {
            if self.nameless.get(file) != Some(why) {
                self.tell(TaskEvent::Rejected { file: Arc::clone(file), why: Arc::clone(why) });
            }
        }
        self.nameless = nameless;
        for (content, file) in fresh {
            match self.understand(&content.id, &content.text) {
                Ok(read) => self.add(engine, content.version, read).await,
                Err(why) => self.reject(&content.id, content.version, &file, &why),
            }
        }
    }

    /// Why a file is not taken although it may be right: an agent that may write it says what another one does.
    fn writer_of(&self, id: &TaskId, writers: &[(crate::model::AgentId, SanitizedPath)]) -> Option<String> {
        let paths = files::own(&self.dir, id);
        let (agent, root) = writers.iter().find(|(_, root)| paths.iter().any(|path| root.contains(path)))?;
        Some(format!(
            "agent `{agent}` may write it, by its right to `{root}`: nothing that an agent can write is a task"
        ))
    }

    fn understand(&self, id: &TaskId, text: &str) -> Result<Read, String> {
        let own = self.dir.as_path().join("cron").join(id.name());
        let own = (id.kind() == TaskKind::Cron).then_some(own.as_path());
        let told =
            |problems: Vec<super::Problem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        read::read(id, text, own, self.zone).map_err(told)
    }

    fn reject(&mut self, id: &TaskId, version: Version, file: &str, why: &str) {
        self.plan.remove(&key(id));
        let memory = self.known.remove(id).map(|known| known.memory).unwrap_or_default();
        self.known.insert(id.clone(), Known { version, task: None, memory });
        self.tell(TaskEvent::Rejected { file: file.into(), why: why.into() });
    }

    async fn add(&mut self, engine: &Engine, version: Version, read: Read) {
        let (task, listed) = (Arc::new(read.task), read.ignored);
        let name = task.id.clone();
        let dir = self.dir.clone();
        let memory = {
            let name = name.clone();
            tokio::task::spawn_blocking(move || {
                let mut why = None;
                (files::remembered(&dir, Some(&name), &mut |trouble| why = Some(trouble)), why)
            })
        };
        let Ok((memory, why)) = memory.await else { return };
        if let Some(why) = why {
            self.tell_trouble(&why);
        }
        self.questions.forget(&name);
        if let Some(listed) = listed {
            let _ = engine.tell_task(TaskEvent::PermissionsIgnored { task: name.clone(), listed: listed.into() });
        }
        self.plan_task(&task, version, &memory);
        let next = self.plan.due(&key(&name)).filter(|_| name.kind() == TaskKind::Cron);
        self.known.insert(name.clone(), Known { version, task: Some(task), memory });
        let _ = engine.tell_task(TaskEvent::Added { task: name, next });
    }

    /// Plans a cron task, unless it is not due any more.
    fn plan_task(&mut self, task: &Task, version: Version, memory: &Memory) {
        let key = Key::Task(task.id.clone());
        let is_over = task.once && memory.once == Some(version);
        match (&task.when, self.clock.now()) {
            (When::At(expression, zone), Ok(now)) if task.enabled && !is_over => {
                // What was never run is due from when its file was saved on.
                let settled = memory.settled.unwrap_or(version.since());
                self.plan.set(key, Timing::At(expression.clone(), *zone), Some(settled), now);
            }
            (When::At(..), _) => self.plan.remove(&key),
            (When::WithTheHeartbeat, _) => {}
        }
    }

    /// The heartbeat is planned while there is something to do.
    fn plan_heartbeat(&mut self) {
        let beats = self.heartbeats().next().is_some();
        match self.clock.now() {
            Ok(now) if beats => {
                let timing = Timing::Every(self.settings.heartbeat_every);
                if self.plan.timing(&Key::Heartbeat) != Some(&timing) {
                    self.plan.set(Key::Heartbeat, timing, self.heartbeat.settled, now);
                }
            }
            Ok(_) | Err(_) => self.plan.remove(&Key::Heartbeat),
        }
    }

    fn heartbeats(&self) -> impl Iterator<Item = &Arc<Task>> {
        let tasks = self.known.values().filter_map(|known| known.task.as_ref());
        tasks.filter(|task| task.enabled && task.when == When::WithTheHeartbeat)
    }

    async fn forget_all_but(&mut self, engine: &Engine, there: &BTreeMap<TaskId, ()>) {
        let gone: Vec<_> = self.known.keys().filter(|id| !there.contains_key(*id)).cloned().collect();
        for id in gone {
            self.plan.remove(&key(&id));
            self.questions.forget(&id);
            self.known.remove(&id);
            if id.kind() == TaskKind::Cron {
                actors::dismiss(engine, &id).await;
            }
            let _ = engine.tell_task(TaskEvent::Removed { task: id });
        }
    }

    /// Carries out what is due.
    async fn tick(&mut self, engine: &Engine) {
        let Ok(now) = self.clock.now() else { return };
        let due = self.plan.tick(now);
        let writers = actors::writers(engine, &self.dir);
        for (key, due) in due {
            match due {
                Due::Run { at, missed } => self.begin(&key, at, missed, now, &writers).await,
                Due::StillRunning => self.skip(&key, Skip::StillRunning, now),
                Due::Missed { times } => self.skip(&key, Skip::Missed { times }, now),
            }
        }
    }

    async fn run_now(&mut self, engine: &Engine, id: &TaskId) -> Result<(), NotStarted> {
        let now = engine.settings().and(engine.now()).map_err(|_| NotStarted::Stopped)?;
        if self.known.get(id).is_none_or(|known| known.task.is_none()) {
            return Err(NotStarted::Unknown);
        }
        let key = key(id);
        if self.plan.is_running(&key) {
            return Err(NotStarted::Running);
        }
        let writers = actors::writers(engine, &self.dir);
        self.plan.begin(key.clone());
        self.begin(&key, now, 0, now, &writers).await;
        Ok(())
    }

    fn skip(&mut self, key: &Key, why: Skip, now: Timestamp) {
        let tasks: Vec<TaskId> = match key {
            Key::Task(id) => vec![id.clone()],
            Key::Heartbeat => self.heartbeats().map(|task| task.id.clone()).collect(),
        };
        let what = Happened::Skipped(why.clone());
        self.settle(key, now);
        for task in tasks {
            // What still runs is what happened last.
            if why != Skip::StillRunning {
                self.note(&task, now, what.clone(), None);
            }
            self.tell(TaskEvent::Skipped { task, why: why.clone() });
        }
    }

    /// Everything up to `now` is settled.
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

    fn note(&mut self, id: &TaskId, at: Timestamp, what: Happened, once: Option<Version>) {
        if let Some(known) = self.known.get_mut(id) {
            known.memory.last = Some(Last { at, what });
            known.memory.once = once.or(known.memory.once);
            self.scribe.write(self.dir.clone(), Some(id.clone()), known.memory.clone());
        }
    }

    async fn begin(
        &mut self,
        key: &Key,
        at: Timestamp,
        missed: u32,
        now: Timestamp,
        writers: &[(crate::model::AgentId, SanitizedPath)],
    ) {
        let mut tasks: Vec<Arc<Task>> = match key {
            Key::Task(id) => self.known.get(id).and_then(|known| known.task.clone()).into_iter().collect(),
            Key::Heartbeat => self.heartbeats().cloned().collect(),
        };
        // A right that came since the file was read counts as well.
        let written: Vec<_> =
            tasks.iter().filter_map(|task| Some((task.id.clone(), self.writer_of(&task.id, writers)?))).collect();
        for (id, why) in written {
            tasks.retain(|task| task.id != id);
            if let Some(version) = self.known.get(&id).map(|known| known.version) {
                self.reject(&id, version, &files::file(&id), &why);
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
        // A crash after this does not run it again.
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
            // Fails only if the loop is gone, and this with it.
            let _ = written.await;
            run::run(place, key, tasks, at, missed).await
        });
    }

    fn over(&mut self, over: Over) {
        self.plan.ended(&over.key);
        let Ok(now) = self.clock.now() else { return };
        for (id, what) in over.tasks {
            let known = self.known.get(&id);
            let once =
                known.filter(|known| known.task.as_ref().is_some_and(|task| task.once)).map(|known| known.version);
            let is_done = what == Happened::Ended(TaskEnd::Done);
            self.note(&id, now, what.clone(), once.filter(|_| is_done));
            if once.is_some() && is_done {
                self.plan.remove(&key(&id));
            }
            self.tell(match what {
                Happened::Ended(end) => TaskEvent::Finished { task: id, end },
                Happened::Skipped(why) => TaskEvent::Skipped { task: id, why },
                Happened::Started => continue,
            });
        }
    }
}

fn key(id: &TaskId) -> Key {
    match id.kind() {
        TaskKind::Cron => Key::Task(id.clone()),
        TaskKind::Heartbeat => Key::Heartbeat,
    }
}
