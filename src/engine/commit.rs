//! The pipe: the one way of every command through the engine.
//!
//! A command is decided on the state ahead. Its step goes to the store. The published state follows when the store has
//! stored the step, and everyone concerned is told. Without a store, a step counts as stored at once. Changes that take
//! permissions away are published without waiting. If the store fails, all unstored decisions are forgotten, except
//! those that take permissions away. So the engine never publishes, reports or acknowledges a change that a restart
//! would lose.

use crate::{
    kernel::Command,
    model::{Event, Means, Timestamp},
    ports::{Batch, Progress, StoreError, Taken},
};

use super::{
    command_source::CommandSource,
    commit_handle::CommitHandle,
    commit_queue::{Caller, Decided, Part, RolledBack},
    shared::{Shared, StalledChannels, Writer},
    surface::Surface,
};

/// Decided events that go to the store as one step.
struct Passed {
    events: Vec<Event>,
    part: Part,
    via: Option<Means>,
}

impl Writer {
    /// Fills a newly opened surface with its waiting requests, once the step that opened it is published.
    pub(super) fn fill_when_seen(&mut self, surface: Surface) {
        let (_, surfaces) = self.queue.hand_over(Vec::new(), vec![surface]);
        surfaces.iter().for_each(|surface| self.fill(surface));
    }
}

impl Shared {
    /// Decides, stores, publishes and notifies, in this order, so that a recipient finds the change in force. The step
    /// is published and reported when it is stored, which may be later.
    pub(super) fn carry_out(
        &self,
        writer: &mut Writer,
        command: Command,
        now: Timestamp,
        stuck: &mut StalledChannels,
    ) -> CommitHandle {
        self.carry_out_from(writer, command, CommandSource::default(), now, stuck)
    }

    /// Carries out a command of this sender.
    pub(super) fn carry_out_from(
        &self,
        writer: &mut Writer,
        command: Command,
        source: CommandSource<'_>,
        now: Timestamp,
        stuck: &mut StalledChannels,
    ) -> CommitHandle {
        let CommandSource { via, write } = source;
        let decided = writer.queue.decide(command, write, &mut writer.meter, now);
        let Decided { outcome, events, part, restriction } = decided;
        self.pass(writer, Passed { events, part, via: via.cloned() }, now, stuck);
        // If the command decided no event, its result rests on the earlier steps.
        writer.queue.restrict_on_failure(restriction);
        let stored = writer.queue.after_the_last();
        self.set_alarm(writer);
        CommitHandle { outcome, stored, in_doubt: writer.queue.is_in_doubt() }
    }

    /// Passes decided events to the store. The permissions that they take away are published at once, even if storing
    /// them fails.
    fn pass(&self, writer: &mut Writer, passed: Passed, at: Timestamp, stuck: &mut StalledChannels) {
        let Passed { events, part, via } = passed;
        if events.is_empty() {
            return;
        }
        match writer.queue.commit(events, part, at, via) {
            Taken::Stored => self.catch_up(writer, writer.queue.sequence(), stuck),
            Taken::Waits => self.show_losses(writer),
        }
    }

    /// Publishes the permissions that the last decided step takes away.
    fn show_losses(&self, writer: &mut Writer) {
        if let Some(batch) = writer.queue.lose() {
            self.publish_losses(writer, &batch.events);
        }
    }

    /// Publishes, reports and acknowledges every step up to event number `sequence`, which the store has stored.
    fn catch_up(&self, writer: &mut Writer, sequence: u64, stuck: &mut StalledChannels) {
        while let Some(step) = writer.queue.stored(sequence) {
            self.see(writer, &step.batch, stuck);
            step.surfaces.iter().for_each(|surface| writer.fill(surface));
            step.callers.into_iter().for_each(|caller| caller.told(Ok(())));
        }
    }

    /// Publishes a step that is stored, or that takes effect although it is never stored.
    fn see(&self, writer: &mut Writer, batch: &Batch, stuck: &mut StalledChannels) {
        let grants = &writer.queue.published().grants;
        let is_lost = |event: &Event| matches!(event, Event::GrantIssued { grant } if !grants.contains_key(&grant.id));
        if batch.events.iter().any(is_lost) {
            let rest: Vec<_> = batch.events.iter().filter(|event| !is_lost(event)).cloned().collect();
            self.publish(writer, &rest);
        } else {
            self.publish(writer, &batch.events);
        }
        self.tell(writer, batch, stuck);
    }

    /// Forgets the steps that were decided but not stored. Changes that take permissions away are stored again, or take
    /// effect without being stored if the store is broken.
    fn forget(&self, writer: &mut Writer, why: &StoreError, stuck: &mut StalledChannels) {
        let now = self.clock.now().unwrap_or(Timestamp::from_millis(0));
        if let Some((callers, surfaces)) = writer.queue.keep_for_retry(why, now) {
            self.report_unstored(writer, callers, &surfaces, Err(why));
            return;
        }
        let RolledBack { at, takes, restrictions, changed_settings, callers, surfaces } =
            writer.queue.roll_back(writer.sequence, why, now);
        self.pass(writer, Passed { events: takes, part: Part::Restrictive, via: None }, at, stuck);
        for restriction in restrictions {
            self.carry_out(writer, restriction, at, stuck);
        }
        // Forgotten settings stay in force until here, so that their restrictive part is never without effect.
        if changed_settings {
            self.publish_settings(writer);
        }
        if writer.queue.wait_for_retry() {
            self.report_unstored(writer, callers, &surfaces, Err(why));
            return;
        }
        let (callers, surfaces) = writer.queue.hand_over(callers, surfaces);
        let result = writer.queue.result_of_unstored();
        self.report_unstored(writer, callers, &surfaces, result.as_ref().copied());
    }

    /// Reports the result of steps that are in force, although the store does not have them.
    fn report_unstored(
        &self,
        writer: &mut Writer,
        callers: Vec<Caller>,
        surfaces: &[Surface],
        result: Result<(), &StoreError>,
    ) {
        callers.into_iter().for_each(|caller| caller.told(result.map_err(StoreError::clone)));
        surfaces.iter().for_each(|surface| writer.fill(surface));
        self.set_alarm(writer);
    }
}

impl Progress for Shared {
    fn stored(&self, sequence: u64) {
        // This fails only if the engine is closed; then no caller waits.
        let _ = self.locked(|shared, writer, stuck| shared.catch_up(writer, sequence, stuck));
    }

    fn failed(&self, why: StoreError) {
        let _ = self.locked(|shared, writer, stuck| shared.forget(writer, &why, stuck));
    }
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests;
