//! Tests of permissions for paths on a real disk, while an attacker replaces the files.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
};

use bestow::{
    Action, Agent, Answer, Engine, Error, InitialGrants, Kind, PermissionRequest,
    decision::{Check, Refusal},
    event::Timestamp,
    grant::{Access, Scope},
    host::DiskPaths,
};
use tempfile::TempDir;

use crate::support::{ScriptedClock, check, profile, refusal, settings, tag, why};

/// A temporary directory with `ws` (lead may write it) and `secret` (no agent may write it).
struct Disk {
    engine: Engine,
    lead: Agent,
    root: PathBuf,
    _dir: TempDir,
}

impl Disk {
    async fn new() -> Disk {
        let dir = tempfile::tempdir().unwrap();
        let root = bestow::fs::real(dir.path().to_str().unwrap()).unwrap().path().as_path().to_owned();
        fs::create_dir_all(root.join("ws/d")).unwrap();
        fs::create_dir_all(root.join("secret")).unwrap();
        fs::write(root.join("secret/key"), "secret").unwrap();
        let clock = ScriptedClock::new([Some(1_000)]);
        let engine = Engine::on(settings(|_| {}), clock, Arc::new(DiskPaths)).unwrap();
        let holding = InitialGrants::of([tag(&format!("@write:{}", root.join("ws").display()))]);
        let lead = engine.register(profile("lead", "you", Kind::Foreground), holding).await.unwrap();
        Disk { engine, lead, root, _dir: dir }
    }

    async fn worker(&self) -> Agent {
        self.engine.register(profile("worker", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap()
    }

    fn you(&self) -> bestow::Approver {
        self.engine.approver("you", "ann", "terminal")
    }

    fn path(&self, below: &str) -> String {
        self.root.join(below).to_str().unwrap().to_owned()
    }

    fn write(&self, below: &str) -> bestow::Permission {
        tag(&format!("@write:{}", self.path(below)))
    }

    fn read(&self, below: &str) -> bestow::Permission {
        tag(&format!("@read:{}", self.path(below)))
    }

    /// Replaces the directory `below` with a link to `target`.
    fn swap_for_link(&self, below: &str, target: &str) {
        fs::rename(self.root.join(below), self.root.join(format!("{below}.old"))).unwrap();
        symlink(self.root.join(target), self.root.join(below)).unwrap();
    }
}

/// Writes as weakness W-1 did: if the granted text is a prefix of the path, it opens the path.
fn naive_write(granted: &str, path: &str) -> bool {
    Path::new(path).starts_with(granted) && fs::OpenOptions::new().append(true).open(path).is_ok()
}

#[tokio::test]
async fn the_swapped_directory_opens_nothing() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    disk.lead.grant(worker.id(), disk.write("ws/d"), why()).await.unwrap();
    assert!(worker.resolve(Access::Write, &disk.path("ws/d/key")).await.is_ok());

    disk.swap_for_link("ws/d", "secret");
    assert!(naive_write(&disk.path("ws/d"), &disk.path("ws/d/key")), "the exploit works on a check of texts");

    let key = refusal(worker.resolve(Access::Write, &disk.path("ws/d/key")).await);
    assert_eq!(key, Refusal::NotHeld { agent: worker.id().clone(), permission: disk.write("secret/key") });
    assert!(worker.resolve(Access::Read, &disk.path("ws/d/key")).await.is_err());
    assert!(disk.lead.resolve(Access::Write, &disk.path("ws/d/key")).await.is_err(), "nor the one who did it");
    assert!(worker.spend(&disk.write("ws/d/key")).await.is_err());
    assert!(worker.exec_scope(&[disk.write("ws/d")]).is_err());
    // An agent or a person cannot grant it under the name that now leads elsewhere either.
    let passed = disk.lead.grant(worker.id(), disk.write("ws/d"), why()).await;
    assert_eq!(refusal(passed), Refusal::NotHeld { agent: disk.lead.id().clone(), permission: disk.write("secret") });
}

#[tokio::test]
async fn a_question_shows_where_a_link_really_leads() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    symlink(disk.root.join("secret"), disk.root.join("ws/notes")).unwrap();
    let ticket = worker.request(PermissionRequest::new(disk.write("ws/notes"), why())).await.unwrap();
    let shown = disk.engine.pending().unwrap()[0].request.to_string();
    assert!(shown.contains(&disk.path("secret")) && !shown.contains("ws/notes"), "{shown}");
    disk.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert!(
        worker.resolve(Access::Write, &disk.path("secret/key")).await.is_ok(),
        "that is what the person said yes to"
    );
}

