//! Tests of a real state directory: its owner, and the users who may access it.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::Path,
};

use bestow::{
    Engine, Error, InitialGrants, Kind, Permission, Settings,
    decision::{Check, Refusal},
    grant::PermissionRef,
    journal::{Journal, JournalError, audit},
    policy::OpenError,
};

use crate::{
    fs::process::as_ordinary_user,
    support::{id, profile, settle},
};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn an_engine_goes_on_where_the_one_before_ended() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    let ann =
        engine.register(profile("ann", "you", Kind::Cron), InitialGrants::of([Permission::Network])).await.unwrap();
    assert_eq!(ann.check(PermissionRef::Network), Check::Held);
    engine.shutdown().await;
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    assert_eq!(engine.check(&id("ann"), PermissionRef::Network), Check::Held);
}

/// The attack on availability: the end of an engine removed the socket of the engine that came after it.
#[tokio::test]
async fn a_later_engine_keeps_its_socket_when_an_earlier_one_ends() {
    let directory = tempfile::tempdir().unwrap();
    let (state, socket) = (directory.path().join("state"), directory.path().join("state/control"));
    for is_replaced in [false, true] {
        let engine = Engine::durable(Settings::default(), &state).await.unwrap();
        // The earlier engine still holds its socket, as a later one finds it if the tasks of the earlier one end late.
        let later = is_replaced.then(|| {
            fs::remove_file(&socket).unwrap();
            UnixListener::bind(&socket).unwrap()
        });
        engine.shutdown().await;
        settle().await;
        assert_eq!(fs::symlink_metadata(&socket).is_ok(), later.is_some(), "an engine removes its own socket only");
    }
}

/// The attack: a user who can rename the directory replaces it with an older copy, or removes all permanent denials.
#[tokio::test]
async fn a_directory_that_others_may_put_another_in_the_place_of_is_used_by_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (shared, state) = (place.path().join("shared"), place.path().join("shared/state"));
    fs::create_dir(&shared).unwrap();
    drop(Journal::open(&state).unwrap());
    let opens = |mode: u32, state: &Path| {
        fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).unwrap();
        let checked = bestow::journal::refuse_others(state).map_err(|why| why.to_string());
        let opened = Journal::open(state).map(drop).map_err(|why| why.to_string());
        assert_eq!(checked, opened);
        opened
    };
    for mode in [0o777, 0o770, 0o757] {
        let why = opens(mode, &state).unwrap_err();
        assert!(why.contains(&format!("chmod go-w {}", shared.display())), "{mode:o}: {why}");
    }
    // If users can rename only their own files there, the directory is as safe as its owner.
    for mode in [0o755, 0o1777] {
        assert_eq!(opens(mode, &state), Ok(()), "{mode:o}");
    }
    let (elsewhere, link) = (place.path().join("elsewhere"), shared.join("link"));
    drop(Journal::open(&elsewhere).unwrap());
    symlink(&elsewhere, &link).unwrap();
    assert!(opens(0o777, &link).is_err(), "the link could lead elsewhere");
    assert_eq!(opens(0o755, &link), Ok(()));
}

#[tokio::test]
async fn the_directory_and_what_is_in_it_are_for_their_owner_only() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    assert_eq!(mode(&state), 0o700);
    for entry in fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    engine.shutdown().await;
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    let told = Engine::durable(Settings::default(), &state).await.unwrap_err().to_string();
    assert!(told.contains("chmod go-w"), "{told}");
}

#[tokio::test]
async fn a_second_engine_is_told_who_has_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    let told = Engine::durable(Settings::default(), &state).await.unwrap_err();
    let pid = std::process::id();
    assert!(matches!(&told, OpenError::Journal(JournalError::InUse { pid: Some(holder), .. }) if *holder == pid));
    assert!(told.to_string().contains(&format!("in use by process {pid}: end that process first")), "{told}");
    engine.shutdown().await;
    Engine::durable(Settings::default(), &state).await.unwrap();
}

