//! Tests of a journal that was changed: a prefix is recovered, or the damage is named. A wrong grant is never
//! recovered.

use std::sync::Arc;

use bestow::{
    Answer,
    decision::Check,
    grant::Scope,
    journal::{JournalError, audit},
};

use super::{
    disk::FakeDisk,
    faults::{STATE, open as open_in_parts, open_with},
};
use crate::support::{World, ask, id, tag, why};

async fn open(disk: &Arc<FakeDisk>) -> Result<World, String> {
    open_with(disk, 1 << 20).await
}

/// Creates a journal of one segment with grants, revocations and cascades.
async fn small() -> (Arc<FakeDisk>, String) {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network"]).await;
    world.worker("bob", &[]).await;
    ann.grant(&id("bob"), tag("@network"), why()).await.unwrap();
    let root = ann.grants().unwrap()[0].id;
    world.engine.revoke(root, None).await.unwrap();
    world.engine.shutdown().await;
    let name = format!("journal-{:020}.jsonl", 1);
    (disk, name)
}

/// Returns true if the state is one of a prefix of the history.
fn lawful(world: &World) -> bool {
    let network = tag("@network");
    let holds = |agent: &str| world.engine.check(&id(agent), &network) == Check::Held;
    // bob's permission comes from ann, so bob never holds it without her.
    !holds("bob") || holds("ann")
}

/// Returns a copy of the disk as a process leaves it that was killed before it noted the end of its records.
fn killed(disk: &Arc<FakeDisk>) -> Arc<FakeDisk> {
    let copy = disk.copy();
    copy.write_file("LOCK", b"1\n");
    copy
}

#[tokio::test]
async fn after_a_kill_it_is_cut_short_anywhere_and_is_a_prefix_of_whole_steps() {
    let (disk, name) = small().await;
    let whole = disk.read_file(&name);
    for length in 0..whole.len() {
        let copy = killed(&disk);
        copy.write_file(&name, &whole[..length]);
        let world = open(&copy).await.unwrap_or_else(|why| panic!("cut at {length}: {why}"));
        assert!(lawful(&world), "cut at {length}");
        // The recovered journal is writable.
        world.worker("new", &["@events"]).await;
        world.engine.shutdown().await;
        let again = open(&copy).await.unwrap_or_else(|why| panic!("cut at {length}, again: {why}"));
        assert!(again.engine.agent(id("new")).is_ok(), "cut at {length}");
        assert!(lawful(&again));
        again.engine.shutdown().await;
        audit::verify_on(copy, STATE, None).unwrap();
    }
}

/// The attack: the last records are removed after a kill, so that a revoked permission is held again. The lock file
/// says up to where the records were acknowledged.
#[tokio::test]
async fn after_a_kill_acknowledged_records_that_are_missing_are_named() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network"]).await;
    world.engine.revoke(ann.grants().unwrap()[0].id, None).await.unwrap();
    let (left, name) = (disk.copy(), format!("journal-{:020}.jsonl", 1));
    let whole = left.read_file(&name);
    assert!(String::from_utf8(left.read_file("LOCK")).unwrap().lines().count() == 2);
    for length in 0..whole.len() {
        let copy = left.copy();
        copy.write_file(&name, &whole[..length]);
        for _ in 0..2 {
            let told = open(&copy).await.map(drop).expect_err("acknowledged records are missing");
            assert!(told.contains("bestow audit cut --before"), "cut at {length}: {told}");
            assert!(audit::verify_on(copy.clone(), STATE, None).is_err(), "cut at {length}");
        }
    }
    // A record that follows the noted end was not acknowledged, or not yet.
    world.worker("bob", &[]).await;
    left.write_file(&name, &disk.read_file(&name));
    let again = open(&left).await.unwrap();
    assert!(again.engine.agent(id("bob")).is_ok());
    assert_eq!(again.engine.check(&id("ann"), &tag("@network")), Check::NotHeld);
    again.engine.shutdown().await;
    world.engine.shutdown().await;
}

/// Several segments follow the newest snapshot. A naive journal demands only the first of them.
#[tokio::test]
async fn after_a_kill_newest_segments_that_are_missing_are_named() {
    let disk = FakeDisk::new();
    let world = long_open(&disk, 40).await;
    let left = disk.copy();
    let segments = names(&left, "journal-");
    let newest = names(&left, "snapshot-").pop().map_or(0, |name| name["snapshot-".len()..][..20].parse().unwrap());
    let follow = segments.iter().filter(|name| newest < name["journal-".len()..][..20].parse::<u64>().unwrap());
    assert!(1 < segments.len() && 0 < follow.count());
    for from in 0..segments.len() {
        let copy = left.copy();
        segments[from..].iter().for_each(|name| copy.remove_file(name));
        assert!(open(&copy).await.is_err(), "without {} segments", segments.len() - from);
        assert!(audit::verify_on(copy, STATE, None).is_err(), "without {} segments", segments.len() - from);
    }
    world.engine.shutdown().await;
}

