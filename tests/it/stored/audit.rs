//! Tests of the audit trail as a person reads it.

use std::sync::Arc;

use bestow::{
    Answer, Engine,
    decision::Check,
    grant::Scope,
    host::{AsWritten, ManualClock},
    journal::{
        Journal,
        audit::{self, Filter, Record},
    },
};

use super::held::world_at;
use crate::support::{START, World, ask, check, id, policy, settings, tag, why};

async fn told() -> (tempfile::TempDir, Vec<Record>, bestow::request::RequestId) {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(START));
    let journal = Arc::new(Journal::open(directory.path()).unwrap());
    let engine = Engine::restore(Some(settings(|_| {})), clock.clone(), Arc::new(AsWritten), journal).await.unwrap();
    let world = World { engine, clock };
    world.engine.configure(policy(settings(|_| {}), &[("filed", "you", &["@network"])])).await.unwrap();
    let (ann, bob) = (world.worker("ann", &["@events"]).await, world.worker("bob", &[]).await);
    ann.grant(bob.id(), tag("@events"), why()).await.unwrap();
    let ticket = bob.request(ask("@network")).await.unwrap();
    world.clock.advance(std::time::Duration::from_millis(1_000));
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Always)).await.unwrap();
    let late = bob.request(ask("@write:/ws")).await.unwrap();
    world.clock.advance(std::time::Duration::from_millis(300_000));
    late.resolution().await;
    let root = ann.grants().unwrap()[0].id;
    world.you().revoke(root, None).await.unwrap();
    assert!(bob.grant(bob.id(), tag("@network"), why()).await.is_err());
    let read = bestow::Action::new(bestow::action::Operation::Read, "/etc/hosts");
    drop(bob.authorize(read).await.unwrap());
    world.engine.shutdown().await;
    let records = audit::records(directory.path()).unwrap().collect::<Result<_, _>>().unwrap();
    (directory, records, ticket.id())
}

fn decided(records: &[Record], kind: &str) -> Vec<(String, String)> {
    let wanted = records.iter().filter(|record| record.recorded.event.kind() == kind);
    wanted.map(|record| (record.decider().unwrap(), record.means().unwrap())).collect()
}

fn pair(who: &str, means: &str) -> (String, String) {
    (who.to_owned(), means.to_owned())
}

#[tokio::test]
async fn each_record_says_who_decided_and_through_what() {
    let (_directory, records, _) = told().await;
    assert!(records.iter().map(|record| record.recorded.sequence).eq(1..=records.len() as u64));
    assert_eq!(
        decided(&records, "grant.issued"),
        [
            pair("agents.toml:1", "file"),
            pair("the host program", "program"),
            pair("ann", "grant"),
            pair("ann", "terminal")
        ]
    );
    assert_eq!(
        decided(&records, "permission.resolved"),
        [pair("ann", "terminal"), pair("no person answered in time", "timeout")]
    );
    let revoked = decided(&records, "grant.revoked");
    assert_eq!(revoked[0], pair("ann", "terminal"));
    assert_eq!(revoked[1].1, "grant");
    assert_eq!(decided(&records, "permission.refused"), [pair("refused for bob", "rule")]);
}

#[tokio::test]
async fn each_record_says_which_policy_was_in_force() {
    let (_directory, records, _) = told().await;
    let reloaded = records.iter().find(|record| record.recorded.event.kind() == "config.reloaded").unwrap();
    let at = reloaded.recorded.sequence;
    for record in &records {
        assert_eq!(record.policy, (at <= record.recorded.sequence).then_some(at), "{record}");
    }
}

#[tokio::test]
async fn records_can_be_picked_by_agent_request_grant_and_time() {
    let (_directory, records, request) = told().await;
    let picked = |filter: Filter| {
        records
            .iter()
            .filter(|record| filter.wants(record))
            .map(|record| record.recorded.event.kind())
            .collect::<Vec<_>>()
    };
    let code = request.code().to_string();
    let about = ["permission.requested", "permission.routed", "grant.issued", "permission.resolved"];
    assert_eq!(picked(Filter { request: Some(code.to_uppercase()), ..Filter::default() }), about);
    assert_eq!(picked(Filter { request: Some(request.to_string()), ..Filter::default() }), about);
    assert!(picked(Filter { agent: Some(id("filed")), ..Filter::default() }).contains(&"agent.registered"));
    assert_eq!(
        picked(Filter { grant: Some("g2".parse().unwrap()), ..Filter::default() }).len(),
        3,
        "issued, revoked, and what fell with it"
    );
    let since = Some(START.after(std::time::Duration::from_millis(301_000)));
    assert_eq!(picked(Filter { since, ..Filter::default() })[0], "permission.resolved");
    assert_eq!(picked(Filter { until: Some(START), ..Filter::default() }), Vec::<&str>::new());
    assert_eq!(picked(Filter { agent: Some(id("nobody")), ..Filter::default() }), Vec::<&str>::new());
}

