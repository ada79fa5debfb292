//! An engine that goes on from what is stored.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use async_trait::async_trait;

use crate::{
    command::Classifier,
    kernel::{Command, Known, State},
    model::{AgentId, SanitizedPath, Settings, Timestamp},
    seam::{Clock, ClockUnreadable, Paths, Store, StoreError, StoreFault, Stored},
};

use super::{Engine, Error, fresh_run, keep::Keeping, seed, shared::Shared, timer};

impl Engine {
    /// An engine that goes on from what `store` holds, and stores everything from then on: agents, grants, denials that are
    /// fresh, and questions that wait are there again under their names. Rights of a session ended with their run.
    ///
    /// Nothing is acknowledged, shown or told before it is stored, but for what takes something away: that is in force at
    /// once. `settings` take effect over what is stored; without them the stored ones stay.
    ///
    /// # Authority
    ///
    /// Whoever can write the store can give every agent anything.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if it cannot be read back whole; [`Error::NoRuntime`] outside a runtime; [`Error::Commands`] if rules
    /// about commands contradict their examples.
    pub async fn restore(
        settings: Option<Settings>,
        clock: Arc<dyn Clock>,
        paths: Arc<dyn Paths>,
        store: Arc<dyn Store>,
    ) -> Result<Engine, Error> {
        Engine::restore_keeping_out(settings, clock, paths, store, None).await
    }

    /// As [`Engine::restore`]; nothing reaches `own`, whatever the settings come to say.
    pub(crate) async fn restore_keeping_out(
        settings: Option<Settings>,
        clock: Arc<dyn Clock>,
        paths: Arc<dyn Paths>,
        store: Arc<dyn Store>,
        own: Option<SanitizedPath>,
    ) -> Result<Engine, Error> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| Error::NoRuntime)?;
        settings.as_ref().map_or(Ok(()), |settings| Classifier::with_rules(&settings.commands).map(drop))?;
        let reading = Arc::clone(&store);
        let history = runtime.spawn_blocking(move || History::read(&*reading));
        let history = history.await.map_err(|_| Error::Closed)?.map_err(Error::Store)?;
        let clock = not_before(clock, history.at);
        let settings_then = &history.state.settings;
        let classifier = Classifier::with_rules(&settings_then.commands)?.guarding(&settings_then.sensitive);
        let state = history.state.on(own.into_iter().fold(paths.floor(), |floor, own| floor.with([own])));
        let shared = Arc::new(Shared::new(state, classifier, clock, paths, seed()));
        let progress: Weak<Shared> = Arc::downgrade(&shared);
        store.report_to(progress);
        shared.keep_in(store, history.sequence)?;
        runtime.spawn(timer::run(Arc::downgrade(&shared)));
        let engine = Engine { shared };
        let resume = Command::Resume { settings: settings.map(Arc::new), run: fresh_run(), cut: history.cut };
        engine.shared.execute(resume).acknowledged().await?;
        Ok(engine)
    }
}

/// What was stored.
#[derive(Debug)]
struct History {
    state: State,
    sequence: u64,
    at: Timestamp,
    cut: Option<Arc<str>>,
}

impl History {
    fn read(store: &dyn Store) -> Result<History, StoreError> {
        let (state, at) = (State::new(Settings::default()), Timestamp::from_millis(0));
        let mut history = History { state, sequence: 0, at, cut: None };
        store.load(&mut |stored| history.take(stored))?;
        Ok(history)
    }

    fn take(&mut self, stored: Stored) -> Result<(), StoreError> {
        match stored {
            Stored::Snapshot { sequence, at, image } => {
                let unreadable = |why| {
                    let what = format!("the snapshot of event {sequence} cannot be read: {why}");
                    StoreError::new(StoreFault::Broken, what)
                };
                self.state = State::from_image(&image).map_err(unreadable)?;
                (self.sequence, self.at) = (sequence, at);
            }
            Stored::Event(recorded) => {
                self.state.apply(&recorded.event);
                (self.sequence, self.at) = (recorded.sequence, self.at.max(recorded.at));
            }
            Stored::Cut { what } => self.cut = Some(what),
        }
        Ok(())
    }
}

impl Shared {
    /// Whether events are stored.
    pub(super) fn keeps(&self) -> bool {
        self.lock().is_ok_and(|writer| writer.keeping.is_some())
    }

    /// Looks at what was decided on behalf of an agent, where that is ahead of what is seen.
    pub(super) fn look_ahead<T>(
        &self,
        agent: &AgentId,
        look: impl FnOnce(&State, &Known, Timestamp) -> T,
    ) -> Result<Option<T>, Error> {
        let now = self.clock.now()?;
        let writer = self.lock()?;
        let Some(ahead) = writer.keeping.as_ref().and_then(Keeping::ahead) else { return Ok(None) };
        Ok(Some(look(ahead, ahead.agent(agent)?, now)))
    }

    /// Ends, once what was decided is stored.
    pub(super) async fn finish(&self) {
        self.end_outside().await;
        let now = self.clock.now().ok();
        let keeping = self.locked(|shared, writer, stuck| {
            if let Some(now) = now {
                // Whether it is stored, the last step says.
                shared.tell_numbers(writer, now, stuck);
            }
            let keeping = writer.keeping.as_mut()?;
            Some((Arc::clone(&keeping.store), keeping.after_the_last()))
        });
        let (store, last) = keeping.ok().flatten().unzip();
        if let Some(last) = last.flatten() {
            // Whatever became of it, whoever waits for it knows.
            let _ = last.await;
        }
        self.shut_down();
        if let Some(store) = store {
            // Fails only if the runtime ends, and the process with it.
            let _ = tokio::task::spawn_blocking(move || store.close()).await;
        }
    }

    /// Stores everything from now on.
    fn keep_in(&self, store: Arc<dyn Store>, sequence: u64) -> Result<(), Error> {
        self.locked(|shared, writer, _| {
            writer.sequence = sequence;
            writer.keeping = Some(Keeping::new(store, writer.state.clone(), sequence));
            shared.publish_all(writer);
            shared.set_alarm(writer);
        })
    }
}

/// The clock of an engine that goes on: if the machine's was set back meanwhile, time goes on from the last event, so
/// that nothing lasts longer for it.
fn not_before(clock: Arc<dyn Clock>, last: Timestamp) -> Arc<dyn Clock> {
    let behind = clock.now().map_or(Duration::ZERO, |now| now.until(last));
    if behind.is_zero() { clock } else { Arc::new(Resumed { clock, behind }) }
}

#[derive(Debug)]
struct Resumed {
    clock: Arc<dyn Clock>,
    behind: Duration,
}

#[async_trait]
impl Clock for Resumed {
    fn now(&self) -> Result<Timestamp, ClockUnreadable> {
        self.clock.now().map(|now| now.after(self.behind))
    }

    async fn reaches(&self, moment: Timestamp) {
        let behind = u64::try_from(self.behind.as_millis()).unwrap_or(u64::MAX);
        self.clock.reaches(Timestamp::from_millis(moment.as_millis().saturating_sub(behind))).await;
    }
}
