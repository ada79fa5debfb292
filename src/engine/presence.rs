//! Presence of people: the users of foreground agents, and the approvers of each owner.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::mpsc;

use crate::{
    kernel::{Command, Waiting},
    model::{AgentId, OwnerId, Request, Route, RunId},
};

use super::{
    Error,
    agent_slot::AgentSlot,
    shared::{Shared, Writer},
    surface::{self, Delivery, Open, Prompt, Surface, Watched, show},
};

impl Shared {
    /// Opens the connection to the user of a foreground agent. An earlier connection of the same agent closes.
    pub(super) fn connect(&self, agent: &AgentId) -> Result<(u64, mpsc::Receiver<Prompt>), Error> {
        self.under_lock(None, |shared, writer, now, stuck| {
            // The earlier connection receives no further prompts.
            let before = writer.carriers.remove(agent);
            let done = shared.carry_out(writer, Command::Connected { agent: agent.clone() }, now, stuck);
            if let Err(why) = done.at_once() {
                if let Some(open) = before {
                    writer.carriers.insert(agent.clone(), open);
                } else {
                    // A broken store gives an error, but the connection counts in the state.
                    shared.carry_out(writer, Command::Disconnected { agent: agent.clone() }, now, stuck);
                }
                return Err(why);
            }
            let (open, receiver) = writer.open_surface(|waiting| is_at(waiting, agent));
            let generation = open.generation;
            writer.carriers.insert(agent.clone(), open);
            writer.fill_when_seen(Surface::Carrier(agent.clone(), generation));
            Ok((generation, receiver))
        })
    }

    /// Shows a message to an agent's own user. It is dropped if no user is connected, or if the user reads too slowly,
    /// because messages must not crowd out waiting requests.
    pub(super) fn say(&self, agent: &AgentId, cell: &Arc<AgentSlot>, text: &str) -> Result<Delivery, Error> {
        self.under_lock(Some((agent, cell)), |_, writer, _, _| {
            let open = writer.carriers.get(agent).filter(|open| open.sender.capacity() > surface::CAPACITY / 2);
            let said = || Prompt::Said { from: agent.clone(), text: text.into() };
            Ok(if open.is_some_and(|open| show(open, said()).is_ok()) { Delivery::Shown } else { Delivery::ByNobody })
        })
    }

    pub(super) fn disconnect(&self, agent: &AgentId, generation: u64) {
        // This fails only if the engine is closed; then no user is connected anyway.
        let _ = self.under_lock(None, |shared, writer, now, stuck| {
            if writer.carriers.get(agent).is_some_and(|open| open.generation == generation) {
                writer.carriers.remove(agent);
                shared.carry_out(writer, Command::Disconnected { agent: agent.clone() }, now, stuck).at_once()?;
            }
            Ok(())
        });
    }

    /// Opens a surface that shows every request that waits for an approval of this owner, or those of the runs that are
    /// watched. At first it watches no run.
    pub(super) fn attend(
        &self,
        owner: &OwnerId,
        watched: Option<Watched>,
    ) -> Result<(u64, mpsc::Receiver<Prompt>), Error> {
        self.under_lock(None, |shared, writer, now, stuck| {
            let done = shared.carry_out(writer, Command::ApproverArrived { owner: owner.clone() }, now, stuck);
            if let Err(why) = done.at_once() {
                // An arrival is never refused. A broken store gives an error, but the arrival counts in the state.
                shared.carry_out(writer, Command::ApproverLeft { owner: owner.clone() }, now, stuck);
                return Err(why);
            }
            let shows_all = watched.is_none();
            let (mut open, receiver) = writer.open_surface(|waiting| shows_all && waiting.request.owner == *owner);
            let generation = open.generation;
            // A surface that watches no run yet has nothing to be filled with.
            (open.filled, open.watched) = (!shows_all, watched);
            writer.approvers.entry(owner.clone()).or_default().push(open);
            if shows_all {
                writer.fill_when_seen(Surface::Approver(owner.clone(), generation));
            }
            Ok((generation, receiver))
        })
    }

    /// Shows a run on a surface from now on. Returns the waiting requests of the run that the surface has not shown.
    pub(super) fn watch_run(&self, owner: &OwnerId, generation: u64, run: &RunId) -> Result<Vec<Arc<Request>>, Error> {
        self.locked(|_, writer, _| {
            let Writer { approvers, queue, .. } = writer;
            let open = find(approvers, owner, generation).ok_or(Error::Closed)?;
            let Some(watched) = &mut open.watched else { return Ok(Vec::new()) };
            let waiting = queue.published().pending.values().map(|waiting| &waiting.request);
            Ok(watched.add(run, waiting.filter(|request| request.owner == *owner)))
        })?
    }

    /// Shows a run on a surface no more.
    pub(super) fn pass_by(&self, owner: &OwnerId, generation: u64, run: &RunId) {
        // An engine that has ended shows nothing anyway.
        let _ = self.locked(|_, writer, _| {
            if let Some(open) = find(&mut writer.approvers, owner, generation) {
                open.watched.as_mut().into_iter().for_each(|watched| watched.remove(run));
            }
        });
    }

    pub(super) fn stop_attending(&self, owner: &OwnerId, generation: u64) {
        let _ = self.under_lock(None, |shared, writer, now, stuck| {
            let Some(open) = writer.approvers.get_mut(owner) else { return Ok(()) };
            let before = open.len();
            open.retain(|open| open.generation != generation);
            if open.len() < before {
                shared.carry_out(writer, Command::ApproverLeft { owner: owner.clone() }, now, stuck).at_once()?;
            }
            Ok(())
        });
    }
}

impl Writer {
    /// Creates a surface, with capacity for all requests that it must show at first.
    fn open_surface(&mut self, belongs: impl Fn(&Waiting) -> bool) -> (Open, mpsc::Receiver<Prompt>) {
        self.generation += 1;
        let waiting = self.queue.decided().pending.values().filter(|waiting| belongs(waiting)).count();
        let (sender, receiver) = mpsc::channel(waiting + surface::CAPACITY);
        (Open { generation: self.generation, sender, filled: false, watched: None }, receiver)
    }

    /// Shows the waiting requests on a surface that was just opened.
    pub(super) fn fill(&mut self, surface: &Surface) {
        let waiting = self.queue.published().pending.values();
        let (open, belongs): (_, Vec<_>) = match surface {
            Surface::Carrier(agent, generation) => {
                let open = self.carriers.get_mut(agent).filter(|open| open.generation == *generation);
                (open, waiting.filter(|waiting| is_at(waiting, agent)).collect())
            }
            Surface::Approver(owner, generation) => {
                let open = find(&mut self.approvers, owner, *generation);
                (open, waiting.filter(|waiting| waiting.request.owner == *owner).collect())
            }
        };
        // The surface may be closed again.
        let Some(open) = open else { return };
        open.filled = true;
        for waiting in belongs {
            // There is room: the channel was sized for these requests.
            let _ = show(open, Prompt::Ask(Arc::clone(&waiting.request)));
        }
    }
}

fn find<'o>(approvers: &'o mut HashMap<OwnerId, Vec<Open>>, owner: &OwnerId, generation: u64) -> Option<&'o mut Open> {
    approvers.get_mut(owner)?.iter_mut().find(|open| open.generation == generation)
}

fn is_at(waiting: &Waiting, carrier: &AgentId) -> bool {
    matches!(&waiting.route, Route::Carrier(agent) if agent == carrier)
}