/// The reason may be long, and is already in the line.
#[tokio::test]
async fn a_decision_is_told_with_its_reason_once() {
    let (_directory, records, _) = told().await;
    let decided = records.iter().find(|record| record.recorded.event.kind() == "permission.evaluated").unwrap();
    let (line, reason) = (decided.to_string(), decided.decider().unwrap());
    assert!(line.matches(&reason).count() == 1 && !line.ends_with(']'), "{line}");
}

#[tokio::test]
async fn a_record_is_a_line_for_people_and_an_object_for_programs() {
    let (_directory, records, _) = told().await;
    let issued = records.iter().rfind(|record| record.recorded.event.kind() == "grant.issued").unwrap();
    let line = issued.to_string();
    assert!(line.contains("grant.issued") && line.ends_with("[ann, terminal]") && !line.contains('\n'), "{line}");
    let json: serde_json::Value = serde_json::from_str(&issued.to_json().unwrap()).unwrap();
    assert_eq!(
        (&json["type"], &json["decider"], &json["means"]),
        (&"grant.issued".into(), &"ann".into(), &"terminal".into())
    );
    assert_eq!(json["h"], issued.hash.to_string());
}

#[tokio::test]
async fn damage_without_a_copy_has_a_way_out() {
    let (directory, records, _) = told().await;
    let name = directory.path().join(format!("journal-{:020}.jsonl", 1));
    let text = std::fs::read_to_string(&name).unwrap();
    std::fs::write(&name, text.replacen("\"permission.routed\"", "\"permission.rooted\"", 1)).unwrap();
    let damaged = audit::verify(directory.path(), None).unwrap_err();
    let bestow::journal::JournalError::Damaged { sequence, .. } = damaged else { panic!("{damaged}") };
    assert!(Journal::open(directory.path()).is_err());
    let cut = audit::cut(directory.path(), sequence).unwrap();
    assert!(cut.kept < sequence, "whole steps only");
    let rest = audit::records(directory.path()).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(rest[..cut.kept as usize], records[..cut.kept as usize]);
    assert_eq!(
        rest[cut.kept as usize..].iter().map(|record| &record.recorded.event).collect::<Vec<_>>(),
        cut.again.iter().collect::<Vec<_>>()
    );
    assert_eq!(audit::verify(directory.path(), None).unwrap().head, cut.head);
    drop(Journal::open(directory.path()).unwrap());
    let aside = std::fs::read_dir(directory.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("cut-"));
    assert_eq!(aside.count(), 1, "nothing is thrown away");
}

/// Makes the record after `count` records unreadable, and returns the number of its event.
fn damaged_after(directory: &std::path::Path, count: usize) -> u64 {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_segment = |path: &std::path::PathBuf| path.to_string_lossy().contains("journal-");
    let mut names: Vec<_> = names.filter(is_segment).collect();
    names.sort();
    let mut left = count;
    for name in names {
        let text = std::fs::read_to_string(&name).unwrap();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        if let Some(line) = lines.get_mut(left) {
            line.replace_range(0..1, "x");
            std::fs::write(&name, lines.join("\n") + "\n").unwrap();
            return count as u64 + 1;
        }
        left -= lines.len();
    }
    panic!("there are no {count} records");
}

/// The attack: one byte of an early record is damaged, and a user without a copy cuts off the revocations after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_brings_nothing_back_that_was_revoked_in_records_that_can_be_read() {
    for segment in [bestow::journal::SEGMENT, 1] {
        let directory = tempfile::tempdir().unwrap();
        let journal = || Journal::open_on(Arc::new(bestow::journal::RealDisk), directory.path(), segment).unwrap();
        let before = world_at(Arc::new(journal()), Arc::new(ManualClock::at(START)), |_| {}).await;
        let (ann, bob) = (before.worker("ann", &["@network"]).await, before.worker("bob", &[]).await);
        let gone = before.worker("gone", &["@network"]).await;
        ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
        let first = before.engine.grants().unwrap()[0].id;
        let damaged = audit::records(directory.path()).unwrap().count();
        // All records from here on are cut off.
        before.worker("late", &["@network"]).await;
        before.you().revoke(first, None).await.unwrap();
        before.engine.retire(gone.id()).await.unwrap();
        let clock = before.clock.clone();
        before.engine.shutdown().await;
        let sequence = damaged_after(directory.path(), damaged);
        let cut = audit::cut(directory.path(), sequence).unwrap();
        assert_eq!(cut.unread, 1, "{cut:?}");
        assert!(cut.again.iter().any(|event| event.kind() == "grant.revoked"), "{cut:?}");
        assert_eq!(audit::verify(directory.path(), None).unwrap().head, cut.head);
        let told = cut.again.iter().map(ToString::to_string).collect::<String>();
        assert!(told.contains("are set aside, and one of them had taken it away"), "{told}");
        // A second cut changes nothing: a cut that was interrupted is repeated this way.
        let again = audit::cut(directory.path(), sequence).unwrap();
        assert_eq!((again.kept, again.again.len()), (cut.kept, cut.again.len()));
        let after = world_at(Arc::new(journal()), clock, |_| {}).await;
        for name in ["ann", "bob"] {
            assert_eq!(check(&after.engine.agent(id(name)).unwrap(), "@network"), Check::NotHeld, "{name}");
        }
        assert!(after.engine.agent(id("gone")).is_err());
        assert!(after.engine.agent(id("late")).is_err(), "what was given there is not given");
    }
}

