//! Recovery of an engine from its store.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use async_trait::async_trait;

use crate::{
    kernel::{Command, Known, RunsAtOpen, State},
    model::{AgentId, SanitizedPath, Settings, Timestamp},
    ports::{Clock, ClockUnreadable, Paths, Store, StoreError, Stored},
};

use super::{Engine, Error, classifier::classifier_for, commit_queue::CommitQueue, fresh::seed, shared::Shared, timer};

impl Engine {
    /// Creates an engine from the content of `store`, and stores everything from then on. Agents, grants, recent
    /// denials and waiting requests are restored with their ids. What was allowed for a session has ended, and what was
    /// denied for one goes on.
    ///
    /// The engine stores each change before it acknowledges, shows or reports it. Changes that take permissions away
    /// take effect at once. `settings` replace the stored ones; without them the stored ones stay.
    ///
    /// # Authority
    ///
    /// A process that can write the store can give every agent any permission.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if the store cannot be read completely; [`Error::NoRuntime`] outside a runtime;
    /// [`Error::Commands`] if rules about commands contradict their examples.
    pub async fn restore(
        settings: Option<Settings>,
        clock: Arc<dyn Clock>,
        paths: Arc<dyn Paths>,
        store: Arc<dyn Store>,
    ) -> Result<Engine, Error> {
        Engine::restore_keeping_out(settings, clock, paths, store, Vec::new(), RunsAtOpen::End).await
    }

    /// Restores like [`Engine::restore`] with the stored settings, for a moment between two engines. If the engine
    /// before left the runs of its agents to the next one ([`Engine::open_durable_continuing`]), they go on.
    ///
    /// # Authority
    ///
    /// The authority of [`Engine::restore`].
    ///
    /// # Errors
    ///
    /// The errors of [`Engine::restore`].
    #[cfg(feature = "journal")]
    pub async fn restore_between(
        clock: Arc<dyn Clock>,
        paths: Arc<dyn Paths>,
        store: Arc<dyn Store>,
    ) -> Result<Engine, Error> {
        Engine::restore_keeping_out(None, clock, paths, store, Vec::new(), RunsAtOpen::AsBefore).await
    }

    /// Returns true if the runs of the agents go on in the next engine.
    #[cfg(feature = "journal")]
    pub(crate) fn runs_go_on(&self) -> Result<bool, Error> {
        Ok(self.shared.lock()?.queue.published().runs_go_on)
    }

    /// Restores like [`Engine::restore`]. No agent may access `own`, whatever the settings say later.
    pub(crate) async fn restore_keeping_out(
        settings: Option<Settings>,
        clock: Arc<dyn Clock>,
        paths: Arc<dyn Paths>,
        store: Arc<dyn Store>,
        own: Vec<SanitizedPath>,
        runs: RunsAtOpen,
    ) -> Result<Engine, Error> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| Error::NoRuntime)?;
        settings.as_ref().map_or(Ok(()), |settings| classifier_for(settings).map(drop))?;
        let reading = Arc::clone(&store);
        let history = runtime.spawn_blocking(move || History::read(&*reading));
        let history = history.await.map_err(|_| Error::Closed)?.map_err(Error::Store)?;
        let clock = not_before(clock, history.at);
        let classifier = classifier_for(&history.state.settings)?;
        let state = history.state.on(paths.floor().with_engine_at(own));
        let queue = CommitQueue::stored_in(Arc::clone(&store), state, history.sequence);
        let shared = Arc::new(Shared::new(queue, classifier, clock, paths, seed()));
        let progress: Weak<Shared> = Arc::downgrade(&shared);
        store.report_to(progress);
        shared.locked(|shared, writer, _| {
            shared.publish_all(writer);
            shared.set_alarm(writer);
        })?;
        timer::start(&shared, &runtime);
        let engine = Engine { shared: shared.into() };
        let resume = Command::Resume { settings: settings.map(Arc::new), cut: history.cut, runs };
        engine.shared.execute_own(resume).acknowledged().await?;
        Ok(engine)
    }
}

/// The stored history of an engine.
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
        store.load(&mut |stored| {
            history.take(stored);
            Ok(())
        })?;
        Ok(history)
    }

    fn take(&mut self, stored: Stored) {
        match stored {
            Stored::Snapshot { sequence, at, state } => {
                (self.state, self.sequence, self.at) = (*state.0, sequence, at);
            }
            Stored::Event(recorded) => {
                self.state.apply(&recorded.event);
                (self.sequence, self.at) = (recorded.sequence, self.at.max(recorded.at));
            }
            Stored::Cut { what } => self.cut = Some(what),
        }
    }
}

impl Shared {
    /// Returns true if events are stored.
    pub(super) fn keeps(&self) -> bool {
        self.lock().is_ok_and(|writer| writer.queue.store().is_some())
    }

    /// Reads the decided state on behalf of an agent, if it is ahead of the published one.
    pub(super) fn look_ahead<T>(
        &self,
        agent: &AgentId,
        look: impl FnOnce(&State, &Known, Timestamp) -> T,
    ) -> Result<Option<T>, Error> {
        let now = self.clock.now()?;
        let writer = self.lock()?;
        let Some(ahead) = writer.queue.ahead() else { return Ok(None) };
        Ok(Some(look(ahead, ahead.agent(agent)?, now)))
    }

    /// Ends the engine, once every decision is stored.
    pub(super) async fn finish(&self) {
        self.end_outside().await;
        let now = self.clock.now().ok();
        let last_step = self.locked(|shared, writer, stuck| {
            if let Some(now) = now {
                // The last step reports if this is stored.
                shared.tell_numbers(writer, now, stuck);
            }
            (writer.queue.store().cloned(), writer.queue.after_the_last())
        });
        let (store, last) = last_step.unwrap_or_default();
        if let Some(last) = last {
            // Each waiting caller gets the result itself.
            let _ = last.await;
        }
        self.shut_down();
        if let Some(store) = store {
            // This fails only if the runtime ends, and the process with it.
            let _ = tokio::task::spawn_blocking(move || store.close()).await;
        }
    }
}

/// Returns a clock that never goes back behind the last event. If the machine's clock was set back meanwhile, time
/// continues from the last event, so that no permission lasts longer.
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
