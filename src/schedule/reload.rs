//! The reload of task files: new, changed, removed and rejected ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Happened, Problem, Task, Timing, When,
    event_loop::{Known, Work},
    files::{self, Content, Found, Look, Memory, saved_at},
    inspect,
    key::{Key, key},
    read::{self, Read},
    task_agent,
    write_access::WriteAccess,
};
use crate::{
    engine::Engine,
    model::{FileVersion, TaskEnd, TaskEvent, TaskId, TaskKind},
};

impl Work {
    pub(super) async fn remember_heartbeat(&mut self) {
        self.heartbeat = self.remembered(None).await;
    }

    async fn remembered(&self, id: Option<TaskId>) -> Memory {
        let dir = self.dir.clone();
        let read = tokio::task::spawn_blocking(move || files::remembered(&dir, id.as_ref()));
        match read.await.unwrap_or_else(|why| Err(why.to_string())) {
            Ok(memory) => memory,
            Err(why) => {
                self.tell_trouble(&format!("the stored record of a task cannot be read and is ignored: {why}"));
                Memory::default()
            }
        }
    }

    /// Reads the files, and takes over their current content.
    pub(super) async fn look(&mut self, engine: &Engine) {
        if let Err(why) = self.hold() {
            self.take_nothing(why.to_string().into());
            return self.plan_heartbeat();
        }
        // This comes before the files are read. A write permission that ends during the read then counts as ended
        // later.
        let Ok(ends) = engine.write_ends() else { return };
        self.ends = ends;
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

    /// Removes all tasks, because the directory is gone or cannot be trusted.
    pub(super) fn take_nothing(&mut self, why: Arc<str>) {
        self.forget_what_was_read();
        if self.trouble.as_ref() != Some(&why) {
            self.tell(TaskEvent::Rejected { file: self.dir.as_str().into(), why: Arc::clone(&why) });
            self.trouble = Some(why);
        }
    }

    /// Forgets all files, so that they are read again. Files that an agent may have written stay rejected.
    pub(super) fn forget_what_was_read(&mut self) {
        let (kept, read): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.known).into_iter().partition(|(_, known)| known.is_tainted);
        self.known = kept;
        read.keys().for_each(|id| self.unplan(id));
    }

    async fn take(&mut self, engine: &Engine, look: Look) {
        self.dir = look.dir;
        let writers = WriteAccess::now(engine, &self.dir);
        let (mut there, mut nameless, mut fresh) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        for Found { file, what } in look.found {
            match what {
                Ok(content) => {
                    there.insert(content.id.clone());
                    fresh.extend(self.if_news(content, file, &writers));
                }
                Err(why) => drop(nameless.insert(file, why)),
            }
        }
        self.forget_all_but(engine, &there).await;
        self.tell_nameless(nameless);
        for (content, file) in fresh {
            match self.understand(&content) {
                Ok(read) => self.add(engine, content.version, read).await,
                Err(why) => self.reject(&content.id, content.version, &file, &why, false),
            }
        }
    }

    /// Returns the file if it must be read. A file that was read before, or that an agent could have written, is left
    /// out.
    fn if_news(&mut self, content: Content, file: Arc<str>, writers: &WriteAccess) -> Option<(Content, Arc<str>)> {
        let known = self.known.get(&content.id).filter(|known| known.version == content.version);
        let (is_known, is_tainted) = (known.is_some(), known.is_some_and(|known| known.is_tainted));
        // A file that was accepted and has not changed does not come from an agent, even if a write permission has
        // ended meanwhile.
        let may_be_new = || writers.once(&content.id, content.version).filter(|_| !is_known || is_tainted);
        let Some(why) = writers.of(&content.id).or_else(may_be_new) else {
            writers.judge(&content.id, content.version, &self.ends, true);
            return (!is_known).then_some((content, file));
        };
        writers.judge(&content.id, content.version, &self.ends, false);
        if !is_tainted {
            self.reject(&content.id, content.version, &file, &why, true);
        }
        None
    }

    fn tell_nameless(&mut self, nameless: BTreeMap<Arc<str>, Arc<str>>) {
        for (file, why) in &nameless {
            if self.nameless.get(file) != Some(why) {
                self.tell(TaskEvent::Rejected { file: Arc::clone(file), why: Arc::clone(why) });
            }
        }
        self.nameless = nameless;
    }

    fn understand(&self, content: &Content) -> Result<Read, String> {
        let own = inspect::own(&self.dir, content);
        let told = |problems: Vec<Problem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        read::read(&content.id, &content.text, own.as_deref(), &self.zone).map_err(told)
    }

