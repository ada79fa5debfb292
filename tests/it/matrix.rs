//! Tests every kind of agent with every kind of permission and every action, as one table: `matrix.txt`.
//!
//! `BESTOW_BLESS=1 cargo test matrix` rewrites the table. The difference belongs into the change log.

use bestow::{
    Agent, Answer, Error, InitialGrants, Kind, Outcome, Permission, decision::Check, grant::Scope, request::Ticket,
};

use crate::support::{World, as_written, ask, id, profile, tag, why};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/it/matrix.txt");

const KINDS: [Kind; 6] = [Kind::Foreground, Kind::Cron, Kind::Heartbeat, Kind::Subagent, Kind::System, Kind::Permanent];
const PERMISSIONS: [&str; 5] = ["@events", "@network", "@read:/ws/a", "@write:/ws/a", "@tool:github/issues"];

/// The ways in which the agent of a row holds the permission before it acts.
const HOLDS: [&str; 4] = ["nothing", "use", "pass-on", "once"];

/// Returns true if the kind has rows. A new kind breaks the build here until it is added.
fn is_a_row(kind: Kind) -> bool {
    match kind {
        Kind::Foreground | Kind::Cron | Kind::Heartbeat | Kind::Subagent | Kind::System | Kind::Permanent => {
            KINDS.contains(&kind)
        }
    }
}

/// Returns true if the permission has a row. A new kind of permission breaks the build here until it is added.
fn has_a_row(permission: &Permission) -> bool {
    use bestow::grant::Access;
    match permission {
        Permission::Events
        | Permission::Network
        | Permission::Path(Access::Read | Access::Write, _)
        | Permission::Tool(_) => PERMISSIONS.iter().any(|text| tag(text) == *permission),
    }
}

async fn subject(kind: Kind, wanted: &str, hold: &str) -> (World, Agent) {
    let world = World::new();
    let holding = match hold {
        "use" => InitialGrants::of([tag(wanted)]),
        "pass-on" => InitialGrants::nothing().passing_on([tag(wanted)]),
        _ => InitialGrants::nothing(),
    };
    let agent = world.engine.register(profile("it", "you", kind), holding).await.unwrap();
    if hold == "once" {
        world.you().give(agent.id(), tag(wanted), Scope::Once, why()).await.unwrap();
    }
    (world, agent)
}

fn word<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => "yes".to_owned(),
        Err(Error::Refused(refusal)) => {
            let name = format!("{refusal:?}");
            name.chars().take_while(|c| c.is_alphanumeric()).collect()
        }
        Err(other) => panic!("{other}"),
    }
}

fn ticket_word(world: &World, ticket: &Ticket) -> String {
    match ticket.poll() {
        Some(resolution) => resolution.outcome.to_string(),
        None => world.engine.pending().unwrap()[0].route.to_string().replace(", because no person was connected", ""),
    }
}

async fn cell(action: &str, kind: Kind, wanted: &str, hold: &str) -> String {
    let (world, agent) = subject(kind, wanted, hold).await;
    match action {
        "check" => match agent.check(&tag(wanted)) {
            Check::Held => "held".to_owned(),
            Check::HeldOnce => "once".to_owned(),
            Check::NotHeld => "no".to_owned(),
        },
        "ask alone" => {
            let ticket = agent.request(ask(wanted)).await.unwrap();
            ticket_word(&world, &ticket)
        }
        "ask beside a lead" => {
            world.lead("lead", &[]).await;
            let _lead = world.engine.connect(id("lead")).unwrap();
            let _own = world.engine.connect(agent.id());
            let ticket = agent.request(ask(wanted)).await.unwrap();
            ticket_word(&world, &ticket)
        }
        "after yes" => {
            let ticket = agent.request(ask(wanted)).await.unwrap();
            let _ = world.you().answer(ticket.id(), Answer::allow()).await;
            assert_eq!(ticket.poll().unwrap().outcome, Outcome::Granted);
            format!("{:?}", agent.check(&tag(wanted)))
        }
        "grant" => {
            world.worker("other", &[]).await;
            word(agent.grant(&id("other"), tag(wanted), why()).await)
        }
        "create with" => word(agent.create(profile("kid", "you", Kind::Subagent), &[tag(wanted)], why()).await),
        "spend" => word(agent.spend(&tag(wanted)).await),
        "exec" => word(agent.exec_scope(&[tag(wanted)])),
        "connect" => word(world.engine.connect(agent.id())),
        "from another owner" => {
            let stranger = world.agent("stranger", "them", Kind::Subagent, &[wanted]).await;
            word(stranger.grant(agent.id(), tag(wanted), why()).await)
        }
        other => panic!("{other}"),
    }
}

const ACTIONS: [&str; 10] = [
    "check",
    "ask alone",
    "ask beside a lead",
    "after yes",
    "grant",
    "create with",
    "spend",
    "exec",
    "connect",
    "from another owner",
];

async fn table() -> String {
    let mut rows =
        vec![["kind", "permission", "holds"].iter().chain(&ACTIONS).map(|text| (*text).to_owned()).collect::<Vec<_>>()];
    for kind in KINDS {
        for wanted in PERMISSIONS {
            for hold in HOLDS {
                let mut row = vec![kind.to_string(), wanted.to_owned(), hold.to_owned()];
                for action in ACTIONS {
                    row.push(cell(action, kind, wanted, hold).await);
                }
                rows.push(row);
            }
        }
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(text, width)| format!("{text:width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[tokio::test]
async fn the_matrix_of_kinds_permissions_and_actions_is_as_written() {
    as_written(TABLE, &table().await);
}

#[test]
fn every_kind_and_every_permission_has_its_rows() {
    assert!(KINDS.into_iter().all(is_a_row));
    assert!(PERMISSIONS.iter().all(|text| has_a_row(&tag(text))));
}
