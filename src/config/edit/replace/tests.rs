//! Tests with another process that saves at every moment of a replacement.
#![cfg(target_os = "linux")]

use std::fs;

use super::*;
use crate::PolicyFile;

const OLD: &str = "[defaults]\nowner = \"you\"\n";

/// Returns a directory with a file, its content as read, and the file that is to replace it.
fn place() -> (tempfile::TempDir, PolicyText, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    fs::write(&file, OLD).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let text = PolicyFile::new(file).read().unwrap();
    let beside = beside(&text.ground.trail.real);
    fs::write(&beside, "ours").unwrap();
    (place, text, beside)
}

/// Saves like an editor.
fn save(real: &Path, content: &str) {
    let new = real.with_file_name("editor's");
    fs::write(&new, content).unwrap();
    fs::rename(new, real).unwrap();
}

#[test]
fn a_save_at_any_step_of_a_replacement_is_what_stays() {
    // The naive way, to exchange and to exchange back, loses a save after the first step.
    for saves in 0_u32..32 {
        let (place, old, beside) = place();
        let real = old.ground.trail.real.clone();
        let (mut step, mut last) = (0, None);
        let mut save_before = |step: u32| {
            if saves & (1 << step) != 0 {
                let content = format!("save {step}");
                save(&real, &content);
                last = Some(content);
            }
        };
        let swap = || {
            save_before(step);
            step += 1;
            rustix::fs::renameat_with(CWD, &beside, CWD, &real, RenameFlags::EXCHANGE)
        };
        let done = exchange_by(swap, &beside, &real, &old).unwrap();
        let content = fs::read_to_string(&real).unwrap();
        // A save after the last step cannot be lost.
        assert_eq!(done, last.is_none(), "saves {saves:b}");
        assert_eq!(content, last.unwrap_or("ours".to_owned()), "saves {saves:b}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}

#[test]
fn what_cannot_be_read_goes_back_like_any_save() {
    let (_place, old, beside) = place();
    let real = old.ground.trail.real.clone();
    fs::remove_file(&real).unwrap();
    std::os::unix::fs::symlink("elsewhere", &real).unwrap();
    assert!(!exchange(&beside, &real, &old).unwrap());
    assert_eq!(fs::read_link(&real).unwrap(), Path::new("elsewhere"));
}

#[test]
fn when_a_step_back_fails_nothing_is_removed() {
    let (place, old, beside) = place();
    let real = old.ground.trail.real.clone();
    save(&real, "theirs");
    let mut first = true;
    let swap = || {
        if !std::mem::take(&mut first) {
            return Err(rustix::io::Errno::IO);
        }
        rustix::fs::renameat_with(CWD, &beside, CWD, &real, RenameFlags::EXCHANGE)
    };
    exchange_by(swap, &beside, &real, &old).unwrap_err();
    assert_eq!(fs::read_to_string(&beside).unwrap(), "theirs");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
fn whoever_writes_it_the_same_way_waits_for_its_turn() {
    let (place, old, _) = place();
    let alone = alone(&old).unwrap().unwrap();
    let other = File::open(place.path()).unwrap();
    assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    drop(alone);
    other.try_lock().unwrap();
}