    /// Rejects a file. `is_tainted` is true if the reason is that an agent could have written it.
    pub(super) fn reject(&mut self, id: &TaskId, version: FileVersion, file: &str, why: &str, is_tainted: bool) {
        self.unplan(id);
        let memory = self.known.remove(id).map(|known| known.memory).unwrap_or_default();
        self.known.insert(id.clone(), Known { version, task: None, is_tainted, memory });
        self.tell(TaskEvent::Rejected { file: file.into(), why: why.into() });
    }

    /// Removes a cron task from the plan. The heartbeat stays planned for the other tasks.
    fn unplan(&mut self, id: &TaskId) {
        if id.kind() == TaskKind::Cron {
            self.plan.remove(&key(id));
        }
    }

    async fn add(&mut self, engine: &Engine, version: FileVersion, read: Read) {
        let (task, listed) = (Arc::new(read.task), read.ignored);
        let name = task.id.clone();
        if self.known.contains_key(&name) {
            // The latest state may still be on its way to the disk.
            let _ = self.scribe.written().await;
        }
        let mut memory = self.remembered(Some(name.clone())).await;
        // The task now runs more than once. If it becomes a one-time task again later, it has not run as such since
        // then.
        if !task.once && !self.only_by_hand && memory.once.take().is_some() {
            self.scribe.write(self.dir.clone(), Some(name.clone()), memory.clone());
        }
        if !self.plan.is_running(&key(&name)) {
            self.tell_interrupted(&name, &mut memory);
        }
        self.questions.forget(&name);
        if let Some(listed) = listed {
            let _ = engine.tell_task(TaskEvent::PermissionsIgnored { task: name.clone(), listed: listed.into() });
        }
        self.plan_task(&task, version, &memory);
        let next = self.plan.due(&key(&name)).filter(|_| name.kind() == TaskKind::Cron);
        self.known.insert(name.clone(), Known { version, task: Some(task), is_tainted: false, memory });
        let _ = engine.tell_task(TaskEvent::Added { task: name, next });
    }

    /// Reports a run that began and is not running any more as interrupted.
    fn tell_interrupted(&mut self, id: &TaskId, memory: &mut Memory) {
        let Some(last) = memory.last.as_mut().filter(|last| last.what == Happened::Started) else { return };
        last.what = Happened::Ended(TaskEnd::Interrupted);
        self.scribe.write(self.dir.clone(), Some(id.clone()), memory.clone());
        self.tell(TaskEvent::Finished { task: id.clone(), end: TaskEnd::Interrupted });
    }

    /// Plans a cron task, unless it is over or disabled.
    fn plan_task(&mut self, task: &Task, version: FileVersion, memory: &Memory) {
        let key = Key::Task(task.id.clone());
        let is_over = self.only_by_hand || memory.is_over(task);
        match (&task.when, self.clock.wall()) {
            (When::At(expression, zone), Ok(now)) if task.enabled && !is_over => {
                // A task that has never run is due from the time at which its file was saved. A task that has run once
                // and has another schedule now is treated likewise.
                let saved = saved_at(version);
                let settled = memory.settled.map_or(saved, |settled| match memory.once {
                    Some(_) => settled.max(saved),
                    None => settled,
                });
                self.plan.set(key, Timing::At(expression.clone(), zone.clone()), Some(settled), now);
            }
            (When::At(..), _) => self.plan.remove(&key),
            (When::WithTheHeartbeat, _) => {}
        }
    }

    /// Plans the heartbeat while there are heartbeat tasks.
    fn plan_heartbeat(&mut self) {
        let beats = !self.only_by_hand && self.heartbeats().next().is_some();
        match self.clock.wall() {
            Ok(now) if beats => {
                let timing = Timing::Every(self.settings.heartbeat_every);
                if self.plan.timing(&Key::Heartbeat) != Some(&timing) {
                    self.plan.set(Key::Heartbeat, timing, self.heartbeat.settled, now);
                }
            }
            Ok(_) | Err(_) => self.plan.remove(&Key::Heartbeat),
        }
    }

    pub(super) fn heartbeats(&self) -> impl Iterator<Item = &Arc<Task>> {
        let tasks = self.known.values().filter_map(|known| known.task.as_ref());
        tasks.filter(|task| task.enabled && task.when == When::WithTheHeartbeat)
    }

    async fn forget_all_but(&mut self, engine: &Engine, there: &BTreeSet<TaskId>) {
        let gone: Vec<_> = self.known.keys().filter(|id| !there.contains(*id)).cloned().collect();
        for id in gone {
            self.unplan(&id);
            self.questions.forget(&id);
            self.known.remove(&id);
            if id.kind() == TaskKind::Cron {
                task_agent::dismiss(engine, &id).await;
            }
            let _ = engine.tell_task(TaskEvent::Removed { task: id });
        }
    }
}