/// The attack: after an orderly end, the record of a revocation is removed. A naive journal takes the rest for a write
/// that was interrupted, and the permission is held again.
#[tokio::test]
async fn after_an_orderly_end_a_trail_that_is_cut_anywhere_is_named() {
    let (disk, name) = small().await;
    let whole = disk.read_file(&name);
    for length in 0..whole.len() {
        let copy = disk.copy();
        copy.write_file(&name, &whole[..length]);
        for _ in 0..2 {
            let told = open(&copy).await.map(drop).expect_err("the end is missing");
            assert!(told.contains("bestow audit cut --before"), "cut at {length}: {told}");
            assert!(audit::verify_on(copy.clone(), STATE, None).is_err(), "cut at {length}");
        }
    }
}

#[tokio::test]
async fn a_flipped_bit_anywhere_is_named() {
    let (disk, name) = small().await;
    let whole = disk.read_file(&name);
    for from in [disk.clone(), killed(&disk)] {
        for place in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[place] ^= 1 << bit;
                let copy = from.copy();
                copy.write_file(&name, &flipped);
                let verified = audit::verify_on(copy.clone(), STATE, None);
                assert!(verified.is_err(), "bit {bit} of byte {place}: {verified:?}");
                let told = open(&copy).await.map(drop).expect_err("a record was altered");
                assert!(told.contains("line") && told.contains("bestow audit cut"), "bit {bit} of {place}: {told}");
            }
        }
    }
}

/// Returns the permissions, agents, decisions, settings and waiting requests, as text.
pub(super) fn held(world: &World) -> Vec<String> {
    let engine = &world.engine;
    let grants = engine.grants().unwrap().into_iter().map(|grant| format!("{grant:?}"));
    let agents = engine.agents().unwrap().into_iter().map(|agent| format!("{agent:?}"));
    let rulings = engine.rulings().unwrap().into_iter().map(|ruling| format!("{ruling:?}"));
    let waiting = engine.pending().unwrap().into_iter().map(|pending| format!("{}", pending.request.id));
    let settings = std::iter::once(format!("{:?}", engine.settings().unwrap()));
    let mut held: Vec<_> = grants.chain(agents).chain(rulings).chain(waiting).chain(settings).collect();
    held.sort();
    held
}

/// Asserts that an engine does not start on `disk`, or holds exactly `expected`.
async fn is_named_or_holds(disk: &Arc<FakeDisk>, expected: &[String], context: &str) {
    match open(disk).await {
        Ok(world) => {
            assert_eq!(held(&world), expected, "{context}");
            world.engine.shutdown().await;
        }
        Err(why) => {
            assert!(why.contains("/state"), "{context}: {why}");
            assert!(audit::verify_on(disk.clone(), STATE, None).is_err(), "{context}: {why}");
        }
    }
}

fn all_names(disk: &FakeDisk) -> Vec<String> {
    names(disk, "").into_iter().filter(|name| !name.starts_with("RESERVE")).collect()
}

/// Theorem: whatever happens to one file, the damage is named, or the state is the acknowledged one.
#[tokio::test]
async fn a_file_that_is_altered_removed_swapped_or_older_is_named_or_changes_nothing() {
    let disk = FakeDisk::new();
    let running = long_open(&disk, 40).await;
    let expected = held(&running);
    // As a killed process leaves the files, and as an orderly end does.
    let killed = disk.copy();
    running.engine.shutdown().await;
    for (disk, end) in [(killed, "after a kill"), (disk, "after an orderly end")] {
        damaged_in_every_way(&disk, &expected, end).await;
    }
}