#[tokio::test]
async fn what_is_swapped_between_the_question_and_the_answer_is_not_what_was_allowed() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    let ticket = worker.request(PermissionRequest::new(disk.write("ws/d"), why())).await.unwrap();
    disk.swap_for_link("ws/d", "secret");
    disk.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert!(worker.resolve(Access::Write, &disk.path("ws/d/key")).await.is_err());
    assert!(worker.resolve(Access::Write, &disk.path("secret/key")).await.is_err());

    let ticket = worker.request(PermissionRequest::new(disk.write("ws/d.old"), why())).await.unwrap();
    fs::rename(disk.root.join("ws/d.old"), disk.root.join("ws/away")).unwrap();
    fs::rename(disk.root.join("secret"), disk.root.join("ws/d.old")).unwrap();
    disk.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    let replaced = worker.resolve(Access::Write, &disk.path("ws/d.old/key")).await;
    assert!(matches!(replaced, Err(Error::Replaced { .. })), "{replaced:?}");
}

#[tokio::test]
async fn a_directory_that_was_deleted_and_made_again_is_another_one() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    disk.lead.grant(worker.id(), disk.write("ws/d"), why()).await.unwrap();
    // The new directory is created before the old one is removed, so that the two inodes cannot be equal by chance.
    fs::create_dir(disk.root.join("ws/new")).unwrap();
    fs::remove_dir(disk.root.join("ws/d")).unwrap();
    fs::rename(disk.root.join("ws/new"), disk.root.join("ws/d")).unwrap();
    let replaced = worker.resolve(Access::Write, &disk.path("ws/d/f")).await;
    assert!(matches!(replaced, Err(Error::Replaced { .. })), "{replaced:?}");
    let scope = worker.exec_scope(&[disk.write("ws/d")]);
    assert!(matches!(scope, Err(Error::Replaced { .. })), "{scope:?}");
    let kid = profile("kid", "you", Kind::Subagent);
    assert!(matches!(refusal(worker.create(kid, &[disk.write("ws/d/e")], why()).await), Refusal::NotHeld { .. }));
    assert!(worker.spend(&disk.write("ws/d/f")).await.is_err());
    assert!(disk.lead.resolve(Access::Write, &disk.path("ws/d/f")).await.is_ok(), "the whole is what it was");
}

/// Somebody who sees the permission in the policy file would search for another reason.
#[tokio::test]
async fn a_question_about_a_replaced_object_says_so() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    fs::write(disk.root.join("ws/notes"), "old").unwrap();
    disk.lead.grant(worker.id(), disk.write("ws/notes"), why()).await.unwrap();
    let reason = |worker: &Agent| {
        worker.explain(&Action::write(&disk.path("ws/notes"))).unwrap().decision.full_reason().to_string()
    };
    assert!(!reason(&worker).contains("replaced"), "{}", reason(&worker));
    fs::write(disk.root.join("ws/new"), "new").unwrap();
    fs::rename(disk.root.join("ws/new"), disk.root.join("ws/notes")).unwrap();
    let told = reason(&worker);
    assert!(told.contains("does not hold write access to") && told.contains("has been replaced"), "{told}");
    fs::remove_file(disk.root.join("ws/notes")).unwrap();
    let other = worker.explain(&Action::write(&disk.path("ws/d/x"))).unwrap().decision.full_reason().to_string();
    assert!(!other.contains("replaced"), "{other}");
}

#[tokio::test]
async fn a_directory_that_was_moved_into_place_is_another_one() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    disk.lead.grant(worker.id(), disk.read("ws/d"), why()).await.unwrap();
    fs::rename(disk.root.join("ws/d"), disk.root.join("ws/away")).unwrap();
    fs::rename(disk.root.join("secret"), disk.root.join("ws/d")).unwrap();
    let replaced = worker.resolve(Access::Read, &disk.path("ws/d/key")).await;
    assert!(matches!(replaced, Err(Error::Replaced { .. })), "{replaced:?}");
    fs::rename(disk.root.join("ws/d"), disk.root.join("secret")).unwrap();
    fs::rename(disk.root.join("ws/away"), disk.root.join("ws/d")).unwrap();
    assert!(worker.resolve(Access::Read, &disk.path("ws/d")).await.is_ok(), "back in its place it is itself");
}

#[tokio::test]
async fn what_was_replaced_can_be_asked_for_again() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    disk.lead.grant(worker.id(), disk.write("ws/d"), why()).await.unwrap();
    fs::rename(disk.root.join("ws/d"), disk.root.join("ws/away")).unwrap();
    fs::create_dir(disk.root.join("ws/d")).unwrap();
    let ticket = worker.request(PermissionRequest::new(disk.write("ws/d"), why())).await.unwrap();
    assert_eq!(ticket.poll(), None, "it is not held");
    // Another permission that the agent receives meanwhile does not revive the old one.
    disk.you().give(worker.id(), tag("@network"), Scope::Always, why()).await.unwrap();
    assert_eq!(ticket.poll(), None, "still not");
    disk.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert!(worker.resolve(Access::Write, &disk.path("ws/d/f")).await.is_ok());
}

#[tokio::test]
async fn what_does_not_exist_yet_can_be_given_and_a_link_put_there_leads_nowhere() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    disk.lead.grant(worker.id(), disk.write("ws/later/on"), why()).await.unwrap();
    assert!(worker.resolve(Access::Write, &disk.path("ws/later/on/f")).await.is_ok());
    fs::create_dir_all(disk.root.join("ws/later/on")).unwrap();
    assert!(worker.resolve(Access::Write, &disk.path("ws/later/on/f")).await.is_ok());
    fs::remove_dir(disk.root.join("ws/later/on")).unwrap();
    symlink(disk.root.join("secret"), disk.root.join("ws/later/on")).unwrap();
    assert!(worker.resolve(Access::Write, &disk.path("ws/later/on/key")).await.is_err());
}

