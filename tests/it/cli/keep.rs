//! Tests that a permanent approval is written into the policy file: through the command, with an engine on the file and
//! without one.

use std::{fs, path::PathBuf, sync::Mutex, time::Duration};

use bestow::{
    Action, Engine, Outcome, Permission, PermissionRequest, PolicyFile, action::Authorization, control::Surfaces,
    decision::Check, event::NoEvent, grant::PermissionRef,
};

use super::{bestow, ended, started_for};
use crate::support::{id, tag, why};

const FILE: &str = "\
# ours
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.lead]       # talks
kind = \"foreground\"

[agents.night]
kind = \"cron\"
";

pub(super) struct Place {
    directory: tempfile::TempDir,
    surfaces: Mutex<Option<Surfaces>>,
}

impl Place {
    pub(super) fn new() -> Place {
        let place = Place { directory: tempfile::tempdir().unwrap(), surfaces: Mutex::default() };
        fs::write(place.file(), FILE).unwrap();
        fs::set_permissions(place.file(), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        place
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        #[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
        let real = self.directory.path().canonicalize().unwrap();
        real.join(name)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.path("agents.toml")
    }

    pub(super) fn content(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    pub(super) async fn engine(&self) -> Engine {
        let engine = Engine::open_durable(self.file(), self.path("state")).await.unwrap();
        *self.surfaces.lock().unwrap() = Some(engine.surfaces());
        engine
    }

    /// The surfaces that the engine on this file accepts as people.
    pub(super) fn surfaces(&self) -> Option<Surfaces> {
        self.surfaces.lock().unwrap().clone()
    }

    pub(super) fn run(&self, words: &[&str]) -> (String, String, i32) {
        let (state, file) = (self.path("state"), self.file());
        let places = ["--state", state.to_str().unwrap(), "--config", file.to_str().unwrap()];
        let places = if words[0] == "keep" || words.contains(&"--write") { &places[..] } else { &places[..2] };
        let all: Vec<_> = words.iter().chain(places).copied().collect();
        let output = ended(started_for(self.surfaces(), &all), b"");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap())
    }
}

pub(super) async fn asks_to(engine: &Engine, command: &str) -> bestow::request::Ticket {
    match engine.agent(id("lead")).unwrap().authorize(Action::command(command)).await.unwrap() {
        Authorization::Asked(_, ticket) => ticket,
        other => panic!("it is not asked: {other:?}"),
    }
}

/// Waits until the engine has applied a change of its file.
async fn taken_over(events: &mut bestow::event::Subscription) {
    loop {
        let next = tokio::time::timeout(Duration::from_secs(30), events.next()).await.unwrap();
        match next.map(|recorded| recorded.event) {
            Ok(bestow::Event::ConfigReloaded { .. }) => return,
            Ok(_) | Err(NoEvent::Missed(_)) => {}
            Err(ended) => panic!("{ended:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_command_says_yes_now_and_for_good_and_the_authority_stands_in_one_place() {
    let place = Place::new();
    let engine = place.engine().await;
    let mut events = engine.subscribe();
    let ticket = asks_to(&engine, "npm run build").await;
    let (out, complaint, code) = place.run(&["approve", &ticket.code().to_string(), "--write", "--as", "eve"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    assert!(out.contains("eve (cli") && out.contains("agents.toml:10"), "{out}");
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    assert!(place.content().contains("# eve (cli) approved this permanently at "), "{}", place.content());
    taken_over(&mut events).await;
    let lead = engine.agent(id("lead")).unwrap();
    for _ in 0..3 {
        assert!(lead.authorize(Action::command("npm run build")).await.unwrap().is_allowed());
    }
    let lasting = engine.rulings().unwrap().into_iter().filter(|ruling| ruling.scope != bestow::grant::Scope::Once);
    assert_eq!(lasting.count(), 0, "the engine keeps nothing for good besides the file");
    // Removing the rule from the file therefore revokes it.
    fs::write(place.file(), FILE).unwrap();
    taken_over(&mut events).await;
    let used_up = lead.authorize(Action::command("npm run build")).await.unwrap().is_allowed();
    assert!(!lead.authorize(Action::command("npm run build")).await.unwrap().is_allowed(), "{used_up}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_that_is_written_down_is_there_at_once_and_after_a_restart() {
    let place = Place::new();
    fs::create_dir(place.path("site")).unwrap();
    let engine = place.engine().await;
    let wanted: Permission = tag(&format!("@write:{}", place.path("site").display()));
    let lead = engine.agent(id("lead")).unwrap();
    let ticket = lead.request(PermissionRequest::new(wanted.clone(), why())).await.unwrap();
    let (_, complaint, code) = place.run(&["approve", &ticket.code().to_string(), "--write"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    assert_eq!(lead.check(PermissionRef::from(&wanted)), Check::Held);
    engine.shutdown().await;
    drop((lead, engine));
    let engine = place.engine().await;
    assert_eq!(engine.agent(id("lead")).unwrap().check(PermissionRef::from(&wanted)), Check::Held);
    assert_eq!(engine.grants().unwrap().len(), 1, "once: what was for the session ended with it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_written_is_not_answered_either() {
    let place = Place::new();
    let engine = place.engine().await;
    let ticket = asks_to(&engine, "npm test; npm run build").await;
    let code = ticket.code().to_string();
    let (_, complaint, ended) = place.run(&["approve", &code, "--write"]);
    assert_eq!((complaint.contains("no rule can match exactly this"), ended), (true, 1), "{complaint}");
    let simple = asks_to(&engine, "npm run build").await;
    fs::set_permissions(place.file(), std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    let (_, complaint, ended) = place.run(&["approve", &simple.code().to_string(), "--write"]);
    assert_eq!((complaint.contains("it is read-only"), ended), (true, 1), "{complaint}");
    let (_, complaint, ended) = place.run(&["approve", &code, "--write", "--scope", "once"]);
    assert_eq!((complaint.contains("`--write` is permanent"), ended), (true, 64), "{complaint}");
    let (_, complaint, ended) = place.run(&["approve", "zzzzzz", "--write"]);
    assert_eq!((complaint.contains("no pending request"), ended), (true, 3), "{complaint}");
    assert_eq!(engine.pending().unwrap().len(), 2, "both still wait");
    assert_eq!(place.content(), FILE);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_engine_keeps_for_good_is_listed_written_down_and_taken_back() {
    let place = Place::new();
    let engine = place.engine().await;
    let mut events = engine.subscribe();
    let ticket = asks_to(&engine, "npm run build").await;
    place.run(&["approve", &ticket.code().to_string(), "--scope", "always"]);
    let (out, _, _) = place.run(&["grants", "--agent", "lead"]);
    assert!(out.starts_with("r0 ") && out.contains("allowed lead every `npm run build`"), "{out}");
    let (out, complaint, code) = place.run(&["keep", "r0"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    assert!(
        out.contains("agents.toml:10")
            && out.contains(&format!("`bestow revoke r0 --state {}`, once", place.path("state").display())),
        "{out}"
    );
    taken_over(&mut events).await;
    let (out, complaint, code) = place.run(&["revoke", "r0"]);
    assert_eq!((out.as_str(), complaint.as_str(), code), ("r0 was revoked\n", "", 0));
    let lead = engine.agent(id("lead")).unwrap();
    assert!(lead.authorize(Action::command("npm run build")).await.unwrap().is_allowed(), "by the file");
    let (_, complaint, code) = place.run(&["keep", "r0"]);
    assert_eq!((complaint.contains("r0 does not exist"), code), (true, 3), "{complaint}");
    let (_, complaint, code) = place.run(&["revoke", "x1"]);
    assert_eq!((complaint.contains("name a grant (`g4`) or a saved decision (`r2`)"), code), (true, 64), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_engine_does_not_follow_is_left_alone() {
    let place = Place::new();
    let engine = place.engine().await;
    let ticket = asks_to(&engine, "npm run build").await;
    let (code, other) = (ticket.code().to_string(), place.path("other.toml"));
    fs::write(&other, FILE).unwrap();
    fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let state = place.path("state");
    let to = |file: &std::path::Path, words: &[&str]| {
        let places = ["--state", state.to_str().unwrap(), "--config", file.to_str().unwrap()];
        let output = ended(started_for(place.surfaces(), &[words, &places].concat()), b"");
        (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
    };
    let (complaint, ended) = to(&other, &["approve", &code, "--write"]);
    let way_out = format!("`--config {}`", place.file().display());
    assert_eq!((complaint.contains(&way_out), ended), (true, 1), "{complaint}");
    assert_eq!(engine.pending().unwrap().len(), 1, "it is not answered either");
    place.run(&["approve", &code, "--scope", "always"]);
    let (complaint, ended) = to(&other, &["keep", "r0"]);
    assert_eq!((complaint.contains(&way_out), ended), (true, 1), "{complaint}");
    assert_eq!(fs::read_to_string(&other).unwrap(), FILE);
    // Another path to this file is accepted, also while no engine runs.
    engine.shutdown().await;
    std::os::unix::fs::symlink(place.file(), place.path("link.toml")).unwrap();
    let (complaint, ended) = to(&place.path("link.toml"), &["keep", "r0"]);
    assert_eq!((complaint.as_str(), ended), ("", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_that_is_written_down_while_no_engine_runs_is_there_when_one_does() {
    let place = Place::new();
    fs::create_dir(place.path("site")).unwrap();
    let wanted: Permission = tag(&format!("@write:{}", place.path("site").display()));
    let engine = place.engine().await;
    let ticket =
        engine.agent(id("lead")).unwrap().request(PermissionRequest::new(wanted.clone(), why())).await.unwrap();
    engine.shutdown().await;
    let (_, complaint, code) = place.run(&["approve", &ticket.code().to_string(), "--write"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    let engine = place.engine().await;
    assert_eq!(engine.agent(id("lead")).unwrap().check(PermissionRef::from(&wanted)), Check::Held);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_held_back_is_listed_and_agreed_to_with_and_without_an_engine() {
    let place = Place::new();
    fs::create_dir(place.path("site")).unwrap();
    let confirming = FILE.replace("[defaults]", "[engine]\nconfirm_widening = true\n\n[defaults]");
    fs::write(place.file(), &confirming).unwrap();
    let wanted: Permission = tag(&format!("@write:{}", place.path("site").display()));
    let engine = place.engine().await;
    let mut events = engine.subscribe();
    let lead = engine.agent(id("lead")).unwrap();
    // The approval for now takes effect at once. The line for a permanent approval is held back.
    let ticket = lead.request(PermissionRequest::new(wanted.clone(), why())).await.unwrap();
    let (out, _, _) = place.run(&["approve", &ticket.code().to_string(), "--write"]);
    assert!(out.contains("`confirm_widening`"), "{out}");
    let number = held_back(&mut events).await;
    let (out, _, _) = place.run(&["requests"]);
    let line = out.lines().find(|line| line.contains("waits for the approval")).unwrap();
    assert!(line.contains(&place.path("site").display().to_string()), "{line}");
    let way_out = format!("; approve it with `bestow agree {number} --state {}`", place.path("state").display());
    assert!(line.ends_with(&way_out), "{line}");
    let (out, _, _) = place.run(&["audit", "show", "--agent", "lead"]);
    let line = out.lines().find(|line| line.contains("waits for the approval")).unwrap();
    assert!(line.contains(&place.path("site").display().to_string()), "{line}");
    let (_, complaint, code) = place.run(&["agree", "99"]);
    assert_eq!(
        (complaint.contains(&format!("change {number} of the policy file waits for an approval")), code),
        (true, 3),
        "{complaint}"
    );

    engine.shutdown().await;
    drop((lead, engine));
    let (out, complaint, code) = place.run(&["agree", &number.to_string(), "--as", "eve"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    assert_eq!(out, format!("change {number} took effect, approved by eve\n"));
    let (out, _, _) = place.run(&["audit", "show"]);
    assert!(out.contains("the policy file took effect, approved by eve (cli, name claimed by uid "), "{out}");
    let (_, complaint, code) = place.run(&["agree", &number.to_string()]);
    assert_eq!((complaint.contains("no change of the policy file waits"), code), (true, 3), "{complaint}");
    let engine = place.engine().await;
    assert_eq!(engine.agent(id("lead")).unwrap().check(PermissionRef::from(&wanted)), Check::Held);
    assert_eq!(engine.held_change().unwrap(), None);
}

/// Waits until a change is held back, and returns its number.
async fn held_back(events: &mut bestow::event::Subscription) -> u64 {
    loop {
        let next = tokio::time::timeout(Duration::from_secs(30), events.next()).await.unwrap();
        match next.map(|recorded| recorded.event) {
            Ok(bestow::Event::ConfigHeldBack { change, .. }) => return change,
            Ok(_) | Err(NoEvent::Missed(_)) => {}
            Err(ended) => panic!("{ended:?}"),
        }
    }
}

/// The attack: a command of an agent answers the agent's own request, or writes the policy file.
#[tokio::test(flavor = "multi_thread")]
async fn a_confined_command_can_neither_answer_nor_write_the_file() {
    let place = Place::new();
    fs::create_dir(place.path("work")).unwrap();
    let engine = place.engine().await;
    let ticket = asks_to(&engine, "npm run build").await;
    let whole = FILE.replace(
        "[agents.lead]       # talks\n",
        &format!(
            "[agents.lead]\npermissions = [\"@write:{0}\", \"@events\"]\nworking_dir = \"{0}\"\n",
            place.path("work").display()
        ),
    );
    let other = place.path("other.toml");
    fs::write(&other, whole).unwrap();
    fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let attack = format!(
        "{0} approve {1} --write --state {2} --config {3}; {0} approve {1} --state {2}; echo x >> {3}; true",
        crate::support::BESTOW,
        ticket.code(),
        place.path("state").display(),
        place.file().display(),
    );
    let words = [
        "exec",
        "--agent",
        "lead",
        "--config",
        other.to_str().unwrap(),
        "--grant",
        "@events",
        "--",
        "sh",
        "-c",
        &attack,
    ];
    let output = bestow(&words, b"");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("not a state directory") || said.contains("cannot be reached") || said.contains("denied"),
        "{said}"
    );
    assert_eq!((engine.pending().unwrap().len(), place.content().as_str()), (1, FILE), "{said}");
    assert!(PolicyFile::new(place.file()).load().is_ok());
}