/// Two rotations into one archive, the second one after a crash in the middle of the first.
#[tokio::test(flavor = "multi_thread")]
async fn old_records_move_into_an_archive_and_both_parts_stay_verifiable() {
    let (directory, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (state, archive) = (directory.path(), place.path().join("archive"));
    let young = tempfile::tempdir().unwrap();
    live_on(young.path(), "young", bestow::journal::SEGMENT).await;
    assert_eq!(audit::rotate(young.path(), &archive), Ok(None), "all of its records are needed");
    let mut noted = None;
    for round in ["second", "third"] {
        live_until_some_can_move(state, round).await;
        let verified = audit::verify(state, None).unwrap();
        let removed = std::fs::read(state.join(segment(verified.first))).unwrap();
        let rotated = audit::rotate(state, &archive).unwrap().unwrap();
        assert_eq!(rotated.first, verified.first, "{rotated:?}");
        assert!(rotated.segments > 1, "{rotated:?}");
        // A crash can leave a segment in both places.
        let last = names_of(&archive).pop().unwrap();
        assert_ne!(last, segment(verified.first));
        std::fs::copy(archive.join(&last), state.join(&last)).unwrap();
        let again = audit::rotate(state, &archive).unwrap().unwrap();
        assert_eq!((again.segments, again.head), (1, rotated.head));
        assert_eq!(std::fs::read(archive.join(segment(verified.first))).unwrap(), removed);
        let (old, rest) = (audit::verify(&archive, Some(rotated.head)).unwrap(), audit::verify(state, None).unwrap());
        assert_eq!((old.first, old.head, rest.first), (1, rotated.head, rotated.head.sequence + 1));
        assert_eq!(rest.head, verified.head);
        if let Some(noted) = noted {
            audit::verify(&archive, Some(noted)).unwrap();
        }
        noted = Some(rotated.head);
    }
    // The attack: a record in the archive is altered.
    let first = archive.join(segment(1));
    let text = std::fs::read_to_string(&first).unwrap();
    std::fs::write(&first, text.replacen("ann", "eve", 1)).unwrap();
    assert!(audit::verify(&archive, noted).is_err());
    // An archive of another trail, and the state directory itself, are refused.
    live_on(state, "fourth", 2_000).await;
    std::fs::write(archive.join(segment(audit::verify(state, None).unwrap().first)), "other").unwrap();
    let before = names_of(state);
    let told = audit::rotate(state, &archive).unwrap_err().to_string();
    assert!(told.contains("another file has this name"), "{told}");
    let told = audit::rotate(state, state).unwrap_err().to_string();
    assert!(told.contains("it is the state directory"), "{told}");
    assert_eq!(names_of(state), before, "nothing was removed");
}

fn segment(first: u64) -> String {
    format!("journal-{first:020}.jsonl")
}

fn names_of(directory: &std::path::Path) -> Vec<String> {
    names_with(directory, "journal-")
}

fn names_with(directory: &std::path::Path, beginning: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(beginning)).collect();
    names.sort();
    names
}

/// Gives permissions until the last snapshot but one covers several segments. A slow thread makes fewer snapshots.
pub(super) async fn live_until_some_can_move(state: &std::path::Path, round: &str) {
    for part in 0..100 {
        live_on(state, &format!("{round}-{part}"), 2_000).await;
        let snapshots = names_with(state, "snapshot-");
        let kept = snapshots.iter().rev().nth(1).and_then(|name| name[9..29].parse::<u64>().ok()).unwrap_or_default();
        if names_of(state).iter().filter(|name| name[8..28].parse::<u64>().unwrap() <= kept).count() > 1 {
            return;
        }
    }
    panic!("there are no snapshots");
}

/// Gives permissions, with segments of this size. Returns the head.
pub(super) async fn live_on(state: &std::path::Path, round: &str, size: u64) -> bestow::journal::Head {
    let journal = Journal::open_on(Arc::new(bestow::journal::RealDisk), state, size).unwrap();
    let world = world_at(Arc::new(journal), Arc::new(ManualClock::at(START)), |_| {}).await;
    let ann = match world.engine.agent(id("ann")) {
        Ok(ann) => ann,
        Err(_) => world.worker("ann", &[]).await,
    };
    for number in 0..20 {
        let wanted = tag(&format!("@write:/ws/{round}/{number}"));
        world.you().give(ann.id(), wanted, bestow::grant::Scope::Always, why()).await.unwrap();
    }
    world.engine.shutdown().await;
    audit::head(state).unwrap()
}
