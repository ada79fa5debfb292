//! Snapshots beside their records: what verification holds of them, and what it finds.

use std::sync::Arc;

use bestow::journal::{JournalError, audit};
use serde_json::Value;

use super::{
    damage::{long, names},
    disk::FakeDisk,
    faults::STATE,
};

fn hash(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a snapshot with another image, whose title has the right hashes.
fn with_image(snapshot: &[u8], image: &str) -> Vec<u8> {
    let text = str::from_utf8(snapshot).unwrap();
    let (title, _) = text.split_once('\n').unwrap();
    let known: Value = serde_json::from_str(title).unwrap();
    let [v, sequence, at, h] = ["v", "sequence", "at", "h"].map(|field| known[field].to_string().replace('"', ""));
    let state = hash(image.as_bytes());
    let sum = hash(format!("{v} {sequence} {at} {h} {state}").as_bytes());
    let title = title.replace(known["state"].as_str().unwrap(), &state).replace(known["title"].as_str().unwrap(), &sum);
    format!("{title}\n{image}").into_bytes()
}

fn image(snapshot: &[u8]) -> String {
    str::from_utf8(snapshot).unwrap().split_once('\n').unwrap().1.to_owned()
}

fn verified(disk: &Arc<FakeDisk>) -> Result<(), String> {
    match audit::verify_on(disk.clone(), STATE, None) {
        Ok(_) => Ok(()),
        Err(JournalError::Damaged { file, what, .. }) => {
            assert!(what.contains("the snapshot differs from the records"), "{what}");
            Err(file.file_name().unwrap().to_str().unwrap().to_owned())
        }
        Err(why) => panic!("{why}"),
    }
}

/// A snapshot may be as large as the state, so its bytes would double the memory of the verification.
#[tokio::test]
async fn verification_reads_no_snapshot_as_a_whole() {
    let disk = long().await;
    disk.forget_whole_reads();
    verified(&disk).unwrap();
    let whole: Vec<_> = disk.whole_reads().into_iter().filter(|name| name.starts_with("snapshot-")).collect();
    assert!(whole.is_empty(), "{whole:?}");
}

#[tokio::test]
async fn verification_names_each_altered_cut_or_swapped_snapshot() {
    let disk = long().await;
    let all = names(&disk, "snapshot-");
    let name = all.last().unwrap();
    let good = disk.read_file(name);
    let mut bad: Vec<Vec<u8>> = (0..good.len()).step_by(good.len() / 40).map(|end| good[..end].to_vec()).collect();
    for place in (0..good.len()).step_by(good.len() / 40) {
        let mut altered = good.clone();
        altered[place] ^= 1;
        bad.push(altered);
    }
    bad.push([&good[..], b" "].concat());
    bad.push(with_image(&good, &image(&good).replacen("/ws/1", "/ws/0", 1)));
    bad.push(with_image(&good, "{}"));
    bad.push(with_image(&good, ""));
    if let [other, _] = &all[..] {
        bad.push(disk.read_file(other));
    }
    for (number, content) in bad.iter().enumerate() {
        let damaged = disk.copy();
        damaged.write_file(name, content);
        assert_eq!(verified(&damaged).unwrap_err(), *name, "{number}");
    }
}

/// An earlier version may have written the same state in other words.
#[tokio::test]
async fn verification_accepts_an_equal_state_in_other_words() {
    let disk = long().await;
    let name = names(&disk, "snapshot-").pop().unwrap();
    let good = disk.read_file(&name);
    let spaced = image(&good).replacen('{', "{ ", 1);
    disk.write_file(&name, &with_image(&good, &spaced));
    assert_ne!(disk.read_file(&name), good);
    verified(&disk).unwrap();
}
