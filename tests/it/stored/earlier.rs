//! Tests that a journal of an earlier version opens. `tests/fixtures/journal-63abd25/README.md` says how it was made.

use std::{fs, path::Path, sync::Arc};

use bestow::{
    Action, Effect, Engine,
    decision::Check,
    event::Timestamp,
    host::{AsWritten, ManualClock},
    journal::{Journal, RealDisk, audit},
    tool::ToolPolicy,
};
use serde_json::{Value, json};

use crate::support::{ROOT, check, id, settings};

/// The time of the first event, in milliseconds, and the time of the restart in the fixture.
const WRITTEN: u64 = 1_790_000_000_000;
const OPENED: u64 = WRITTEN + 10_000;

/// The size of a segment in the fixture, in bytes.
const SEGMENT: u64 = 6000;

fn fixture() -> std::path::PathBuf {
    Path::new(ROOT).join("tests/fixtures/journal-63abd25")
}

/// Copies the fixture into a state directory.
fn copied() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in fs::read_dir(fixture().join("state")).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), directory.path().join(file.file_name())).unwrap();
    }
    // The engine of that time left it behind, with its process id.
    fs::write(directory.path().join("LOCK"), "1\n").unwrap();
    directory
}

async fn opened(directory: &Path) -> Engine {
    let journal = Journal::open_on(Arc::new(RealDisk), directory, SEGMENT).unwrap();
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(OPENED)));
    Engine::restore(Some(settings(|_| {})), clock, Arc::new(AsWritten), Arc::new(journal)).await.unwrap()
}

/// Returns everything that the engine holds, in the form of `held.json`.
fn held(engine: &Engine, wanted: &Value) -> Value {
    let you = engine.approver("you", "ann", "terminal");
    let agents = engine.agents().unwrap();
    let permissions = agents.iter().map(|profile| {
        let held = engine.agent(&profile.id).unwrap().permissions().unwrap();
        json!([profile.id, profile.mode, held.iter().map(|permission| permission.to_string()).collect::<Vec<_>>()])
    });
    let resolutions = wanted["resolutions"].as_array().unwrap().iter().map(|wanted| {
        let (agent, request) = (wanted["agent"].as_str().unwrap(), wanted["request"].as_str().unwrap());
        let ticket = engine.agent(agent).unwrap().ticket(request.parse().unwrap()).unwrap();
        json!({ "agent": agent, "request": request, "resolution": ticket.poll().map(|resolution| json!(*resolution)) })
    });
    let runs = agents.iter().map(|profile| {
        let guards = you.guards(&engine.run_of(&profile.id).unwrap()).unwrap();
        let guard =
            |guard: &ToolPolicy| json!({ "tool": guard.tool, "names": guard.names, "policies": *guard.policies });
        json!({ "agent": profile.id, "tool_policies": guards.iter().map(guard).collect::<Vec<_>>() })
    });
    let declarations = you.declarations().unwrap();
    let declarations = declarations.iter().map(|(by, tools)| json!([by, tools.iter().collect::<Vec<_>>()]));
    json!({
        "agents": agents.iter().map(|profile| json!(**profile)).collect::<Vec<_>>(),
        "permissions": permissions.collect::<Vec<_>>(),
        "grants": engine.grants().unwrap().iter().map(|grant| json!(**grant)).collect::<Vec<_>>(),
        "saved_decisions": engine.rulings().unwrap().iter().map(|saved| json!(**saved)).collect::<Vec<_>>(),
        "requests": engine.pending().unwrap().iter().map(|waiting| json!(*waiting.request)).collect::<Vec<_>>(),
        "resolutions": resolutions.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
        "declarations": declarations.collect::<Vec<_>>(),
        "processes": engine.processes().unwrap().iter().map(|process| json!(**process)).collect::<Vec<_>>(),
    })
}

/// The newest snapshot is read in one case, and each event in the other.
#[tokio::test]
async fn a_journal_of_the_version_before_opens_and_everything_it_held_is_held() {
    let wanted: Value = serde_json::from_slice(&fs::read(fixture().join("held.json")).unwrap()).unwrap();
    for has_snapshots in [true, false] {
        let directory = copied();
        let all = fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().path());
        let snapshots: Vec<_> = all.filter(|path| path.to_str().unwrap().contains("snapshot-")).collect();
        assert_eq!(snapshots.len(), 2);
        for snapshot in snapshots.iter().filter(|_| !has_snapshots) {
            fs::remove_file(snapshot).unwrap();
        }
        let engine = opened(directory.path()).await;
        let held = held(&engine, &wanted);
        for (key, wanted) in wanted.as_object().unwrap() {
            assert_eq!(held[key], *wanted, "{key}, snapshots: {has_snapshots}");
        }
        let writer = engine.agent("writer").unwrap();
        assert_eq!(check(&writer, "@write:/srv/site/pages/index.html"), Check::Held);
        assert_eq!(check(&writer, "@read:/srv/other"), Check::NotHeld, "the session is over");
        assert_eq!(writer.verdict(&Action::command("git push origin main")).unwrap(), Effect::Deny);
        assert_eq!(writer.verdict(&Action::command("node build.js")).unwrap(), Effect::Allow);
        engine.revoke(engine.agent("lead").unwrap().grants().unwrap()[0].id, None).await.unwrap();
        assert_eq!(check(&writer, "@write:/srv/site/pages/index.html"), Check::NotHeld, "what it depended on ended");
        engine.shutdown().await;
        assert!(opened(directory.path()).await.agent(id("gone")).is_err());
    }
}

/// The events of the earlier version, and those that this one adds, are one chain.
#[tokio::test]
async fn the_trail_of_the_version_before_is_read_and_continued() {
    let directory = copied();
    let before: Vec<_> = audit::records(directory.path()).unwrap().collect::<Result<_, _>>().unwrap();
    let kinds: Vec<_> = before.iter().map(|record| record.recorded.event.kind()).collect();
    for kind in ["process.started", "tools.declared", "policy.updated", "ruling.made", "permission.resolved"] {
        assert!(kinds.contains(&kind), "{kind}");
    }
    opened(directory.path()).await.shutdown().await;
    let after: Vec<_> = audit::records(directory.path()).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(after.len() > before.len());
    let told: Vec<_> = after.iter().skip(before.len()).map(|record| record.recorded.event.kind()).collect();
    assert!(told.contains(&"process.exited"), "the process that was running: {told:?}");
    audit::verify(directory.path(), None).unwrap();
}