async fn damaged_in_every_way(disk: &Arc<FakeDisk>, expected: &[String], end: &str) {
    is_named_or_holds(&disk.copy(), expected, end).await;
    let files = all_names(disk);
    for name in &files {
        let (content, copy) = (disk.read_file(name), disk.copy());
        copy.remove_file(name);
        is_named_or_holds(&copy, expected, &format!("{end}: {name} is removed")).await;
        let step = content.len() / 90 + 1;
        for place in (0..content.len()).step_by(step) {
            let mut altered = content.clone();
            altered[place] ^= 1 << (place % 8);
            let (flipped, short) = (disk.copy(), disk.copy());
            flipped.write_file(name, &altered);
            is_named_or_holds(&flipped, expected, &format!("{end}: byte {place} of {name} is altered")).await;
            short.write_file(name, &content[..place]);
            is_named_or_holds(&short, expected, &format!("{end}: {name} is cut at {place}")).await;
        }
        for other in files.iter().filter(|other| *other != name) {
            let (swapped, repeated) = (disk.copy(), disk.copy());
            for copy in [&swapped, &repeated] {
                copy.write_file(other, &content);
            }
            swapped.write_file(name, &disk.read_file(other));
            is_named_or_holds(&swapped, expected, &format!("{end}: {name} and {other} are swapped")).await;
            is_named_or_holds(&repeated, expected, &format!("{end}: {other} has the content of {name}")).await;
        }
    }
    let older = long_with(20).await;
    for name in all_names(&older) {
        let copy = disk.copy();
        copy.write_file(&name, &older.read_file(&name));
        is_named_or_holds(&copy, expected, &format!("{end}: {name} is older")).await;
    }
}

#[tokio::test]
async fn the_newest_segment_that_is_missing_after_a_kill_is_named_and_can_be_done_without() {
    let disk = killed(&long().await);
    let last = names(&disk, "snapshot-").pop().unwrap();
    let before: u64 = last["snapshot-".len()..][..20].parse().unwrap();
    for name in names(&disk, "journal-").iter().filter(|name| name.as_str() > format!("journal-{before:020}").as_str())
    {
        disk.remove_file(name);
    }
    let told = open(&disk).await.map(drop).unwrap_err();
    assert!(told.contains(&format!("lacks the records from event {} on", before + 1)), "{told}");
    assert!(told.contains(&format!("bestow audit cut --before {}", before + 1)), "{told}");
    assert!(audit::verify_on(disk, STATE, None).is_err());
}

#[tokio::test]
async fn lines_that_are_missing_moved_or_repeated_are_named() {
    let (disk, name) = small().await;
    let whole = String::from_utf8(disk.read_file(&name)).unwrap();
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    let with = |lines: &[&str]| {
        let copy = disk.copy();
        copy.write_file(&name, lines.concat().as_bytes());
        audit::verify_on(copy, STATE, None).unwrap_err().to_string()
    };
    let missing: Vec<_> = lines.iter().enumerate().filter(|(place, _)| *place != 2).map(|(_, line)| *line).collect();
    let told = with(&missing);
    assert!(told.contains("line 3, event 3: events 3 to 3 are missing"), "{told}");
    let mut moved = lines.clone();
    moved.swap(2, 3);
    assert!(with(&moved).contains("line 3, event 3"), "{}", with(&moved));
    let mut repeated = lines.clone();
    repeated.insert(3, lines[2]);
    let told = with(&repeated);
    assert!(told.contains("line 4, event 4: event 3 is at this position: it was moved or repeated"), "{told}");
}

/// The attack: a user who can write the file changes a grant, and corrects the hash of that line.
#[tokio::test]
async fn a_line_that_was_rewritten_with_its_hash_breaks_the_next_one() {
    let (disk, name) = small().await;
    let whole = String::from_utf8(disk.read_file(&name)).unwrap();
    let other = FakeDisk::new();
    let world = open(&other).await.unwrap();
    world.worker("ann", &["@events"]).await;
    world.engine.shutdown().await;
    let theirs = String::from_utf8(other.read_file(&name)).unwrap();
    // The first part of the file is a complete chain of another journal.
    let spliced: String = theirs.split_inclusive('\n').take(4).chain(whole.split_inclusive('\n').skip(4)).collect();
    let copy = disk.copy();
    copy.write_file(&name, spliced.as_bytes());
    let told = audit::verify_on(copy.clone(), STATE, None).unwrap_err();
    assert!(matches!(&told, JournalError::Damaged { line: 5, what, .. } if what.contains("altered")), "{told}");
    assert!(open(&copy).await.is_err());
}

