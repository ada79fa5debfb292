//! Does one kind of step as often as it is told: `instructions CASE COUNT [time]`. Without arguments it lists the
//! cases, each with a small count. `instructions large` prints the times of steps among many agents, and of steps that
//! several tasks do at once.

use std::{sync::Arc, time::Instant};

use bestow::{
    Action, Agent, AgentId, Answer, Engine, InitialGrants, Kind, Permission, PermissionRequest, Policy, Profile,
    Settings,
    grant::{GrantId, Hold, PermissionRef, Permissions, PinnedPermission, Place, Reads},
    host::{AsWritten, Clock, ManualClock, SystemClock},
    policy::{AgentPolicy, PolicyPermission},
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
    if arguments.first().is_some_and(|case| case == "large") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(large());
        tasks();
        return answers();
    }
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

/// The number of grants that exist before a small number of them is revoked.
const GIVEN: u32 = 300;

struct World {
    engine: Engine,
    lead: Agent,
    agents: Vec<Agent>,
    roots: usize,
}

/// Returns the clock of the machine, for times. Callgrind cannot follow how that one is read.
fn clock() -> Arc<dyn Clock> {
    if std::env::args().len() > 3 {
        Arc::new(SystemClock::new())
    } else {
        Arc::new(ManualClock::at(bestow::event::Timestamp::from_millis(1_000_000)))
    }
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

fn settings() -> Settings {
    let mut settings = Settings::default();
    (settings.max_changes_per_minute, settings.max_facts_per_minute) = (u32::MAX, u32::MAX);
    (settings.max_asks_per_minute, settings.max_grants) = (u32::MAX, u32::MAX);
    settings.denial_memory = std::time::Duration::ZERO;
    settings.reads = Reads::Granted;
    settings
}

fn engine(clock: Arc<dyn Clock>) -> Engine {
    Engine::on(settings(), clock, Arc::new(AsWritten)).unwrap()
}

impl World {
    async fn new(roots: usize) -> World {
        let engine = engine(clock());
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

/// Prints the times of steps among many agents, and the memory of an engine without any.
async fn large() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = resident();
    let idle: Vec<_> = (0..100).map(|_| engine(Arc::new(SystemClock::new()))).collect();
    println!("an idle engine: {} KiB", (resident() - before) / 100);
    drop(idle);
    for count in [100, 100_000] {
        let engine = engine(Arc::new(SystemClock::new()));
        for number in 0..count {
            let held = InitialGrants::of((0..4).map(|part| root(number, part)));
            engine.register(profile(id(number), Kind::Subagent), held).await.unwrap();
        }
        let started = Instant::now();
        for number in 0..50 {
            engine.retire(&id(number)).await.unwrap();
        }
        println!("retire one of {count} agents: {} us", started.elapsed().as_micros() / 50);
    }
    let agents = (0..1_000).map(|number| {
        let listed = |part| PolicyPermission {
            pinned: PinnedPermission::from(root(number, part)),
            hold: Hold::Use,
            place: Place { file: "agents.toml".into(), line: 1 },
        };
        let permissions = (0..32).map(listed).collect();
        (id(number), AgentPolicy { profile: profile(id(number), Kind::Subagent), permissions, rules: [].into() })
    });
    let policy = Policy { settings: settings(), agents: agents.collect(), left_out: Vec::new() };
    let fresh = engine(Arc::new(SystemClock::new()));
    let started = Instant::now();
    fresh.configure(policy).await.unwrap();
    println!("the first policy, 1,000 agents with 32 directories: {} ms", started.elapsed().as_millis());
    let fresh = engine(Arc::new(SystemClock::new()));
    let started = Instant::now();
    for number in 0..1_000 {
        let held = InitialGrants::of((0..32).map(|part| root(number, part)));
        fresh.register(profile(id(number), Kind::Subagent), held).await.unwrap();
    }
    println!("registering the same agents: {} ms", started.elapsed().as_millis());
    let fresh = engine(Arc::new(SystemClock::new()));
    let new = |number| {
        let held = InitialGrants::of((0..32).map(|part| root(number, part)));
        (profile(id(number), Kind::Subagent), held)
    };
    let all: Vec<_> = (0..1_000).map(new).collect();
    let started = Instant::now();
    fresh.register_all(all).await.unwrap();
    println!("registering the same agents at once: {} ms", started.elapsed().as_millis());
    reload().await;
    cascade().await;
}

/// Prints the time of a policy of 10,000 agents in which one has another directory.
async fn reload() {
    let listed = |agent, part| PolicyPermission {
        pinned: PinnedPermission::from(root(agent, part)),
        hold: Hold::Use,
        place: Place { file: "agents.toml".into(), line: 1 },
    };
    let policy = |changed: usize| {
        let agents = (0..10_000).map(|number| {
            let more = usize::from(number == changed);
            let permissions = (0..4 + more).map(|part| listed(number, part)).collect();
            (id(number), AgentPolicy { profile: profile(id(number), Kind::Subagent), permissions, rules: [].into() })
        });
        Policy { settings: settings(), agents: agents.collect(), left_out: Vec::new() }
    };
    let fresh = engine(Arc::new(SystemClock::new()));
    fresh.configure(policy(10_000)).await.unwrap();
    let mut times = Vec::new();
    for changed in 0..5 {
        let next = policy(changed);
        let started = Instant::now();
        fresh.configure(next).await.unwrap();
        times.push(started.elapsed().as_micros());
    }
    times.sort_unstable();
    println!("a policy of 10,000 agents, two of them changed: {} us", times[2]);
}

/// Prints the time of a cascade of a million grants, and the longest check of another agent meanwhile.
async fn cascade() {
    let engine = engine(Arc::new(SystemClock::new()));
    let all = InitialGrants::of(["@write:/srv".parse::<Permission>().unwrap()]);
    let lead = engine.register(profile("lead".parse().unwrap(), Kind::Foreground), all).await.unwrap();
    let held = InitialGrants::of([root(5_000, 0)]);
    let other = engine.register(profile(id(5_000), Kind::Subagent), held).await.unwrap();
    for agent in 0..1_000 {
        let to = engine.register(profile(id(agent), Kind::Subagent), InitialGrants::nothing()).await.unwrap();
        for parts in 0..40 {
            let given: Vec<_> = (parts * 25..parts * 25 + 25).map(|part| root(agent, part)).collect();
            lead.grant(to.id(), Permissions::try_from(given).unwrap(), "bench").await.unwrap();
        }
    }
    let is_over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let checks = std::thread::spawn({
        let is_over = Arc::clone(&is_over);
        let path = "/srv/agents/000005000/work/part-000/src/x";
        move || {
            let (mut longest, mut count) = (0, 0_u64);
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let started = Instant::now();
                assert!(other.check(PermissionRef::write(path)).is_held());
                longest = longest.max(started.elapsed().as_micros());
                count += 1;
            }
            (longest, count)
        }
    });
    let support = lead.grants().unwrap()[0].id;
    let started = Instant::now();
    engine.revoke(support, None).await.unwrap();
    let spent = started.elapsed().as_millis();
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    let (longest, count) = checks.join().unwrap();
    assert_eq!(engine.grants().unwrap().len(), 1);
    println!("a cascade of 1,000,000 grants: {spent} ms, meanwhile {count} checks, the longest {longest} us");
}

/// Prints the time of a grant by one task and by 64 tasks on two threads.
fn tasks() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for tasks in [1, 64, 1, 64] {
        let world = Arc::new(runtime.block_on(World::new(4)));
        let started = Instant::now();
        let all: Vec<_> = (0..tasks)
            .map(|task| {
                let world = Arc::clone(&world);
                runtime.spawn(async move {
                    for number in 0..12_800 / tasks {
                        world.grant(task * 1_000_000 + number).await;
                    }
                })
            })
            .collect();
        all.into_iter().for_each(|task| runtime.block_on(task).unwrap());
        println!("a grant by {tasks} tasks: {} ns", started.elapsed().as_nanos() / 12_800);
    }
}