#[tokio::test]
async fn the_directory_is_free_when_the_last_handle_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    let ann = engine.register(profile("ann", "you", Kind::Cron), InitialGrants::nothing()).await.unwrap();
    drop(engine);
    drop(ann);
    // The journal's own thread may still be ending.
    let opened = (0..10_000).find_map(|_| Journal::open(&state).inspect_err(|_| std::thread::yield_now()).ok());
    assert!(opened.is_some());
}

/// The attack: an agent that may write everywhere gives itself permissions by writing the journal.
#[tokio::test]
async fn no_agent_reaches_the_state_directory() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    let all = Permission::write("/".parse().unwrap());
    let root = engine.register(profile("root", "you", Kind::Cron), InitialGrants::of([all])).await.unwrap();
    let journal = state.join(format!("journal-{:020}.jsonl", 1));
    let journal = journal.to_str().unwrap();
    assert_eq!(
        (root.check(PermissionRef::write(journal)), root.check(PermissionRef::read(journal))),
        (Check::NotHeld, Check::NotHeld)
    );
    assert!(root.fs().write(journal, "{}").await.is_err());
    let asked =
        root.request(bestow::PermissionRequest::new(Permission::read(journal.parse().unwrap()), "to see")).await;
    assert!(matches!(asked, Err(Error::Refused(Refusal::Protected(_)))), "{asked:?}");
}

#[cfg(feature = "config")]
#[tokio::test]
async fn a_policy_file_and_a_state_directory_go_together() {
    let directory = tempfile::tempdir().unwrap();
    let (file, state) = (directory.path().join("agents.toml"), directory.path().join("state"));
    let text = "agents.a = { kind = \"cron\", owner = \"you\", working_dir = \"/\", \
        permissions = [\"@network\", \"@read:/\"] }\n";
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let engine = Engine::open_durable(&file, &state).await.unwrap();
    let before = engine.grants().unwrap();
    assert_eq!(engine.check(&id("a"), PermissionRef::Network), Check::Held);
    let lock = state.join("LOCK");
    assert_eq!(engine.check(&id("a"), PermissionRef::read(lock.to_str().unwrap())), Check::NotHeld, "it is protected");
    engine.shutdown().await;
    let engine = Engine::open_durable(&file, &state).await.unwrap();
    assert_eq!(engine.grants().unwrap(), before, "the same lines are the same grants");
    engine.shutdown().await;
    // A permission that a person removed from the file while no engine ran is gone.
    fs::write(&file, text.replace("\"@network\", ", "")).unwrap();
    let engine = Engine::open_durable(&file, &state).await.unwrap();
    assert_eq!(engine.check(&id("a"), PermissionRef::Network), Check::NotHeld);
    assert_eq!(engine.check(&id("a"), PermissionRef::read(lock.to_str().unwrap())), Check::NotHeld);
    engine.shutdown().await;
    fs::write(&file, "agents = 1").unwrap();
    assert!(matches!(Engine::open_durable(&file, &state).await, Err(OpenError::Config(_))));
}

/// The attack: the lock file of a running engine is replaced by an older one. A second engine would open the directory,
/// and the first one would write over its records.
#[test]
fn a_directory_whose_lock_file_was_replaced_is_still_in_use() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    drop(Journal::open(&state).unwrap());
    let older = fs::read(state.join("LOCK")).unwrap();
    let first = Journal::open(&state).unwrap();
    fs::write(state.join("LOCK.older"), older).unwrap();
    fs::rename(state.join("LOCK.older"), state.join("LOCK")).unwrap();
    assert!(matches!(Journal::open(&state), Err(JournalError::InUse { .. })));
    drop(first);
    assert!(Journal::open(&state).is_ok());
}

