//! Tests that count the disk accesses for a file.

use std::{fmt::Write, fs, os::unix::fs::PermissionsExt};

use super::{PolicyFile, document, resolve_paths};

#[test]
fn each_path_is_looked_up_once_however_many_agents_hold_it() {
    let place = tempfile::tempdir().unwrap();
    let mut text = "[defaults]\nowner = \"you\"\nworking_dir = \"/nowhere\"\npermissions = [\n".to_owned();
    for number in 0..200 {
        writeln!(text, "  \"@read:/nowhere/{number}\", \"@write:/nowhere/{number}\",").unwrap();
    }
    text += "]\n";
    for number in 0..100 {
        writeln!(text, "[agents.a{number}]\nkind = \"cron\"\npermissions = [\"@write:/nowhere/{number}\"]").unwrap();
    }
    let file = place.path().join("agents.toml");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let text = PolicyFile::new(file).read().unwrap();
    let mut looks = 0;
    let (policy, _) = document::policy(&text, None, |path| {
        looks += 1;
        resolve_paths::look(path)
    })
    .unwrap();
    assert_eq!(looks, 201);
    assert_eq!(policy.agents.values().map(|agent| agent.rights.len()).collect::<Vec<_>>(), [400; 100]);
}
