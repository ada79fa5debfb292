//! Tests of an engine that notes the head of its trail.

use std::{sync::Arc, time::Duration};

use bestow::{
    Engine, InitialGrants, Kind,
    decision::Check,
    grant::PermissionRef,
    journal::{HeadNote, HeadNotes, JournalError, audit},
};

use crate::support::{profile, tag};

fn notes(file: &std::path::Path) -> HeadNotes {
    HeadNotes::new([HeadNote::File(file.to_owned())], Duration::from_secs(3600), |_, _| {})
}

async fn open(place: &std::path::Path) -> Engine {
    let (policy, state) = (place.join("agents.toml"), place.join("state"));
    let agent = "[agents.lead]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"/\"\n";
    std::fs::write(&policy, agent).unwrap();
    Engine::open_durable_noting(policy, state, notes(&place.join("notes/head"))).await.unwrap()
}

/// The attack: an agent that may write the directory of the note rewrites it, and hides an older copy.
#[tokio::test(flavor = "multi_thread")]
async fn no_agent_reaches_the_file_of_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    std::fs::create_dir(place.join("notes")).unwrap();
    let engine = open(place).await;
    let all = tag(&format!("@write:{}", place.join("notes").display()));
    let bot = engine.register(profile("bot", "you", Kind::Cron), InitialGrants::of([all])).await.unwrap();
    let check = |name: &str| {
        let path = place.join("notes").join(name);
        bot.check(PermissionRef::write(path.to_str().unwrap()))
    };
    assert_eq!(check("other"), Check::Held);
    assert_ne!(check("head"), Check::Held);
    engine.shutdown().await;
}

/// The records between the note and the snapshot are in an archive, so the engine cannot compare them.
#[tokio::test(flavor = "multi_thread")]
async fn a_note_of_a_record_that_was_moved_into_an_archive_is_refused_with_the_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let (state, archive) = (directory.path().join("state"), directory.path().join("archive"));
    let noted = super::audit::live_on(&state, "first", 2_000).await;
    let file = directory.path().join("head");
    let note = HeadNote::File(file.clone());
    assert_eq!(note.note(&state).unwrap(), noted);
    super::audit::live_until_some_can_move(&state, "second").await;
    super::audit::live_until_some_can_move(&state, "third").await;
    assert_eq!(note.compare(&state), Ok(()), "older records are there");
    let rotated = audit::rotate(&state, &archive).unwrap().unwrap();
    assert!(noted.sequence < rotated.head.sequence);
    let told = note.compare(&state).unwrap_err().to_string();
    assert!(told.contains("audit verify --state ARCHIVE --expect"), "{told}");
    assert_eq!(audit::verify(&archive, Some(noted)).unwrap().head, rotated.head);
    assert!(matches!(audit::verify(&state, Some(noted)), Err(JournalError::Missing { .. })), "it is not overlooked");
    // The end of the archive is the beginning of the rest.
    std::fs::write(&file, format!("{}\n", rotated.head)).unwrap();
    assert_eq!(note.compare(&state), Ok(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_whole_while_many_write_it() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    super::audit::live_on(&state, "first", 2_000).await;
    let note = Arc::new(HeadNote::File(directory.path().join("head")));
    let head = note.note(&state).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (note, state) = (Arc::clone(&note), &state);
            // A writer that finds another one at work may give up. What it leaves is whole.
            scope.spawn(move || (0..25).for_each(|_| drop(note.note(state))));
        }
        for _ in 0..1000 {
            assert_eq!(note.read().unwrap(), Some(head));
        }
    });
    let names = std::fs::read_dir(directory.path()).unwrap().count();
    assert!(names <= 3, "no unfinished note stays but the last: {names}");
}