/// The attack: `LOCK` is removed together with the newest records, which took something away. Nothing says then that
/// they are missing.
#[tokio::test]
async fn records_without_a_lock_file_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    let ann = engine.register(profile("ann", "you", Kind::Cron), InitialGrants::nothing()).await.unwrap();
    engine.shutdown().await;
    let (last, lock) = (audit::head(&state).unwrap().sequence, state.join("LOCK"));
    fs::remove_file(&lock).unwrap();
    for _ in 0..2 {
        let why = Journal::open(&state).unwrap_err();
        let told = why.to_string();
        assert!(matches!(why, JournalError::Missing { .. }) && told.contains("`LOCK`"), "{told}");
        assert!(told.contains(&format!("bestow audit cut --before {} --state", last + 1)), "{told}");
        assert!(!lock.exists(), "an attempt changes nothing");
    }
    assert!(matches!(audit::verify(&state, None), Err(JournalError::Missing { .. })));
    let cut = audit::cut(&state, last + 1).unwrap();
    assert_eq!((cut.kept, cut.again.len()), (last, 0));
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    assert!(engine.agent(ann.id()).is_ok(), "the way out keeps every record");
}

#[tokio::test]
async fn a_state_directory_may_be_named_by_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let (state, link) = (directory.path().join("state"), directory.path().join("link"));
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&state, &link).unwrap();
    let engine = Engine::durable(Settings::default(), &link).await.unwrap();
    engine.register(profile("a", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    // The link now names another directory.
    fs::remove_file(&link).unwrap();
    symlink(directory.path(), &link).unwrap();
    let told = engine.register(profile("b", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap_err();
    assert!(told.to_string().contains("were removed or moved"), "{told}");
}

/// The attack: a link replaces the journal, so that the engine writes to its target.
#[test]
fn links_are_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    drop(Journal::open(&state).unwrap());
    let name = state.join(format!("journal-{:020}.jsonl", 1));
    let victim = directory.path().join("victim");
    fs::write(&victim, "").unwrap();
    fs::remove_file(&name).unwrap();
    symlink(&victim, &name).unwrap();
    assert!(Journal::open(&state).is_err());
    fs::remove_file(&name).unwrap();
    fs::remove_file(state.join("LOCK")).unwrap();
    symlink(&victim, state.join("LOCK")).unwrap();
    assert!(Journal::open(&state).is_err());
    assert_eq!(fs::read(&victim).unwrap(), b"");
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    as_ordinary_user(|| {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
        let told = Journal::open(&state).unwrap_err().to_string();
        assert!(told.contains("LOCK") && told.contains("ermission denied"), "{told}");
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Journal::open(&file).is_err());
    });
}

#[tokio::test]
async fn a_state_directory_that_is_moved_under_an_engine_acknowledges_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (state, moved) = (place.path().join("state"), place.path().join("moved"));
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    let profile = crate::support::profile("ann", "you", bestow::Kind::Cron);
    let ann = engine.register(profile, bestow::InitialGrants::nothing()).await.unwrap();
    std::fs::rename(&state, &moved).unwrap();
    let second = Engine::durable(Settings::default(), &state).await.unwrap();
    let you = engine.approver("you", "ann", "test");
    let told = you.give(ann.id(), "@network", bestow::grant::Scope::Always, "why").await.unwrap_err().to_string();
    assert!(told.contains("were removed or moved while the engine used them"), "{told}");
    second.shutdown().await;
}

/// A child process has copies of all descriptors until it runs its program. A naive lock ends with the last of them,
/// and the directory is in use for a moment after the engine has ended.
#[cfg(target_os = "linux")]
#[test]
fn a_lock_ends_with_its_journal_though_a_child_has_a_copy_of_it() {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let journal = Journal::open(&state).unwrap();
    let us = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
    let names = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let place = directory.path().file_name().unwrap().to_str().unwrap().to_owned();
    let ends = [format!("/{place}/state"), format!("/{place}/state/LOCK")];
    let is_lock = |to: &str| ends.iter().any(|end| to.ends_with(end));
    let locks = names.filter(|name| fs::read_link(name).is_ok_and(|to| is_lock(&to.to_string_lossy())));
    let copies = locks.map(|name| {
        let number = name.file_name().unwrap().to_str().unwrap().parse().unwrap();
        pidfd_getfd(&us, number, PidfdGetfdFlags::empty()).unwrap()
    });
    let copies: Vec<_> = copies.collect();
    assert_eq!(copies.len(), 2, "the lock file and the directory");
    assert!(matches!(Journal::open(&state), Err(JournalError::InUse { .. })));
    drop(journal);
    Journal::open(&state).unwrap();
}