/// Prints the time from a request to its answer, with the agent and the person on two threads.
fn answers() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let world = runtime.block_on(World::new(4));
    let you = world.engine.approver("you", "ann", "bench");
    let mut user = world.engine.connect(world.lead.id()).unwrap();
    runtime.spawn(async move {
        while let Some(shown) = user.next().await {
            if let Prompt::Ask(request) = shown {
                you.answer(request.id, Answer::allow().scope(bestow::grant::Scope::Once)).await.unwrap();
            }
        }
    });
    let agent = world.agents[7].clone();
    let times = runtime.spawn(async move {
        let mut times = Vec::new();
        for _ in 0..10_000 {
            let started = Instant::now();
            let ticket = agent.request(PermissionRequest::new(Permission::Network, "to measure")).await.unwrap();
            ticket.resolution().await;
            times.push(started.elapsed().as_nanos() / 100);
            agent.spend(&Permission::Network).await.unwrap();
        }
        times.sort_unstable();
        times
    });
    let times = runtime.block_on(times).unwrap();
    let shown = |place: usize| times[place] as f64 / 10.0;
    println!("a request to its answer, on two threads: p50 {} us, p99 {} us", shown(5_000), shown(9_900));
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
            // As many grants for each small count, so that the difference of two counts contains no grant.
            let mut given = Vec::new();
            for number in 0..count.max(GIVEN) {
                given.push(world.grant(number).await);
            }
            let started = Instant::now();
            for grant in given.into_iter().take(count as usize) {
                world.engine.revoke(grant, None).await.unwrap();
            }
            each(started)
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