#[tokio::test]
async fn what_is_resolved_opens_and_nothing_put_there_afterwards() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    disk.lead.grant(worker.id(), disk.write("ws/d"), why()).await.unwrap();
    fs::write(disk.root.join("ws/d/key"), "mine").unwrap();
    let resolved = worker.resolve(Access::Read, &disk.path("ws/d/key")).await.unwrap();
    disk.swap_for_link("ws/d", "secret");
    let text = resolved.open().map(|file| std::io::read_to_string(file).unwrap());
    assert_ne!(text.ok().as_deref(), Some("secret"));
}

/// The exploit: a path that was resolved for reading is used for writing, and a file of an exact grant is replaced
/// before it is opened.
#[tokio::test]
async fn what_was_found_for_one_thing_opens_that_and_in_that_way() {
    use std::io::Write;
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    fs::write(disk.root.join("ws/d/key"), "mine").unwrap();
    disk.lead.grant(worker.id(), disk.read("ws/d"), why()).await.unwrap();
    let found = worker.resolve(Access::Read, &disk.path("ws/d/key")).await.unwrap();
    assert!(found.open().unwrap().write_all(b"gone").is_err(), "reading does not write");
    assert_eq!(fs::read_to_string(disk.root.join("ws/d/key")).unwrap(), "mine");

    disk.lead.grant(worker.id(), disk.write("ws/d/key"), why()).await.unwrap();
    let found = worker.resolve(Access::Write, &disk.path("ws/d/key")).await.unwrap();
    fs::write(disk.root.join("ws/d/other"), "another").unwrap();
    fs::rename(disk.root.join("ws/d/other"), disk.root.join("ws/d/key")).unwrap();
    // The write reaches the granted object, which is no longer visible, or nothing.
    if let Ok(mut file) = found.open() {
        file.write_all(b"written").unwrap();
    }
    assert_eq!(fs::read_to_string(disk.root.join("ws/d/key")).unwrap(), "another");
}

#[tokio::test]
async fn a_one_shot_permission_opens_once() {
    let disk = Disk::new().await;
    let worker = disk.worker().await;
    disk.you().give(worker.id(), disk.write("ws/d"), Scope::Once, why()).await.unwrap();
    assert_eq!(worker.check(&disk.write("ws/d/f")), Check::HeldOnce);
    assert!(worker.resolve(Access::Write, &disk.path("ws/d/f")).await.is_ok());
    assert!(matches!(refusal(worker.resolve(Access::Write, &disk.path("ws/d/f")).await), Refusal::NotHeld { .. }));
}

/// The check happens at the last valid moment, and then the permission expires.
#[tokio::test]
async fn a_permission_whose_moment_has_come_opens_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = bestow::fs::real(dir.path().to_str().unwrap()).unwrap().path().to_string();
    let clock = ScriptedClock::new([Some(1_000)]);
    let engine = Engine::on(settings(|_| {}), clock.clone(), Arc::new(DiskPaths)).unwrap();
    let ann = engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let you = engine.approver("you", "ann", "terminal");
    let until = Scope::Until(Timestamp::from_millis(2_000));
    you.give(ann.id(), tag(&format!("@write:{root}")), until, why()).await.unwrap();
    clock.set([Some(2_000)]);
    assert!(matches!(refusal(ann.resolve(Access::Write, &format!("{root}/f")).await), Refusal::NotHeld { .. }));
}

#[tokio::test]
async fn a_file_replaced_below_an_exact_line_is_not_reached_through_a_broad_one() {
    let disk = Disk::new().await;
    let protect = settings(|settings| settings.protected = [disk.path("secret").parse().unwrap()].into());
    let broad = format!("@read:{}", disk.root.display());
    let mut file = crate::support::policy(protect, &[("cfg", "you", &[&broad, &disk.read("secret/key").to_string()])]);
    let exact = &mut file.agents.get_mut(&crate::support::id("cfg")).unwrap().permissions[1];
    exact.pinned.identity = bestow::fs::real(&disk.path("secret/key")).unwrap().identity();
    disk.engine.configure(file).await.unwrap();
    let cfg = disk.engine.agent("cfg").unwrap();
    assert!(cfg.resolve(Access::Read, &disk.path("secret/key")).await.is_ok());
    fs::write(disk.root.join("secret/other"), "another secret").unwrap();
    fs::rename(disk.root.join("secret/other"), disk.root.join("secret/key")).unwrap();
    let replaced = cfg.resolve(Access::Read, &disk.path("secret/key")).await;
    assert!(matches!(replaced, Err(Error::Replaced { .. })), "{replaced:?}");
    assert_eq!(check(&cfg, &broad), Check::Held);
}
