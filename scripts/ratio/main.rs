//! Two versions of bestow in one run, by turns: `scripts/ratio/run`. Prints nanoseconds of each case, the median of all
//! rounds, and the ratio of the medians and of the shortest rounds.

use std::{cell::Cell, collections::BTreeMap, env, hint::black_box, sync::Arc, time::Instant};

/// A line that reads, two that read and obey or name a file, one that nobody has listed, one that destroys, a
/// redirection, a pipeline.
const LINES: [&str; 8] = [
    "ls -la",
    "cat src/main.rs",
    "git status",
    "cargo test",
    "rm -rf x",
    "echo hi > f",
    "cat src/main.rs | grep -n todo | sort -u | head -5",
    "make install",
];

type Case = (String, Box<dyn Fn()>);

/// What both versions do, with the same text: only what is given besides differs between them.
macro_rules! version {
    ($name:ident, $bestow:ident, { $($differs:item)* }) => {
        mod $name {
            use $bestow::{
                Access, Action, Agent, AgentId, AgentPolicy, Answer, AsWritten, Authorization, BaseRight,
                CommandPattern, DiskPaths, Engine, Hold, Kind, OwnerId, PathGlob, Paths, Permission, Place, Policy,
                Profile, Reach, Reads, Right, Rule, SanitizedPath, Scope, Settings, SystemClock, Verdict,
            };

            use super::*;

            $($differs)*

            fn place(line: usize) -> Place {
                Place { file: "agents.toml".into(), line: u32::try_from(line).unwrap() }
            }

            fn rule(number: usize) -> Rule {
                let base: SanitizedPath = "/srv/work".parse().unwrap();
                let path = |text: String| Some(PathGlob::at(&text, &base, Reach::Everywhere).unwrap());
                let verdict = if number.is_multiple_of(2) { Verdict::Deny } else { Verdict::Ask };
                let mut rule = empty(verdict, place(number + 1));
                match number % 3 {
                    0 => rule.path = path(format!("**/*.secret{number}")),
                    1 => rule.path = path(format!("closed{number}/**")),
                    _ => rule.command = Some(format!("tool{number} push **").parse::<CommandPattern>().unwrap()),
                }
                rule
            }

            fn policy_of(number: usize, home: &str, rules: usize) -> (AgentId, AgentPolicy) {
                let id: AgentId = format!("agent{number}").parse().unwrap();
                let profile = Profile::new(id.clone(), "you".parse().unwrap(), Kind::Permanent, home.parse().unwrap());
                let other = |name: &str| format!("/data/{number}/{name}");
                let roots = [home.to_owned(), other("a"), other("b"), other("c/d")];
                let right = |root: &String| BaseRight {
                    right: Right::from(format!("@write:{root}").parse::<Permission>().unwrap()),
                    hold: Hold::Use,
                    place: place(1),
                };
                let rights = roots.iter().map(right).collect();
                (id, AgentPolicy { profile, rights, rules: (0..rules).map(rule).collect() })
            }

            /// So many agents of four roots each, of which the first is asked; so many rules and rulings of people.
            async fn engine(agents: usize, rules: usize, rulings: usize, disk: Option<&str>) -> (Engine, Agent) {
                let mut settings = Settings::default();
                without_limits(&mut settings);
                settings.max_asks_per_minute = u32::MAX;
                settings.reads = Reads::Anywhere;
                let paths: Arc<dyn Paths> = if disk.is_some() { Arc::new(DiskPaths) } else { Arc::new(AsWritten) };
                let engine = Engine::on(settings.clone(), Arc::new(SystemClock::new()), paths).unwrap();
                let owner: OwnerId = "you".parse().unwrap();
                let home = |number: usize| match number {
                    0 => disk.unwrap_or("/srv/work").to_owned(),
                    _ => format!("/srv/other{number}"),
                };
                let of = |number| policy_of(number, &home(number), if number == 0 { rules } else { 0 });
                let agents: BTreeMap<_, _> = (0..agents).map(of).collect();
                engine.configure(Policy { settings, agents, left_out: Vec::new() }).await.unwrap();
                let agent = engine.agent(&"agent0".parse().unwrap()).unwrap();
                let you = engine.approver(&owner, "ann".parse().unwrap(), "bench");
                for number in 0..rulings {
                    let asked = agent.authorize(Action::command(&format!("make part{number}"))).await.unwrap();
                    let Authorization::Asked(_, ticket) = asked else { continue };
                    you.answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
                }
                (engine, agent)
            }

            pub fn cases(workspace: &str) -> Vec<Case> {
                let mut cases: Vec<Case> = Vec::new();
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let runtime = Arc::new(runtime);
                for (world, agents, rules, rulings, disk) in [
                    ("as written", 1, 0, 0, None),
                    ("as written, 100 rules", 1, 100, 20, None),
                    ("disk", 1, 0, 0, Some(workspace)),
                    ("disk, 1,000 agents", 1000, 0, 0, Some(workspace)),
                ] {
                    let (engine, agent) = runtime.block_on(engine(agents, rules, rulings, disk));
                    let path = format!("{}/site/pages/index.html", disk.unwrap_or("/srv/work"));
                    let mut add = |what: &str, case: Box<dyn Fn()>| cases.push((format!("{world} | {what}"), case));
                    let (of, at) = (agent.clone(), path.clone());
                    add("check, by handle", Box::new(move || {
                        black_box(of.check(PermissionRef::Path(Access::Write, &at)));
                    }));
                    let (id, at) = (agent.id().clone(), path.clone());
                    add("check, by id", Box::new(move || {
                        black_box(engine.check(&id, PermissionRef::Path(Access::Write, &at)));
                    }));
                    let lines = LINES.map(|line| (format!("`{line}`"), Action::command(line)));
                    let paths = [("write".to_owned(), Action::write(&path)), ("read".to_owned(), Action::read(&path))];
                    for (name, action) in paths.into_iter().chain(lines) {
                        let (of, it) = (agent.clone(), action.clone());
                        add(&format!("verdict {name}"), Box::new(move || {
                            let _ = black_box(of.verdict(&it).unwrap());
                        }));
                        if name.starts_with('`') {
                            // A line that nobody has read before: a comment makes it another one.
                            let (of, line, count) = (agent.clone(), name.trim_matches('`').to_owned(), Cell::new(0));
                            add(&format!("verdict {name} anew"), Box::new(move || {
                                let it = Action::command(&format!("{line} # {}", count.replace(count.get() + 1)));
                                let _ = black_box(of.verdict(&it).unwrap());
                            }));
                        }
                        let (of, it) = (agent.clone(), action.clone());
                        add(&format!("explain {name}"), Box::new(move || {
                            let _ = black_box(of.explain(&it).unwrap());
                        }));
                        let (of, runtime) = (agent.clone(), Arc::clone(&runtime));
                        add(&format!("authorize {name}"), Box::new(move || {
                            let _ = black_box(runtime.block_on(of.authorize(action.clone())).unwrap());
                        }));
                    }
                }
                cases
            }
        }
    };
}

