//! What deciding an action costs, with rules and what people said before: `cargo bench --bench decide`.
#![allow(missing_docs, reason = "criterion's macros make functions without documentation")]
#![allow(clippy::unreachable, clippy::unwrap_used, reason = "a bench may stop")]

use std::sync::Arc;

use bestow::{
    Action, Agent, AgentPolicy, Answer, AsWritten, Authorization, BaseRight, CommandPattern, Engine, Hold, Kind,
    OwnerId, PathGlob, Permission, Place, Policy, Profile, Right, Rule, SanitizedPath, Scope, Settings, SystemClock,
    Verdict,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const RULES: usize = 100;
const RULINGS: usize = 20;

fn place(line: usize) -> Place {
    Place { file: "agents.toml".into(), line: u32::try_from(line).unwrap() }
}

/// Rules as people write them: a third about names anywhere, a third about directories, a third about commands.
fn rule(number: usize) -> Rule {
    let base: SanitizedPath = "/srv/work".parse().unwrap();
    let path = |text: String| Some(PathGlob::at(&text, &base, bestow::Reach::Everywhere).unwrap());
    let verdict = if number.is_multiple_of(2) { Verdict::Deny } else { Verdict::Ask };
    let blank = Rule {
        verdict,
        tool: None,
        operation: None,
        path: None,
        command: None,
        shape: None,
        cwd: None,
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

/// An agent with so many rules and rulings that still count.
async fn agent(rules: usize, rulings: usize) -> (Engine, Agent) {
    let mut settings = Settings::default();
    settings.max_asks_per_minute = u32::MAX;
    let engine = Engine::on(settings.clone(), Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
    let owner: OwnerId = "you".parse().unwrap();
    let id: bestow::AgentId = "writer".parse().unwrap();
    let profile = Profile::new(id.clone(), owner.clone(), Kind::Permanent, "/srv/work".parse().unwrap());
    let right = Right::from("@write:/srv/work".parse::<Permission>().unwrap());
    let rights = vec![BaseRight { right, hold: Hold::Use, place: place(1) }];
    let spec = AgentPolicy { profile, rights, rules: (0..rules).map(rule).collect() };
    engine.configure(Policy { settings, agents: [(id.clone(), spec)].into(), left_out: Vec::new() }).await.unwrap();
    let agent = engine.agent(&id).unwrap();
    let you = engine.approver(&owner, "ann".parse().unwrap(), "bench");
    for number in 0..rulings {
        let action = Action::command(&format!("make part{number}"));
        let asked = agent.authorize(action).await.unwrap();
        let Authorization::Asked(_, ticket) = asked else { continue };
        you.answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    }
    (engine, agent)
}

fn decide(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("an action, decided");
    for (rules, rulings) in [(0, 0), (RULES, RULINGS)] {
        let (_engine, agent) = runtime.block_on(agent(rules, rulings));
        let name = format!("{rules} rules, {rulings} session rulings");
        for (what, action, expected) in [
            ("a write", Action::write("/srv/work/site/pages/index.html"), Verdict::Allow),
            ("a read", Action::read("/srv/data/table.csv"), Verdict::Allow),
            ("a command", Action::command("make install"), Verdict::Ask),
        ] {
            assert_eq!(agent.verdict(&action).unwrap(), expected, "{what}");
            group.bench_function(BenchmarkId::new(what, &name), |bencher| {
                bencher.iter(|| agent.verdict(&action).unwrap());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
