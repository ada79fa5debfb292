//! Measures the evaluation of an action: with rules and saved decisions, for one agent and among many, with paths as
//! written and with paths resolved on the disk. Run: `cargo bench -p bestow-benches --bench decide`.
#![allow(missing_docs, reason = "criterion's macros make functions without documentation")]
#![allow(clippy::unreachable, clippy::unwrap_used, reason = "a bench may stop")]

use std::{fs, sync::Arc};

use bestow::{
    Action, Agent, AgentId, Answer, Effect, Engine, Kind, Permission, Policy, Profile, Settings,
    action::{Authorization, CommandPattern},
    decision::Verdict,
    grant::{Hold, PinnedPermission, Place, Scope},
    host::{AsWritten, DiskPaths, Paths, SystemClock},
    path::{PathGlob, SanitizedPath},
    policy::{AgentPolicy, PolicyPermission, Rule},
    user::OwnerId,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const RULES: usize = 100;
const RULINGS: usize = 20;

fn place(line: usize) -> Place {
    Place { file: "agents.toml".into(), line: u32::try_from(line).unwrap() }
}

/// Returns a rule as people write them: a third about names anywhere, a third about directories, a third about
/// commands.
fn rule(number: usize) -> Rule {
    let base: SanitizedPath = "/srv/work".parse().unwrap();
    let path = |text: String| Some(PathGlob::at(&text, &base, bestow::path::Reach::Everywhere).unwrap());
    let verdict = if number.is_multiple_of(2) { Verdict::Deny } else { Verdict::Ask };
    let blank = Rule {
        verdict,
        tool: None,
        operation: None,
        path: None,
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: place(number + 1),
    };
    match number % 3 {
        0 => Rule { path: path(format!("**/*.secret{number}")), ..blank },
        1 => Rule { path: path(format!("closed{number}/**")), ..blank },
        _ => {
            let pattern: CommandPattern = format!("tool{number} push **").parse().unwrap();
            Rule { command: Some(pattern), ..blank }
        }
    }
}

/// The content of an engine during the measurement.
#[derive(Clone, Copy)]
struct World<'d> {
    name: &'static str,
    /// The number of agents. The first one is asked. Each may write four directories.
    agents: usize,
    rules: usize,
    /// The number of saved decisions that people made for the session and that still count.
    rulings: usize,
    /// The working directory of the agent, if it lies on the disk.
    disk: Option<&'d str>,
}

impl World<'_> {
    fn directory(&self) -> &str {
        self.disk.unwrap_or("/srv/work")
    }

    async fn built(self) -> (Engine, Agent) {
        let mut settings = Settings::default();
        // The bench measures one step, not the limit of facts and changes per family.
        (settings.max_facts_per_minute, settings.max_changes_per_minute) = (u32::MAX, u32::MAX);
        settings.max_asks_per_minute = u32::MAX;
        let clock = Arc::new(SystemClock::new());
        let paths: Arc<dyn Paths> = if self.disk.is_some() { Arc::new(DiskPaths) } else { Arc::new(AsWritten) };
        let engine = Engine::on(settings.clone(), clock, paths).unwrap();
        let owner: OwnerId = "you".parse().unwrap();
        let agents = (0..self.agents).map(|number| self.agent(number)).collect();
        engine.configure(Policy { settings, agents, left_out: Vec::new() }).await.unwrap();
        let agent = engine.agent("agent0").unwrap();
        let you = engine.approver(&owner, "ann", "bench");
        for number in 0..self.rulings {
            let action = Action::command(&format!("make part{number}"));
            let asked = agent.authorize(action).await.unwrap();
            let Authorization::Asked(_, ticket) = asked else { continue };
            you.answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
        }
        (engine, agent)
    }

    fn agent(&self, number: usize) -> (AgentId, AgentPolicy) {
        let id: AgentId = format!("agent{number}").parse().unwrap();
        let (directory, rules) =
            if number == 0 { (self.directory().to_owned(), self.rules) } else { (format!("/srv/other{number}"), 0) };
        let profile = Profile::new(id.clone(), "you".parse().unwrap(), Kind::Permanent, directory.parse().unwrap());
        let roots =
            [directory, format!("/data/{number}/a"), format!("/data/{number}/b"), format!("/data/{number}/c/d")];
        let pinned = |root: &String| PolicyPermission {
            pinned: PinnedPermission::from(format!("@write:{root}").parse::<Permission>().unwrap()),
            hold: Hold::Use,
            place: place(1),
        };
        let permissions = roots.iter().map(pinned).collect();
        (id, AgentPolicy { profile, permissions, rules: (0..rules).map(rule).collect() })
    }
}

/// The measured command lines: one reads, one obeys the configuration of its repository, one is unlisted, one destroys,
/// one redirects, and one is a pipeline.
const LINES: [&str; 7] = [
    "ls -la",
    "git status",
    "cargo test",
    "rm -rf x",
    "echo hi > f",
    "cat src/main.rs | grep -n todo | sort -u | head -5",
    "make install",
];

/// Creates a directory with a repository and two files.
fn workspace() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in [(".git/config", ""), ("src/main.rs", "// todo\n"), ("site/pages/index.html", "x")] {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    directory
}

fn decide(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let workspace = workspace();
    #[expect(clippy::disallowed_methods, reason = "a directory of our own, once")]
    let directory = fs::canonicalize(workspace.path()).unwrap();
    let disk = directory.to_str();
    for world in [
        World { name: "as written", agents: 1, rules: 0, rulings: 0, disk: None },
        World { name: "as written, 100 rules", agents: 1, rules: RULES, rulings: RULINGS, disk: None },
        World { name: "disk", agents: 1, rules: 0, rulings: 0, disk },
        World { name: "disk, 1,000 agents", agents: 1000, rules: 0, rulings: 0, disk },
    ] {
        let (_engine, agent) = runtime.block_on(world.built());
        let path = format!("{}/site/pages/index.html", world.directory());
        let mut actions = vec![("a write", Action::write(&path)), ("a read", Action::read(&path))];
        assert!(actions.iter().all(|(_, action)| agent.verdict(action).unwrap() == Effect::Allow));
        assert_eq!(agent.verdict(&Action::command("make install")).unwrap(), Effect::Ask);
        actions.extend(LINES.map(|line| (line, Action::command(line))));
        let mut verdicts = criterion.benchmark_group("a verdict");
        for (what, action) in &actions {
            verdicts.bench_function(BenchmarkId::new(*what, world.name), |bencher| {
                bencher.iter(|| agent.verdict(action).unwrap());
            });
        }
        verdicts.finish();
        let mut decisions = criterion.benchmark_group("a decision, with its record");
        for (what, action) in actions {
            decisions.bench_function(BenchmarkId::new(what, world.name), |bencher| {
                bencher.iter(|| runtime.block_on(agent.authorize(action.clone())).unwrap());
            });
        }
        decisions.finish();
    }
}

criterion_group!(benches, decide);
criterion_main!(benches);
