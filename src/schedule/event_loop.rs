//! The event loop around the plan. It waits for the next event and handles it. The clock provides every wait for a
//! time.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    task::JoinSet,
};

use super::{
    Gatekeeper, NotStarted, Plan, Runner, Scheduler, SchedulerError, Task, TaskStatus, Tasks, TimeZone,
    directory_lock::{DirectoryLock, NotAlone},
    files::{Directory, Memory},
    gate::Questions,
    key::{Key, key},
    orders::{Order, RunEnd},
    run::Over,
    scheduler::{directory, zone},
    state_writer::StateWriter,
};
use crate::{
    engine::{Engine, NoEvent, Subscription, WeakEngine},
    kernel::WriteEnds,
    model::{Event, FileVersion, SanitizedPath, TaskEvent, TaskId, TaskSettings, Timestamp},
    ports::Clock,
};

/// The longest time between two checks of the plan, while something is planned.
const LOOKS: Duration = Duration::from_secs(60);

/// The messages of the watcher of the directory.
#[derive(Debug)]
pub(crate) enum News {
    /// The directory has changed.
    Changed,
    /// Changes are noticed late, because the watcher polls.
    Polling(String),
}

/// A function that watches a directory of tasks until its receiver is dropped.
pub(crate) type Watch = Box<dyn Fn(SanitizedPath) -> mpsc::Receiver<News> + Send + Sync>;

/// A known task file.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) version: FileVersion,
    /// The task, or `None` if the file was rejected.
    pub(super) task: Option<Arc<Task>>,
    /// True if an agent could have written the file. The file then stays rejected until it is saved again.
    pub(super) is_tainted: bool,
    pub(super) memory: Memory,
}

pub(super) struct Work {
    pub(super) weak: WeakEngine,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) runner: Arc<dyn Runner>,
    pub(super) keeper: Arc<dyn Gatekeeper>,
    pub(super) questions: Arc<Questions>,
    pub(super) settings: TaskSettings,
    pub(super) follows: bool,
    /// True if no task is due by itself.
    pub(super) only_by_hand: bool,
    pub(super) zone: TimeZone,
    pub(super) directory: Directory,
    pub(super) alone: DirectoryLock,
    /// True if it was already reported that the lock file cannot be locked.
    pub(super) told_unlocked: bool,
    /// The real path of the directory, once it is known.
    pub(super) dir: SanitizedPath,
    /// The reason for which the whole directory is rejected, if there is one.
    pub(super) trouble: Option<Arc<str>>,
    pub(super) known: BTreeMap<TaskId, Known>,
    /// Files whose names cannot be names of tasks.
    pub(super) nameless: BTreeMap<Arc<str>, Arc<str>>,
    pub(super) heartbeat: Memory,
    pub(super) plan: Plan<Key>,
    pub(super) running: JoinSet<Over>,
    /// The callers that wait for the end of a run, by the task that they started.
    pub(super) waiting: HashMap<TaskId, oneshot::Sender<RunEnd>>,
    /// The write permissions that had ended when the files were last read.
    pub(super) ends: WriteEnds,
    pub(super) room: Arc<Semaphore>,
    pub(super) scribe: StateWriter,
    pub(super) watch: Watch,
    pub(super) news: mpsc::Receiver<News>,
}

/// Starts the loop, after it has read all task files.
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
    // The subscription comes before the first read, so that no change of the settings is missed.
    let events = engine.subscribe();
    let mut work = Work {
        weak: engine.downgrade(),
        clock: engine.clock(),
        runner: scheduler.runner,
        keeper,
        questions: Arc::default(),
        follows,
        only_by_hand: scheduler.only_by_hand,
        zone,
        directory: Directory::new(dir.clone()),
        alone: DirectoryLock::default(),
        told_unlocked: false,
        trouble: None,
        known: BTreeMap::new(),
        nameless: BTreeMap::new(),
        heartbeat: Memory::default(),
        plan: Plan::new(settings.catch_up, settings.jitter),
        running: JoinSet::new(),
        waiting: HashMap::new(),
        ends: WriteEnds::default(),
        room: Arc::new(Semaphore::new(room(&settings))),
        scribe: StateWriter::start(engine.downgrade()),
        news: watch(dir.clone()),
        watch,
        dir,
        settings,
    };
    work.hold()?;
    work.remember_heartbeat().await;
    work.look(engine).await;
    let (orders, theirs) = mpsc::channel(16);
    let alone = work.alone.clone();
    let work = tokio::spawn(work.run(events, theirs));
    Ok(Tasks { orders, work, alone })
}