/// The attack: the whole trail is truncated or rewritten with correct hashes. Only a head that was noted elsewhere
/// reveals it.
#[tokio::test]
async fn a_trail_that_was_cut_back_or_rewritten_is_told_by_the_head_that_was_noted_down() {
    let (disk, name) = small().await;
    let head = audit::verify_on(disk.clone(), STATE, None).unwrap().head;
    assert_eq!(head.to_string().parse(), Ok(head));
    let whole = disk.read_file(&name);
    let end = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let shorter = killed(&disk);
    shorter.write_file(&name, &whole[..whole[..end - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1]);
    assert!(audit::verify_on(shorter.clone(), STATE, None).is_ok(), "the naive check passes");
    let told = audit::verify_on(shorter, STATE, Some(head)).unwrap_err().to_string();
    assert!(told.contains("is an older copy"), "{told}");
    let (other, _) = small_with("eve").await;
    assert!(audit::verify_on(other.clone(), STATE, None).is_ok());
    let told = audit::verify_on(other, STATE, Some(head)).unwrap_err().to_string();
    assert!(told.contains("was rewritten") || told.contains("is an older copy"), "{told}");
}

async fn small_with(name: &str) -> (Arc<FakeDisk>, ()) {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    for number in 0..8 {
        world.worker(&format!("{name}{number}"), &["@network"]).await;
    }
    world.engine.shutdown().await;
    (disk, ())
}

/// The number of grants that live at the end of such a journal.
const GRANTS: usize = 23;

/// Creates a journal with several segments and snapshots.
pub(super) async fn long() -> Arc<FakeDisk> {
    long_with(40).await
}

async fn long_with(gifts: usize) -> Arc<FakeDisk> {
    let disk = FakeDisk::new();
    long_open(&disk, gifts).await.engine.shutdown().await;
    disk
}

/// Returns an engine that wrote several segments.
async fn long_open(disk: &Arc<FakeDisk>, gifts: usize) -> World {
    let world = open_in_parts(disk).await.unwrap();
    let ann = world.worker("ann", &[]).await;
    for number in 0..gifts {
        let given =
            world.you().give(ann.id(), tag(&format!("@write:/ws/{number}")), Scope::Always, why()).await.unwrap();
        if number % 2 == 0 {
            world.engine.revoke(given[0], None).await.unwrap();
        }
    }
    let later = Scope::Until(world.after(60_000));
    world.you().give(ann.id(), tag("@network"), later, why()).await.unwrap();
    let denied = ann.request(ask("@write:/other")).await.unwrap();
    world.you().answer(denied.id(), Answer::deny().scope(Scope::Always)).await.unwrap();
    let bob = world.worker("bob", &["@events"]).await;
    ann.grant(bob.id(), tag("@write:/ws/1/inner"), why()).await.unwrap();
    drop(bob.request(ask("@network")).await.unwrap());
    world
}

pub(super) fn names(disk: &FakeDisk, begin: &str) -> Vec<String> {
    use bestow::journal::Disk;
    let mut names = disk.list(std::path::Path::new(STATE)).unwrap();
    names.retain(|name| name.starts_with(begin));
    names.sort();
    names
}

#[tokio::test]
async fn segments_keep_the_chain_and_snapshots_say_what_it_says() {
    let disk = long().await;
    let (segments, snapshots) = (names(&disk, "journal-"), names(&disk, "snapshot-"));
    assert!(segments.len() > 5 && !snapshots.is_empty() && snapshots.len() < 3, "{segments:?} {snapshots:?}");
    let world = open(&disk).await.unwrap();
    assert_eq!(world.engine.grants().unwrap().len(), GRANTS);
    world.engine.shutdown().await;
    let verified = audit::verify_on(disk.clone(), STATE, None).unwrap();
    assert_eq!((verified.first, verified.torn), (1, None));
    // Without snapshots the journal is read from the beginning, with an equal result.
    let bare = disk.copy();
    names(&bare, "snapshot-").iter().for_each(|name| bare.remove_file(name));
    assert_eq!(open(&bare).await.unwrap().engine.grants().unwrap().len(), GRANTS);
}

#[tokio::test]
async fn segments_that_were_moved_away_leave_a_trail_that_begins_at_a_snapshot() {
    let disk = long().await;
    let last = names(&disk, "snapshot-").pop().unwrap();
    let before: u64 = last["snapshot-".len()..][..20].parse().unwrap();
    let older: Vec<_> = names(&disk, "journal-")
        .into_iter()
        .filter(|name| name["journal-".len()..][..20].parse::<u64>().unwrap() <= before)
        .collect();
    older.iter().for_each(|name| disk.remove_file(name));
    let world = open(&disk).await.unwrap();
    assert_eq!(world.engine.grants().unwrap().len(), GRANTS);
    world.engine.shutdown().await;
    assert_eq!(audit::verify_on(disk.clone(), STATE, None).unwrap().first, before + 1);
    // The snapshot before the first record stays, though newer ones follow.
    let world = open_in_parts(&disk).await.unwrap();
    for number in 100.. {
        // An older snapshot may be there still: a new one is stored before an old one is removed.
        let snapshots = names(&disk, "snapshot-");
        if snapshots.len() == 3 && snapshots[0] == last {
            break;
        }
        assert!(number < 10_000, "there are no snapshots");
        world.you().give(&id("ann"), tag(&format!("@write:/ws/{number}")), Scope::Always, why()).await.unwrap();
    }
    world.engine.shutdown().await;
    assert!(names(&disk, "snapshot-").contains(&last) && names(&disk, "snapshot-").len() == 3);
    assert_eq!(audit::verify_on(disk.clone(), STATE, None).unwrap().first, before + 1);
    // Without the snapshots the engine reports the missing events and invents nothing.
    names(&disk, "snapshot-").iter().for_each(|name| disk.remove_file(name));
    let told = open(&disk).await.map(drop).unwrap_err();
    assert!(told.contains("lacks events 1 to"), "{told}");
}

#[tokio::test]
async fn a_segment_that_is_missing_in_the_middle_is_named() {
    let disk = long().await;
    names(&disk, "snapshot-").iter().for_each(|name| disk.remove_file(name));
    let second = &names(&disk, "journal-")[1];
    disk.remove_file(second);
    let told = open(&disk).await.map(drop).unwrap_err();
    assert!(told.contains("lacks events"), "{told}");
    assert!(audit::verify_on(disk, STATE, None).is_err());
}

#[tokio::test]
async fn a_snapshot_that_was_altered_is_not_used_and_one_that_was_forged_is_found() {
    let disk = long().await;
    let name = names(&disk, "snapshot-").pop().unwrap();
    let mut content = disk.read_file(&name);
    let place = content.len() - 40;
    content[place] ^= 1;
    let altered = disk.copy();
    altered.write_file(&name, &content);
    let world = open(&altered).await.unwrap();
    assert_eq!(world.engine.grants().unwrap().len(), GRANTS, "the records say it all");
    // The attack: a snapshot of another life replaces the snapshot of this one.
    let forged = disk.copy();
    let other = long().await;
    let theirs = names(&other, "snapshot-").pop().unwrap();
    forged.write_file(&name, &other.read_file(&theirs));
    let told = audit::verify_on(forged, STATE, None);
    assert!(theirs == name || told.is_err(), "{told:?}");
}

#[tokio::test]
async fn what_is_set_aside_is_kept_and_told() {
    let (disk, name) = small().await;
    let mut content = disk.read_file(&name);
    content.extend(b"{\"v\":1,\"sequence\":9,\"at\":\"20");
    let disk = killed(&disk);
    disk.write_file(&name, &content);
    let world = open(&disk).await.unwrap();
    assert_eq!(names(&disk, "cut-").len(), 1);
    let cut = world.engine.agents().unwrap().len();
    assert_eq!(cut, 2);
    world.engine.shutdown().await;
    let text: Vec<_> = names(&disk, "journal-").iter().flat_map(|name| disk.read_file(name)).collect();
    assert!(String::from_utf8(text).unwrap().contains("never acknowledged, are in cut-"));
    assert_eq!(disk.read_file(&names(&disk, "cut-")[0]), b"{\"v\":1,\"sequence\":9,\"at\":\"20");
}

#[tokio::test]
async fn a_line_of_another_version_is_refused_and_not_cut_off() {
    let (disk, name) = small().await;
    let text = String::from_utf8(disk.read_file(&name)).unwrap();
    let last = text.trim_end().rfind('\n').unwrap();
    let newer = text[..=last].to_owned() + &text[last + 1..].replacen("\"v\":1", "\"v\":2", 1);
    disk.write_file(&name, newer.as_bytes());
    let told = open(&disk).await.map(drop).unwrap_err();
    assert!(told.contains("another version"), "{told}");
}

#[tokio::test]
async fn events_of_a_trail_can_be_read_by_any_tool() {
    let (disk, name) = small().await;
    let mut revoked = 0;
    for line in String::from_utf8(disk.read_file(&name)).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["event"]["type"].is_string() && value["sequence"].is_u64() && value["h"].is_string(), "{line}");
        revoked += usize::from(value["event"]["type"] == "grant.revoked");
    }
    assert_eq!(revoked, 2);
}
