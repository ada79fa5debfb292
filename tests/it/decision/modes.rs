//! Tests each mode with each kind of action, with and without the permission, with and without a person: one table,
//! `modes.txt`.
//!
//! `BESTOW_BLESS=1 cargo test modes` rewrites the table. The difference belongs into the change log.

use bestow::{
    Action, Effect,
    action::{Authorization, Operation},
    agent::Mode,
    decision::Verdict,
    policy::{OnNoUser, Widening},
};

use super::in_mode;
use crate::support::{World, as_written, ask, id, policy, settings, tags};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/it/decision/modes.txt");

const MODES: [(Mode, &str, &str); 8] = [
    (Mode::Default, "default", "what is safe runs, what is dangerous asks"),
    (Mode::Untrusted, "untrusted", "only known reads run by themselves"),
    (Mode::OnRequest, "on_request", "as default; the agent may ask for more than it holds"),
    (Mode::OnFailure, "on_failure", "confined first; only what the sandbox kept it from can be asked for"),
    (Mode::Never, "never", "nothing is asked"),
    (Mode::Plan, "plan", "reads only"),
    (Mode::Bypass, "bypass", "questions are left out; noes, and what is not held, stay"),
    (Mode::Auto, "auto", "rules, classifier and hooks decide; here there are none that say yes"),
];

/// The actions, each with the permission that it uses.
const ACTIONS: [(&str, &str); 8] = [
    ("read a file", "@read:/ws/a"),
    ("write a file", "@write:/ws/a"),
    ("reach a host", "@network"),
    ("safe command", "@network"),
    ("dangerous command", "@network"),
    ("destructive command", "@network"),
    ("run a program file", "@read:/ws/a"),
    ("use the socket", "@events"),
];

fn action(name: &str) -> Action {
    let needing = |command: &str| Action::command(command).needing(crate::support::tag("@network"));
    match name {
        "read a file" => Action::read("/ws/a"),
        "write a file" => Action::write("/ws/a"),
        "reach a host" => Action::network("example.com"),
        "safe command" => needing("date -u"),
        "dangerous command" => needing("node script.js"),
        "destructive command" => needing("rm -rf /"),
        "run a program file" => Action::exec("/ws/a"),
        "use the socket" => Action::new(Operation::Events, "@events"),
        other => panic!("{other}"),
    }
}

/// Returns true if the mode has rows. A new mode breaks the build here until it is added.
fn has_rows(mode: Mode) -> bool {
    match mode {
        Mode::Default
        | Mode::Untrusted
        | Mode::OnRequest
        | Mode::OnFailure
        | Mode::Never
        | Mode::Plan
        | Mode::Bypass
        | Mode::Auto => MODES.iter().any(|(other, ..)| *other == mode),
    }
}

/// Returns true if the operation has a row. A new operation breaks the build here until it is added.
fn has_a_row(operation: Operation) -> bool {
    match operation {
        // A tool is called with its input, and not as a plain operation on a text.
        Operation::Tool => true,
        Operation::Read
        | Operation::Write
        | Operation::Exec
        | Operation::Command
        | Operation::Network
        | Operation::Events => {
            ACTIONS.iter().any(|(name, _)| format!("{:?}", action(name)).contains(&format!("Plain({operation:?}")))
        }
    }
}

async fn cell(mode: Mode, name: &str, uses: &str, held: bool, somebody: bool) -> String {
    let world = World::with(|settings| settings.on_no_user = OnNoUser::Deny);
    let _there = somebody.then(|| world.you().attend().unwrap());
    let holds: &[&str] = if held { &[uses] } else { &[] };
    let agent = in_mode(&world, "it", mode, holds).await;
    let authorized = agent.authorize(action(name)).await.unwrap();
    let decision = authorized.decision();
    // In every mode, a destructive action is marked as destructive.
    assert_eq!(decision.action.destructive.is_some(), name == "destructive command", "{mode:?} {name}");
    assert_eq!(matches!(authorized, Authorization::Asked(..)), !world.engine.pending().unwrap().is_empty());
    assert!(somebody || !matches!(authorized, Authorization::Asked(..)), "nobody waits for nobody");
    assert_eq!(agent.explain(&action(name)).unwrap().decision.decision, decision.decision, "{mode:?} {name}");
    format!("{} ({})", decision.decision, decision.decision_source)
}

async fn table() -> String {
    let columns = ["held, somebody there", "held, nobody there", "not held, somebody there", "not held, nobody there"];
    let mut table = String::new();
    for (mode, word, meaning) in MODES {
        let mut rows =
            vec![[String::new(), columns[0].into(), columns[1].into(), columns[2].into(), columns[3].into()]];
        for (name, uses) in ACTIONS {
            let mut row = [name.to_owned(), String::new(), String::new(), String::new(), String::new()];
            for (place, (held, somebody)) in
                [(true, true), (true, false), (false, true), (false, false)].into_iter().enumerate()
            {
                row[place + 1] = cell(mode, name, uses, held, somebody).await;
            }
            rows.push(row);
        }
        table += &format!("{word}: {meaning}\n");
        for row in rows {
            let line = format!("  {:<20} {:<26} {:<26} {:<26} {}", row[0], row[1], row[2], row[3], row[4]);
            table += &format!("{}\n", line.trim_end());
        }
        table += "\n";
    }
    table
}

