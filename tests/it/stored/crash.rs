//! Tests of a process that is killed a hundred times, at any moment, and of the state that the next process finds.
//! `scripts/kill-harness` does the same thousands of times.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use bestow::{
    Answer, Engine, Error, InitialGrants, Kind,
    decision::Check,
    grant::Scope,
    host::{AsWritten, SystemClock},
    journal::{HeadNote, Journal, JournalError, RealDisk, audit},
    request::RequestId,
};

use crate::support::{id, profile, settings, tag, why};

/// A variable that is set in the process that is killed: its state directory, and the prefix of its names.
const CHILD: &str = "BESTOW_TEST_CRASH";

/// A variable with the number of kills. Without it, there are a hundred.
const KILLS: &str = "BESTOW_KILLS";

/// The number of kills of the processes that use one directory.
const LIVES: usize = 25;
const WRITERS: usize = 4;

/// The number of lives after which old records move into an archive.
const LIVES_UNTIL_ROTATION: usize = 7;

/// A size so small that new segments and snapshots occur constantly.
const SEGMENT: u64 = 40_000;

async fn open(directory: &Path) -> Engine {
    let journal = Journal::open_on(Arc::new(RealDisk), directory, SEGMENT).unwrap();
    let settings = settings(|settings| {
        settings.max_grants = 1 << 20;
        settings.max_pending = 1 << 20;
        settings.max_asks_per_minute = u32::MAX;
        settings.denial_memory = std::time::Duration::ZERO;
    });
    let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(AsWritten));
    Engine::restore(Some(settings), clock, paths, Arc::new(journal)).await.unwrap()
}

/// Prints the attempts and the acknowledgements.
fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that is gone has read enough.
    let _ = writeln!(out, "\n{words}").and_then(|()| out.flush());
}

/// Grants, requests, answers and revokes until it is killed.
async fn live_until_killed(engine: Engine, writer: usize, life: String, mut random: u64) {
    let (name, you) = (id(&format!("w{writer}")), engine.approver("you", "ann", "test"));
    if engine.agent(&name).is_err() {
        engine.register(profile(name.as_str(), "you", Kind::Cron), InitialGrants::nothing()).await.unwrap();
    }
    let agent = engine.agent(&name).unwrap();
    for step in 0_u64.. {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wanted = format!("@write:/ws/{life}/{writer}/{step}");
        match random >> 61 {
            0..=2 => {
                say(&format!("try {wanted}"));
                you.give(&name, tag(&wanted), Scope::Always, why()).await.unwrap();
                say(&format!("held {wanted}"));
            }
            3..=5 => {
                let held = agent.grants().unwrap();
                let Some(grant) = held.get((random as usize >> 8) % held.len().max(1)) else { continue };
                let taken = grant.pinned.permission.to_string();
                say(&format!("try {taken}"));
                engine.revoke(grant.id, None).await.unwrap();
                say(&format!("gone {taken}"));
            }
            other => {
                let ticket = agent.request(bestow::PermissionRequest::new(tag(&wanted), why())).await.unwrap();
                say(&format!("asked {}", ticket.id()));
                let answer = if other == 6 { Answer::allow().scope(Scope::Always) } else { Answer::deny() };
                say(&format!("try {wanted}"));
                you.answer(ticket.id(), answer).await.unwrap();
                say(&format!("{} {wanted}", if other == 6 { "held" } else { "gone" }));
                say(&format!("over {}", ticket.id()));
            }
        }
    }
}

/// Notes the head until it is killed.
fn note_until_killed(directory: &Path) -> ! {
    let note = note_beside(directory);
    loop {
        // A file that is removed meanwhile is no fault: the next note is right.
        if let Err(why @ (JournalError::OlderCopy { .. } | JournalError::OtherHead { .. })) = note.note(directory) {
            say(&format!("lost {why}"));
        }
    }
}

/// Returns the note of the head beside the state directory.
fn note_beside(directory: &Path) -> HeadNote {
    HeadNote::File(directory.with_file_name("head"))
}

/// The acknowledged facts of all lives.
#[derive(Debug, Default)]
struct Acknowledged {
    held: BTreeMap<String, bool>,
    unknown: BTreeSet<String>,
    asked: BTreeMap<RequestId, bool>,
    count: usize,
}