version!(old, before, {
    // The older commits have another name for it.
    use before::Want as PermissionRef;

    fn without_limits(_: &mut Settings) {}

    fn empty(verdict: Verdict, place: Place) -> Rule {
        Rule { verdict, tool: None, operation: None, path: None, command: None, shape: None, why: None, place }
    }
});
version!(new, now, {
    use now::PermissionRef;

    fn without_limits(settings: &mut Settings) {
        (settings.max_facts_per_minute, settings.max_changes_per_minute) = (u32::MAX, u32::MAX);
    }

    fn empty(verdict: Verdict, place: Place) -> Rule {
        Rule { verdict, tool: None, operation: None, path: None, command: None, shape: None, cwd: None, why: None, place }
    }
});

/// Nanoseconds of one turn.
fn timed(case: &dyn Fn(), turns: u32) -> f64 {
    let start = Instant::now();
    (0..turns).for_each(|_| case());
    start.elapsed().as_nanos() as f64 / f64::from(turns)
}

fn main() {
    let workspace = env::var("WORKSPACE").expect("WORKSPACE: a directory on the disk");
    let wanted: Vec<String> = env::args().skip(1).collect();
    let rounds = env::var("ROUNDS").map_or(300, |text| text.parse().expect("ROUNDS: a number"));
    println!("{:<75} {:>9} {:>9} {:>6} {:>6}", "", "before", "now", "ratio", "least");
    for (one, other) in old::cases(&workspace).iter().zip(&new::cases(&workspace)) {
        assert_eq!(one.0, other.0);
        if !wanted.iter().all(|word| one.0.contains(word)) {
            continue;
        }
        let turns = (100_000.0 / timed(&one.1, 50).max(20.0)).clamp(3.0, 5000.0) as u32;
        let (mut before, mut now) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            if round % 2 == 0 {
                before.push(timed(&one.1, turns));
                now.push(timed(&other.1, turns));
            } else {
                now.push(timed(&other.1, turns));
                before.push(timed(&one.1, turns));
            }
        }
        before.sort_by(f64::total_cmp);
        now.sort_by(f64::total_cmp);
        let (a, b) = (before[before.len() / 2], now[now.len() / 2]);
        println!("{:<75} {:>9.0} {:>9.0} {:>6.2} {:>6.2}", one.0, a, b, b / a, now[0] / before[0]);
    }
}
