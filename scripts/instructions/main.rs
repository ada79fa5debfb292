//! Does one kind of step as often as it is told: `instructions CASE COUNT [time]`. Without arguments it lists the cases,
//! each with a small count.

use std::{sync::Arc, time::Instant};

use bestow::{
    Action, Agent, AgentId, Answer, Engine, InitialGrants, Kind, Permission, PermissionRequest, Profile, Settings,
    grant::{GrantId, PermissionRef, Reads},
    host::{AsWritten, Clock, ManualClock, SystemClock},
    user::Prompt,
};

const CASES: [(&str, u32); 15] = [
    ("check-handle-4", 2_000),
    ("check-handle-32", 2_000),
    ("check-id-4", 2_000),
    ("grant-4", 100),
    ("grant-32", 100),
    ("grant-256", 40),
    ("grant-32-many-subscribers", 10),
    ("revoke-4", 100),
    ("revoke-32", 100),
    ("revoke-256", 40),
    ("request-routed", 100),
    ("request-answered", 100),
    ("authorize-write", 100),
    ("authorize-ls", 100),
    ("register-and-retire", 50),
];

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [case, count, ..] = arguments.as_slice() else {
        CASES.iter().for_each(|(case, few)| println!("{case} {few}"));
        return;
    };
    let count: u32 = count.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let spent = runtime.block_on(measured(case, count));
    if arguments.len() > 2 {
        println!("{:.0} ns", spent);
    }
}

struct World {
    engine: Engine,
    lead: Agent,
    agents: Vec<Agent>,
    roots: usize,
}

/// Returns the clock of the machine, for times. Callgrind cannot follow how that one is read.
fn clock() -> Arc<dyn Clock> {
    if std::env::args().len() > 3 { Arc::new(SystemClock::new()) } else { Arc::new(ManualClock::at(bestow::event::Timestamp::from_millis(1_000_000))) }
}

fn id(number: usize) -> AgentId {
    format!("agent-{number:018}").parse().unwrap()
}

fn profile(id: AgentId, kind: Kind) -> Profile {
    Profile::new(id, "you".parse().unwrap(), kind, "/srv".parse().unwrap())
}

fn root(agent: usize, root: usize) -> Permission {
    let access = if root % 2 == 0 { "write" } else { "read" };
    format!("@{access}:/srv/agents/{agent:09}/work/part-{root:03}/src").parse().unwrap()
}

impl World {
    async fn new(roots: usize) -> World {
        let mut settings = Settings::default();
        (settings.max_changes_per_minute, settings.max_facts_per_minute) = (u32::MAX, u32::MAX);
        (settings.max_asks_per_minute, settings.max_grants) = (u32::MAX, u32::MAX);
        settings.reads = Reads::Granted;
        let engine = Engine::on(settings, clock(), Arc::new(AsWritten)).unwrap();
        let all = InitialGrants::of(["@write:/srv".parse::<Permission>().unwrap()]);
        let lead = engine.register(profile("lead".parse().unwrap(), Kind::Foreground), all).await.unwrap();
        let mut agents = Vec::new();
        for agent in 0..300 {
            let held = InitialGrants::of((0..roots).map(|number| root(agent, number)));
            agents.push(engine.register(profile(id(agent), Kind::Subagent), held).await.unwrap());
        }
        World { engine, lead, agents, roots }
    }

    /// Gives one more directory to an agent that has the usual number.
    async fn grant(&self, number: u32) -> GrantId {
        let to = self.agents[number as usize % self.agents.len()].id();
        let given: Permission = format!("@read:/srv/given/number-{number:06}").parse().unwrap();
        self.lead.grant(to, given, "bench").await.unwrap()[0]
    }

    fn path(&self, agent: usize, number: u32) -> String {
        format!("/srv/agents/{agent:09}/work/part-{:03}/src/lib/deep/file.rs", number as usize % self.roots)
    }
}

/// Returns nanoseconds for each step.
async fn measured(case: &str, count: u32) -> f64 {
    let roots = case.split('-').find_map(|word| word.parse().ok()).unwrap_or(4);
    let world = World::new(roots).await;
    let agent = &world.agents[7];
    let each = |started: Instant| started.elapsed().as_nanos() as f64 / f64::from(count);
    match case {
        "check-handle-4" | "check-handle-32" => {
            let paths: Vec<_> = (0..64).map(|number| world.path(7, number)).collect();
            let started = Instant::now();
            let held = (0..count)
                .filter(|number| agent.check(PermissionRef::read(&paths[*number as usize % paths.len()])).is_held());
            assert_eq!(held.count(), count as usize);
            each(started)
        }
        "check-id-4" => {
            let path = world.path(7, 1);
            let started = Instant::now();
            let held = (0..count).filter(|_| world.engine.check(agent.id(), PermissionRef::read(&path)).is_held());
            assert_eq!(held.count(), count as usize);
            each(started)
        }
        "grant-32-many-subscribers" => {
            let mut waiting = tokio::task::JoinSet::new();
            for _ in 0..1_000 {
                let mut events = world.engine.subscribe();
                waiting.spawn(async move { while events.next().await.is_ok() {} });
            }
            let mut spent = 0.0;
            for number in 0..count {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                let started = Instant::now();
                world.grant(number).await;
                spent += started.elapsed().as_nanos() as f64;
            }
            spent / f64::from(count)
        }
        _ if case.starts_with("grant") => {
            let started = Instant::now();
            for number in 0..count {
                world.grant(number).await;
            }
            each(started)
        }
        _ if case.starts_with("revoke") => {
            // The instructions contain a grant each; the time does not.
            let mut spent = 0.0;
            for number in 0..count {
                let given = world.grant(number).await;
                let started = Instant::now();
                world.engine.revoke(given, None).await.unwrap();
                spent += started.elapsed().as_nanos() as f64;
            }
            spent / f64::from(count)
        }
        "request-routed" | "request-answered" => {
            let you = world.engine.approver("you", "ann", "bench");
            let mut user = world.engine.connect(world.lead.id()).unwrap();
            let mut spent = 0.0;
            for _ in 0..count {
                let started = Instant::now();
                let ask = PermissionRequest::new(Permission::Network, "to measure");
                let ticket = agent.request(ask).await.unwrap();
                let shown = user.next().await.unwrap();
                assert!(matches!(shown, Prompt::Ask(_)));
                if case == "request-routed" {
                    spent += started.elapsed().as_nanos() as f64;
                    agent.cancel(ticket.id()).await.unwrap();
                } else {
                    you.answer(ticket.id(), Answer::deny()).await.unwrap();
                    ticket.resolution().await;
                    spent += started.elapsed().as_nanos() as f64;
                    world.engine.user_active(world.lead.id()).await.unwrap();
                }
                user.next().await.unwrap();
            }
            spent / f64::from(count)
        }
        "authorize-write" | "authorize-ls" => {
            let path = world.path(7, 0);
            let started = Instant::now();
            for _ in 0..count {
                let action = if case == "authorize-ls" { Action::command("ls -la src") } else { Action::write(&path) };
                let _ = agent.authorize(action).await.unwrap();
            }
            each(started)
        }
        "register-and-retire" => {
            let started = Instant::now();
            for number in 0..count {
                let new: AgentId = format!("new-{number:06}").parse().unwrap();
                let held = InitialGrants::of((0..4).map(|part| root(500, part)));
                world.engine.register(profile(new.clone(), Kind::Subagent), held).await.unwrap();
                world.engine.retire(&new).await.unwrap();
            }
            each(started)
        }
        _ => panic!("no such case: {case}"),
    }
}