#[tokio::test]
async fn the_table_of_modes_is_as_written() {
    as_written(TABLE, &table().await);
}

#[test]
fn every_mode_and_every_operation_has_its_rows() {
    assert!(MODES.into_iter().all(|(mode, ..)| has_rows(mode)));
    let all = [
        Operation::Read,
        Operation::Write,
        Operation::Exec,
        Operation::Command,
        Operation::Network,
        Operation::Events,
        Operation::Tool,
    ];
    assert!(all.into_iter().all(has_a_row));
}

/// Asserts claims about the whole table, independent of the written file.
#[tokio::test]
async fn no_mode_lets_happen_what_is_not_held_or_cannot_be_undone() {
    for (mode, ..) in MODES {
        for (name, uses) in ACTIONS {
            for somebody in [true, false] {
                let missing = cell(mode, name, uses, false, somebody).await;
                assert!(
                    !missing.starts_with("allow") && !missing.starts_with("sandboxed"),
                    "{mode:?} {name}: {missing}"
                );
            }
            if name == "destructive command" {
                let held = cell(mode, name, uses, true, true).await;
                assert!(held.starts_with("deny"), "{mode:?}: {held}");
            }
        }
    }
}

/// In a noninteractive run every request is answered at once, and no request waits.
#[tokio::test]
async fn a_run_that_nobody_watches_never_waits() {
    let world = World::with(|settings| settings.interaction = bestow::policy::Interaction::NonInteractive);
    let _there = world.you().attend().unwrap();
    for (place, (mode, ..)) in MODES.into_iter().enumerate() {
        let agent = in_mode(&world, &format!("a{place}"), mode, &["@read:/ws"]).await;
        for (name, _) in ACTIONS {
            let authorized = agent.authorize(action(name)).await.unwrap();
            assert!(!matches!(authorized, Authorization::Asked(..)), "{mode:?} {name}");
        }
        assert_eq!(
            world.engine.agent(id(&format!("a{place}"))).unwrap().grants().unwrap().len(),
            tags(&["@read:/ws"]).len()
        );
    }
    assert_eq!(world.engine.pending().unwrap(), []);
}

/// In a mode that allows only reads, a command that uses the network is no read, however harmless it is otherwise.
#[tokio::test]
async fn where_only_reads_happen_a_download_is_no_read() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    for (mode, name, expected) in
        [(Mode::Default, "d", Verdict::Allow), (Mode::Untrusted, "u", Verdict::Ask), (Mode::Plan, "p", Verdict::Deny)]
    {
        let agent = in_mode(&world, name, mode, &["@network"]).await;
        assert_eq!(agent.verdict(&Action::command("date -u | wc -l")).unwrap(), Verdict::Allow, "{mode:?}");
        for line in ["curl https://example.com", "env"] {
            assert_eq!(agent.verdict(&Action::command(line)).unwrap(), expected, "{mode:?} {line}");
        }
    }
}

/// Returns the effect of each action for an agent in `mode`, and of a request for more permissions.
async fn may(mode: Mode) -> Vec<(String, Effect)> {
    let mut all = Vec::new();
    for (name, uses) in ACTIONS {
        for holds in [&[][..], &[uses][..]] {
            let world = World::new();
            let agent = in_mode(&world, "it", mode, holds).await;
            all.push((format!("{name}, holding {holds:?}"), agent.verdict(&action(name)).unwrap()));
        }
    }
    let world = World::new();
    let agent = in_mode(&world, "it", mode, &[]).await;
    let is_asked = agent.request(ask("@read:/ws/a")).await.is_ok_and(|ticket| ticket.poll().is_none());
    all.push(("request".into(), if is_asked { Effect::Ask } else { Effect::Deny }));
    all
}

/// Returns true if `new` allows no more than `now`. `Allow` allows most and `Deny` least. `Ask` and `Confined` each
/// allow more than the other in some respect.
fn is_no_more(new: Effect, now: Effect) -> bool {
    new == now || now == Effect::Allow || new == Effect::Deny
}

fn described(mode: Mode) -> bestow::Policy {
    let settings = settings(|settings| settings.widening = Widening::Confirm);
    let mut policy = policy(settings, &[("bot", "you", &[])]);
    policy.agents.get_mut(&id("bot")).unwrap().profile.mode = mode;
    policy
}

async fn is_taken_over_unseen(now: Mode, new: Mode) -> bool {
    let world = World::new();
    world.engine.configure(described(now)).await.unwrap();
    world.engine.configure(described(new)).await.unwrap();
    world.engine.agent(id("bot")).unwrap().profile().unwrap().mode == new
}

/// A change of the mode waits for a person, unless the new mode allows no more actions and no more requests.
#[tokio::test]
async fn a_mode_that_is_taken_over_unseen_lets_nothing_more_happen_and_asks_nothing_more() {
    let mut allowed = Vec::new();
    for mode in Mode::ALL {
        allowed.push((mode, may(mode).await));
    }
    let mut taken_over = 0;
    for (now, before) in &allowed {
        for (new, after) in &allowed {
            if !is_taken_over_unseen(*now, *new).await {
                continue;
            }
            taken_over += 1;
            for ((what, after), (_, before)) in after.iter().zip(before) {
                assert!(is_no_more(*after, *before), "{now:?} -> {new:?}: {what}: {before:?} -> {after:?}");
            }
        }
    }
    assert_eq!(taken_over, 28, "each mode from itself, and those that are narrower");
}
