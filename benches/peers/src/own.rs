//! bestow: by handle, by id and by text.

use std::{
    collections::HashMap,
    future::Future,
    pin::pin,
    sync::{Arc, Mutex},
    task,
};

use bestow::{
    Agent, AgentId, Engine, InitialGrants, Kind, Permission, Profile, Settings,
    grant::{Access, GrantId, PermissionRef, Reads},
    host::{AsWritten, SystemClock},
};

use crate::{
    contender::{Asked, Change, Contender},
    world::World,
};

/// The way in which a query names its agent.
#[derive(Clone, Copy)]
enum Naming {
    Handle,
    Id,
    Text,
}

pub(crate) struct Own {
    engine: Engine,
    agents: Vec<Agent>,
    ids: Vec<AgentId>,
    /// The agent that gives permissions. It may read everything.
    lead: Agent,
    /// The permission that each agent got last.
    given: Mutex<HashMap<usize, GrantId>>,
    naming: Naming,
    _runtime: tokio::runtime::Runtime,
}

impl Own {
    pub(crate) fn by_handle(world: &World) -> Box<dyn Contender> {
        Box::new(Own::load(world, Naming::Handle))
    }

    pub(crate) fn by_id(world: &World) -> Box<dyn Contender> {
        Box::new(Own::load(world, Naming::Id))
    }

    pub(crate) fn by_text(world: &World) -> Box<dyn Contender> {
        Box::new(Own::load(world, Naming::Text))
    }

    fn load(world: &World, naming: Naming) -> Own {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let guard = runtime.enter();
        let mut settings = Settings::default();
        (settings.max_changes_per_minute, settings.max_grants) = (u32::MAX, u32::MAX);
        settings.reads = Reads::Granted;
        let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
        let everything = InitialGrants::of(["@read:/".parse::<Permission>().unwrap()]);
        let lead = done(engine.register(profile("lead".parse().unwrap()), everything)).unwrap();
        let mut agents = Vec::with_capacity(world.agents.len());
        for first in (0..world.agents.len()).step_by(1_000) {
            let some = first..(first + 1_000).min(world.agents.len());
            let new =
                some.map(|agent| (profile(world.agents[agent].0.clone()), InitialGrants::of(world.permissions(agent))));
            agents.extend(done(engine.register_all(new)).unwrap());
        }
        drop(guard);
        let ids = world.agents.iter().map(|(id, _)| id.clone()).collect();
        Own { engine, agents, ids, lead, given: Mutex::default(), naming, _runtime: runtime }
    }
}

fn profile(id: AgentId) -> Profile {
    Profile::new(id, "you".parse().unwrap(), Kind::Subagent, "/srv".parse().unwrap())
}

impl Contender for Own {
    fn check(&self, asked: Asked<'_>) -> bool {
        let want = PermissionRef::Path(asked.access, asked.path);
        let answer = match self.naming {
            Naming::Handle => self.agents[asked.agent].check(want),
            Naming::Id => self.engine.check(&self.ids[asked.agent], want),
            Naming::Text => self.engine.check(asked.id, want),
        };
        answer.is_held()
    }

    /// Gives the directory by another agent: the engine checks that this agent holds it, and records why it gave it.
    /// Takes it again, by that agent.
    fn publish(&self, change: Change<'_>) -> bool {
        let mut given = self.given.lock().unwrap();
        if change.is_given {
            let permission = Permission::Path(Access::Read, change.path.parse().unwrap());
            let grants = done(self.lead.grant(&self.ids[change.agent], permission, "bench")).unwrap();
            given.insert(change.agent, grants[0]);
        } else if let Some(grant) = given.remove(&change.agent) {
            done(self.lead.revoke(grant, None)).unwrap();
        }
        true
    }
}

/// Returns the result of a future that does not wait, as all of an engine in memory.
pub(crate) fn done<T>(future: impl Future<Output = T>) -> T {
    let mut context = task::Context::from_waker(task::Waker::noop());
    match pin!(future).poll(&mut context) {
        task::Poll::Ready(result) => result,
        task::Poll::Pending => panic!("an engine in memory waits for nothing"),
    }
}