impl Acknowledged {
    fn hear(&mut self, line: &str) {
        let Some((word, about)) = line.split_once(' ') else { return };
        match word {
            "try" => drop(self.unknown.insert(about.to_owned())),
            "held" | "gone" => {
                self.unknown.remove(about);
                self.held.insert(about.to_owned(), word == "held");
                self.count += 1;
            }
            "asked" | "over" => drop(self.asked.insert(about.parse().unwrap(), word == "over")),
            "lost" => panic!("{about}"),
            _ => {}
        }
    }

    async fn agrees(&mut self, directory: &Path, life: usize) {
        let note = note_beside(directory);
        assert_eq!(note.compare(directory), Ok(()), "life {life}: the noted head is lost");
        let engine = open(directory).await;
        let held: BTreeSet<String> =
            engine.grants().unwrap().iter().map(|grant| grant.pinned.permission.to_string()).collect();
        for (wanted, expected) in &self.held {
            if !self.unknown.contains(wanted) {
                assert_eq!(held.contains(wanted), *expected, "life {life}: {wanted}");
            }
        }
        for found in &held {
            assert!(
                self.held.contains_key(found) || self.unknown.contains(found),
                "life {life}: {found} was never given"
            );
            let writer = (0..WRITERS).map(|writer| id(&format!("w{writer}")));
            assert!(writer.into_iter().any(|writer| engine.check(&writer, &tag(found)) == Check::Held));
        }
        let pending: BTreeSet<_> = engine.pending().unwrap().iter().map(|pending| pending.request.id).collect();
        for (asked, over) in &self.asked {
            let known = pending.contains(asked) || engine.resolution(*asked).unwrap().is_some() || *over;
            assert!(known, "life {life}: a question is lost");
            assert!(!(*over && pending.contains(asked)), "life {life}: a question that was answered waits again");
        }
        // The result of the rest is known from now on. The end of a request is remembered for a limited time only.
        self.asked.iter_mut().for_each(|(asked, over)| *over |= !pending.contains(asked));
        for wanted in std::mem::take(&mut self.unknown) {
            let holds = held.contains(&wanted);
            self.held.insert(wanted, holds);
        }
        engine.shutdown().await;
        assert!(matches!(engine.pending(), Err(Error::Closed)));
        let noted = note.read().unwrap();
        assert!(noted.is_some() || life % LIVES < LIVES / 2, "life {life}: nothing was noted");
        let verified = audit::verify(directory, noted);
        assert!(verified.is_ok(), "life {life}: {verified:?}");
        if life.is_multiple_of(LIVES_UNTIL_ROTATION) {
            note.note(directory).unwrap();
            let archive = directory.with_file_name("archive");
            if let Some(rotated) = audit::rotate(directory, &archive).unwrap() {
                audit::verify(&archive, Some(rotated.head)).unwrap();
                audit::verify(directory, note.read().unwrap()).unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_loses_nothing_that_was_acknowledged() {
    if let Ok(child) = env::var(CHILD) {
        let (directory, life) = child.split_once('|').unwrap();
        let engine = open(Path::new(directory)).await;
        let random = life.parse::<u64>().unwrap();
        let writers = (0..WRITERS).map(|writer| {
            tokio::spawn(live_until_killed(engine.clone(), writer, life.to_owned(), random * 31 + writer as u64))
        });
        let directory = directory.to_owned();
        std::thread::spawn(move || note_until_killed(Path::new(&directory)));
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
    }
    let kills = env::var(KILLS).map_or(100, |kills| kills.parse::<usize>().unwrap());
    let (mut count, mut told, mut place) = (0, Acknowledged::default(), tempfile::tempdir().unwrap());
    for life in 0..kills {
        if life % LIVES == 0 {
            count += std::mem::take(&mut told).count;
            place = tempfile::tempdir().unwrap();
            println!("{life} kills, {count} acknowledged steps, none lost");
        }
        let state = place.path().join("state");
        kill_one(&state, life, &mut told);
        told.agrees(&state, life).await;
    }
    count += told.count;
    println!("{kills} kills, {count} acknowledged steps, none lost");
    assert!(kills * 5 < count, "only {count} steps were acknowledged");
}

fn kill_one(state: &Path, life: usize, told: &mut Acknowledged) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "stored::crash::a_crash_loses_nothing_that_was_acknowledged", "--nocapture"])
        .env(CHILD, format!("{}|{life}", state.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // A different moment in each life: sometimes before the first step, and never at one place of the work.
    for line in lines.by_ref().take(life * 7919 % 150) {
        told.hear(&line);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    lines.for_each(|line| told.hear(&line));
}
