//! Tests of a state directory from the command line: with an engine on it, and without one.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use bestow::{
    Engine, InitialGrants, Kind, Outcome, Permission, PermissionRequest, Settings,
    control::Surfaces,
    decision::Check,
    grant::{PermissionRef, Scope},
};

use super::{assert_in_camel_case, ended, started_for};
use crate::support::{id, profile, tag, why};

struct Place {
    _directory: tempfile::TempDir,
    state: PathBuf,
    surfaces: Mutex<Option<Surfaces>>,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        Place { _directory: directory, state, surfaces: Mutex::default() }
    }

    async fn engine(&self) -> Engine {
        let engine = Engine::durable(Settings::default(), &self.state).await.unwrap();
        *self.surfaces.lock().unwrap() = Some(engine.surfaces());
        engine
    }

    /// Returns the standard output, the standard error and the exit code.
    fn run(&self, words: &[&str]) -> (String, String, i32) {
        run_for(self.surfaces.lock().unwrap().clone(), &self.state, words)
    }
}

fn run_for(surfaces: Option<Surfaces>, state: &Path, words: &[&str]) -> (String, String, i32) {
    let all: Vec<_> = words.iter().copied().chain(["--state", state.to_str().unwrap()]).collect();
    let output = ended(started_for(surfaces, &all), b"");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

async fn peopled(place: &Place) -> Engine {
    let engine = place.engine().await;
    let ann =
        engine.register(profile("ann", "you", Kind::Cron), InitialGrants::of([Permission::Network])).await.unwrap();
    let bob = engine.register(profile("bob", "you", Kind::Cron), InitialGrants::nothing()).await.unwrap();
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    engine
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_engine_is_asked_and_told() {
    let place = Place::new();
    let engine = peopled(&place).await;
    let bob = engine.agent(id("bob")).unwrap();
    let (out, _, code) = place.run(&["grants", "--agent", "bob"]);
    assert_eq!((out.as_str(), code), ("g2 bob holds network access, given by ann: because it must\n", 0));
    let (out, _, _) = place.run(&["why", "bob", "@network"]);
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(out.ends_with("g1 ann holds network access, given by the host program\n"), "{out}");

    let ticket = bob.request(PermissionRequest::new(tag("@write:/ws"), why())).await.unwrap();
    let code = ticket.code().to_string();
    let (out, _, _) = place.run(&["requests"]);
    assert!(out.starts_with(&format!("[{code}] bob (cron) asks for write access to \"/ws\"")), "{out}");
    let (out, complaint, ended) = place.run(&["approve", &code.to_uppercase(), "--scope", "always", "--as", "eve"]);
    assert_eq!((out.contains("eve (cli"), complaint.as_str(), ended), (true, "", 0), "{out}");
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    assert_eq!(bob.check(PermissionRef::write("/ws/a")), Check::Held);
    let (_, complaint, ended) = place.run(&["deny", &ticket.id().to_string()]);
    assert_eq!((complaint.contains("has already ended"), ended), (true, 3), "{complaint}");
    let (_, complaint, ended) = place.run(&["deny", "zzzzzz"]);
    assert_eq!((complaint.contains("no pending request has the code"), ended), (true, 3), "{complaint}");
    let (_, complaint, ended) = place.run(&["approve", &code]);
    assert_eq!(
        (complaint.contains("has already ended: ") && complaint.contains("eve"), ended),
        (true, 3),
        "{complaint}"
    );
    let (out, _, _) = place.run(&["grants", "--agent", "bob"]);
    assert!(out.contains("approved by eve (cli, name claimed by uid "), "{out}");

    let asked = bob.request(PermissionRequest::new(tag("@events"), why())).await.unwrap();
    let (_, complaint, ended) = place.run(&["deny", &asked.code().to_string(), "--scope", "always"]);
    assert_eq!((complaint.contains("a denial of a permission has no scope"), ended), (true, 3), "{complaint}");
    assert!(asked.poll().is_none(), "and nothing is lost");
    let (_, _, ended) = place.run(&["deny", &asked.code().to_string(), "--feedback", "not today"]);
    assert_eq!(ended, 0);
    assert_eq!(asked.resolution().await.feedback.as_ref().unwrap().as_str(), "not today");

    let (_, _, ended) = place.run(&["revoke", "g1", "--reason", "enough"]);
    assert_eq!((ended, bob.check(PermissionRef::Network)), (0, Check::NotHeld), "and what hung on it");
    let (_, complaint, ended) = place.run(&["revoke", "g1"]);
    assert_eq!((complaint.contains("grant g1 does not exist"), ended), (true, 3), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_without_an_engine_is_read_and_changed_by_itself() {
    let place = Place::new();
    let engine = peopled(&place).await;
    let bob = engine.agent(id("bob")).unwrap();
    let ticket = bob.request(PermissionRequest::new(tag("@write:/ws"), why()).at_most(Scope::Always)).await.unwrap();
    engine.shutdown().await;
    let journal = place.state.join(format!("journal-{:020}.jsonl", 1));
    let before = std::fs::read(&journal).unwrap();
    let (out, _, code) = place.run(&["grants", "--json"]);
    assert_eq!((out.lines().count(), code), (2, 0), "{out}");
    for line in out.lines() {
        let grant: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(grant["id"].is_string());
        assert_in_camel_case(&grant);
    }
    let (out, _, _) = place.run(&["requests"]);
    assert!(out.contains(&ticket.code().to_string()), "{out}");
    let (_, complaint, code) = place.run(&["why", "bob", "@events"]);
    assert_eq!((complaint.contains("does not hold"), code), (true, 3), "{complaint}");
    assert_eq!(std::fs::read(&journal).unwrap(), before, "who only looks writes nothing");

    let (_, complaint, code) = place.run(&["approve", &ticket.code().to_string()]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    place.run(&["revoke", "g1"]);
    let engine = place.engine().await;
    let bob = engine.agent(id("bob")).unwrap();
    assert_eq!(
        (bob.check(PermissionRef::write("/ws")), bob.check(PermissionRef::Network)),
        (Check::Held, Check::NotHeld)
    );
    assert_eq!(bob.ticket(ticket.id()).unwrap().poll().unwrap().outcome, Outcome::Granted);
}

/// Each command starts an engine for a moment. The others wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn eight_approvals_at_once_without_an_engine_all_count() {
    let place = Place::new();
    let engine = peopled(&place).await;
    let bob = engine.agent(id("bob")).unwrap();
    let mut tickets = Vec::new();
    for number in 0..8 {
        let wanted = tag(&format!("@write:/ws/{number}"));
        tickets.push(bob.request(PermissionRequest::new(wanted, why()).at_most(Scope::Always)).await.unwrap());
    }
    engine.shutdown().await;
    std::thread::scope(|threads| {
        let approve = |ticket: &bestow::request::Ticket| {
            let code = ticket.code().to_string();
            threads.spawn(|| place.run(&["approve", &{ code }]))
        };
        let running: Vec<_> = tickets.iter().map(approve).collect();
        for run in running {
            let (_, complaint, code) = run.join().unwrap();
            assert_eq!((complaint.as_str(), code), ("", 0));
        }
    });
    let engine = place.engine().await;
    let bob = engine.agent(id("bob")).unwrap();
    for number in 0..8 {
        assert_eq!(bob.check(PermissionRef::write(&format!("/ws/{number}"))), Check::Held);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trail_is_shown_verified_and_its_head_noted_down() {
    let place = Place::new();
    peopled(&place).await.shutdown().await;
    let (out, _, code) = place.run(&["audit", "show", "--agent", "bob"]);
    assert_eq!((out.lines().count(), code), (2, 0), "{out}");
    let (out, _, _) = place.run(&["audit", "show", "--grant", "g1", "--json"]);
    let record: serde_json::Value = serde_json::from_str(out.trim_end()).unwrap();
    assert_eq!((&record["type"], &record["means"]), (&"grant.issued".into(), &"program".into()));
    assert_in_camel_case(&record);
    let (head, _, _) = place.run(&["audit", "head"]);
    let (out, _, code) = place.run(&["audit", "verify", "--expect", head.trim()]);
    assert_eq!((out.contains("follow from one another"), code), (true, 0), "{out}");

    let journal = place.state.join(format!("journal-{:020}.jsonl", 1));
    let text = std::fs::read_to_string(&journal).unwrap();
    let last = text.lines().count();
    for none in ["0", &(last + 1).to_string(), "999"] {
        let (out, complaint, code) = place.run(&["audit", "cut", "--before", none]);
        let told = complaint.contains(&format!("has no event {none}: it has events 1 to {last}"));
        assert_eq!((out.as_str(), told, code), ("", true, 1), "{complaint}");
    }
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), text, "nothing was set aside");
    std::fs::write(&journal, text.replacen("because it must", "because it may", 1)).unwrap();
    let (_, complaint, code) = place.run(&["audit", "verify"]);
    assert_eq!((complaint.contains("line 5, event 5: it was altered"), code), (true, 1), "{complaint}");
    let (_, complaint, code) = place.run(&["grants"]);
    assert_eq!((complaint.contains("is damaged at line 5"), code), (true, 1), "{complaint}");
    let way_out = format!("`bestow audit cut --before 5 --state {}`", place.state.display());
    assert!(complaint.contains(&way_out), "{complaint}");
    let (out, _, code) = place.run(&["audit", "cut", "--before", "5"]);
    assert_eq!((out.contains("the records after event 4 are set aside"), code), (true, 0), "{out}");
    let (_, _, code) = place.run(&["audit", "verify"]);
    assert_eq!(code, 0);
    let (_, _, code) = place.run(&["audit", "verify", "--expect", head.trim()]);
    assert_eq!(code, 1, "but it is not what it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_would_be_over_at_once_is_not_taken_while_no_engine_runs() {
    let place = Place::new();
    let engine = peopled(&place).await;
    let bob = engine.agent(id("bob")).unwrap();
    let ticket = bob.request(PermissionRequest::new(tag("@write:/ws"), why())).await.unwrap();
    let short = bob.request(PermissionRequest::new(tag("@write:/tmp/x"), why()).at_most(Scope::Session)).await.unwrap();
    let code = ticket.code().to_string();
    engine.shutdown().await;
    for words in [&["approve", &code][..], &["approve", &code, "--scope", "session"]] {
        let (out, complaint, ended) = place.run(words);
        assert_eq!((out.as_str(), ended), ("", 3), "{complaint}");
        assert!(complaint.contains("`--scope always`") && complaint.contains("`--scope 'until TIME'`"), "{complaint}");
    }
    let (_, complaint, _) = place.run(&["approve", &short.code().to_string()]);
    assert!(complaint.contains("answer with `--scope once`, or") && !complaint.contains("always"), "{complaint}");
    let (out, _, _) = place.run(&["requests"]);
    assert_eq!(out.lines().count(), 2, "both go on waiting: {out}");
    let (_, complaint, ended) = place.run(&["approve", &code, "--scope", "always"]);
    assert_eq!((complaint.as_str(), ended), ("", 0));
    let engine = place.engine().await;
    assert_eq!(engine.agent(id("bob")).unwrap().check(PermissionRef::write("/ws")), Check::Held);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_or_a_head_that_was_mistyped_is_told_as_that() {
    let place = Place::new();
    peopled(&place).await.shutdown().await;
    for words in [["--agent", "nobody"], ["--request", "zzzzzz"], ["--grant", "g99"], ["--grant", "r9"]] {
        let (out, complaint, code) = place.run(&["audit", "show", words[0], words[1]]);
        assert_eq!((out.as_str(), code), ("", 1), "{words:?}");
        assert!(complaint.contains("no record of this trail has this name"), "{complaint}");
    }
    let (early, late) = ("2001-01-01T00:00:00Z", "2001-01-02T00:00:00Z");
    let (_, complaint, code) = place.run(&["audit", "show", "--since", late, "--until", early]);
    assert_eq!((complaint.contains("`--until` must be after `--since`"), code), (true, 64), "{complaint}");
    let (_, complaint, code) = place.run(&["audit", "show", "--agent", "bob", "--until", early]);
    assert_eq!((complaint.contains("no record of this trail matches"), code), (true, 0), "{complaint}");

    let (head, _, _) = place.run(&["audit", "head"]);
    let (number, hash) = head.trim().split_once(':').unwrap();
    let other = if hash.starts_with('0') { "1" } else { "0" };
    let mistyped = format!("{number}:{other}{}", &hash[1..]);
    let (_, complaint, code) = place.run(&["audit", "verify", "--expect", &mistyped]);
    assert_eq!(code, 1);
    assert!(complaint.contains("every record") && complaint.contains("compare this"), "{complaint}");
    assert!(!complaint.contains("damaged") && !complaint.contains("audit cut"), "nothing is to be cut: {complaint}");

    for words in [&["grants", "--agent", "nobody"][..], &["why", "nobody", "@network"]] {
        let (_, complaint, code) = place.run(words);
        assert_eq!((complaint.contains("agent `nobody` is not registered"), code), (true, 1), "{complaint}");
    }
    let (_, complaint, _) = place.run(&["why", "bob", "@events"]);
    assert!(complaint.contains("`permissions`") && !complaint.contains("request_permission"), "{complaint}");
}

#[test]
fn words_that_make_no_sense_are_named() {
    let place = Place::new();
    for (words, named) in [
        (&["grants", "--grant", "g1"][..], "`bestow grants` has no option `--grant`"),
        (&["audit", "show", "--since", "yesterday"], "a moment is written as in"),
        (&["audit", "what"], "`bestow audit` has no command `what`"),
        (&["approve"], "`<CODE>` is missing: The code of the request"),
        (&["why", "ann"], "`<PERMISSION>` is missing"),
        (&["why", "ann", "@admin"], "a permission is"),
        (&["revoke", "42"], "name a grant"),
        (&["agree"], "`<CHANGE>` is missing: The number of the change"),
        (&["agree", "it"], "`<CHANGE>`: `it` is not a whole number"),
        (&["audit", "verify", "--expect", "7"], "a head is"),
        (&["requests", "more"], "`bestow requests` does not take the word `more`"),
    ] {
        let (_, complaint, code) = place.run(words);
        assert_eq!((complaint.contains(named), code), (true, 64), "{words:?}: {complaint}");
    }
    // A missing directory and a directory of another kind are both refused. The latter stays unchanged.
    for made in [false, true] {
        if made {
            std::fs::create_dir(&place.state).unwrap();
        }
        for words in
            [&["grants"][..], &["revoke", "g1"], &["approve", "abcdef"], &["audit", "verify"], &["audit", "head"]]
        {
            let (out, complaint, code) = place.run(words);
            let named = complaint.contains("is not a state directory");
            assert_eq!((named, code, out.as_str()), (true, 1, ""), "{words:?}: {complaint}");
        }
    }
    assert_eq!(std::fs::read_dir(&place.state).unwrap().count(), 0);
}

/// The attack: another user has written an audit trail with invented content and valid hashes.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_directory_that_others_may_write_is_believed_by_nobody() {
    let place = Place::new();
    let engine = peopled(&place).await;
    let all: [&[&str]; 9] = [
        &["grants"],
        &["requests"],
        &["why", "bob", "@network"],
        &["revoke", "g1"],
        &["approve", "abcdef"],
        &["audit", "show"],
        &["audit", "verify"],
        &["audit", "head"],
        &["audit", "cut", "--before", "1"],
    ];
    let refused = |words: &[&str], why: &str| {
        let (out, complaint, code) = place.run(words);
        assert_eq!((out.as_str(), complaint.contains(why), code), ("", true, 1), "{words:?}: {complaint}");
    };
    let mode = |mode| std::fs::set_permissions(&place.state, std::os::unix::fs::PermissionsExt::from_mode(mode));
    for loose in [0o770, 0o707] {
        mode(loose).unwrap();
        all.iter().for_each(|words| refused(words, "`chmod go-w`"));
    }
    mode(0o700).unwrap();
    engine.shutdown().await;
    mode(0o720).unwrap();
    all.iter().for_each(|words| refused(words, "`chmod go-w`"));
    assert!(Engine::durable(Settings::default(), &place.state).await.is_err(), "an engine says the same");
    mode(0o700).unwrap();
    let somebody = 4242;
    // Only root can give a directory away, so only root meets this attack. Other users cannot read a directory of
    // another owner.
    if std::os::unix::fs::chown(&place.state, Some(somebody), None).is_ok() {
        all.iter().for_each(|words| refused(words, "`sudo -u '#4242'`"));
        assert!(Engine::durable(Settings::default(), &place.state).await.is_err(), "an engine says the same");
        std::os::unix::fs::chown(&place.state, Some(0), None).unwrap();
    }
    let (out, complaint, code) = place.run(&["audit", "verify"]);
    assert_eq!((out.contains("follow from one another"), complaint.as_str(), code), (true, "", 0));
}