fn room(settings: &TaskSettings) -> usize {
    usize::try_from(settings.max_running).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS)
}

impl Work {
    /// Runs until the engine or the handle is gone.
    async fn run(mut self, events: Subscription, orders: mpsc::Receiver<Order>) {
        self.go_on(events, orders).await;
        self.alone.let_go();
    }

    async fn go_on(&mut self, mut events: Subscription, mut orders: mpsc::Receiver<Order>) {
        loop {
            let (clock, next) = (Arc::clone(&self.clock), self.next_look());
            let due = async move {
                match next {
                    Some(next) => clock.wall_reaches(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.next() => match event {
                    Err(NoEvent::Ended) => return,
                    Ok(recorded) if !matches!(recorded.event, Event::SettingsChanged { .. }) => {}
                    // Events were missed, and a change of the settings may be among them.
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
                    Some(Order::Stop(answer)) => {
                        self.running.shutdown().await;
                        let _ = self.scribe.written().await;
                        // The receiver may be gone.
                        let _ = answer.send(());
                        return;
                    }
                    Some(order) => self.obey(order).await,
                    None => return,
                },
                () = due => self.with(Work::tick).await,
            }
        }
    }

    /// Returns the time of the next check of the plan, if something is planned. This is the next due time, or now if
    /// the clock was set back. It is never far away, because the system does not report that the clock was set.
    fn next_look(&self) -> Option<Timestamp> {
        let next = self.plan.next()?;
        match self.clock.wall() {
            Ok(now) if self.plan.is_ahead_of(now) => Some(now),
            Ok(now) => Some(next.min(now.after(LOOKS))),
            Err(_) => Some(next),
        }
    }

    /// Locks the directory, so that no other program runs its tasks. If the lock file cannot be locked, this is
    /// reported and the tasks run anyway.
    pub(super) fn hold(&mut self) -> Result<(), SchedulerError> {
        match self.alone.hold(&self.dir) {
            Ok(()) => {}
            Err(NotAlone::Runs(pid)) => return Err(SchedulerError::InUse { dir: self.dir.clone(), pid }),
            // The directory is missing, so there is no task to run. The next read tries the lock again.
            Err(NotAlone::Unknown(why)) if why.kind() == std::io::ErrorKind::NotFound => {}
            Err(NotAlone::Unknown(_)) if self.told_unlocked => {}
            Err(NotAlone::Unknown(why)) => {
                self.told_unlocked = true;
                self.tell_trouble(&format!("the tasks are not locked, and another program may run them too: {why}"));
            }
        }
        Ok(())
    }

    /// Calls `work` with the engine, if the engine still exists.
    async fn with(&mut self, work: impl AsyncFnOnce(&mut Work, &Engine)) {
        if let Some(engine) = self.weak.upgrade() {
            work(self, &engine).await;
        }
    }

    pub(super) fn tell(&self, event: TaskEvent) {
        // This fails only if the engine ends, and then the event has no reader.
        if let Some(engine) = self.weak.upgrade() {
            let _ = engine.tell_task(event);
        }
    }

    pub(super) fn tell_trouble(&self, why: &str) {
        self.tell(TaskEvent::Trouble { why: why.into() });
    }

    async fn obey(&mut self, order: Order) {
        // The receivers of the answers may be gone.
        match order {
            Order::List(answer) => {
                let _ = answer.send(self.list());
            }
            Order::Run(id, answer) => {
                let mut started = Err(NotStarted::Stopped);
                self.with(async |work: &mut Work, engine: &Engine| started = work.run_now(engine, &id).await).await;
                let _ = answer.send(started);
            }
            Order::Stop(_) => {}
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

    /// Takes over changed settings.
    async fn follow(&mut self, engine: &Engine) {
        let Ok(settings) = engine.settings() else { return };
        let new = settings.tasks.clone();
        if !self.follows || new == self.settings {
            return;
        }
        let (dir, zone) = match (directory(&new), zone(&new)) {
            (Ok(dir), Ok(zone)) => (dir, zone),
            (Err(why), _) | (_, Err(why)) => {
                self.settings = new;
                return self.take_nothing(why.to_string().into());
            }
        };
        self.room = Arc::new(Semaphore::new(room(&new)));
        self.plan.change(new.catch_up, new.jitter);
        if self.settings.dir != new.dir {
            self.news = (self.watch)(dir.clone());
        }
        self.directory = Directory::new(dir.clone());
        (self.dir, self.zone, self.settings) = (dir, zone, new);
        // All files must be read again, because the time zone or the heartbeat interval may have changed.
        self.forget_what_was_read();
        self.remember_heartbeat().await;
        self.look(engine).await;
    }
}
