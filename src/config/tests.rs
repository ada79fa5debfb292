//! Tests that look into the reader: its disk accesses, and the keys that it reads.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    os::unix::fs::PermissionsExt,
};

use super::{PolicyFile, document, resolve_paths};

thread_local! {
    /// The keys that the reader of this thread asked for, by the name of their table.
    static KEYS: RefCell<BTreeMap<String, BTreeSet<String>>> = RefCell::default();
}

/// Records the keys that were asked for in one table.
pub(super) fn finished(table: &str, keys: &[&str]) {
    KEYS.with_borrow_mut(|all| all.entry(table.to_owned()).or_default().extend(keys.iter().map(|&key| key.to_owned())));
}

#[test]
fn the_schema_has_every_key_that_the_reader_asks_for_and_no_other() {
    // A file with every table. What is wrong in it does not matter: the reader asks for all keys first.
    let text = "engine = {}\nlimits = {}\ntasks = {}\ngates = {}\ntools = [{}]\ntest = [{}]\n\
        commands = { safe = [{}], raise = [{}] }\ndefaults = { rules = [{}] }\nagents.lead = { rules = [{}] }\n";
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    PolicyFile::new(file).load().unwrap_err();
    let schema: serde_json::Value =
        serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/agents.schema.json"))).unwrap();
    let keys = |table: &serde_json::Value| table["properties"].as_object().unwrap().keys().cloned().collect();
    let names = [
        ("engine", "`[engine]`"),
        ("commands", "`[commands]`"),
        ("safe", "`[[commands.safe]]`"),
        ("raise", "`[[commands.raise]]`"),
        ("limits", "`[limits]`"),
        ("tool", "`[[tools]]`"),
        ("defaults", "`[defaults]`"),
        ("agent", "`[agents.lead]`"),
        ("rule", "a rule"),
        ("tasks", "`[tasks]`"),
        ("gates", "`[gates]`"),
        ("test", "a test"),
    ];
    assert_eq!(schema["definitions"].as_object().unwrap().len(), names.len());
    let mut in_schema: BTreeMap<String, BTreeSet<String>> =
        names.map(|(name, header)| (header.to_owned(), keys(&schema["definitions"][name]))).into();
    in_schema.insert("the file".to_owned(), keys(&schema));
    assert_eq!(KEYS.take(), in_schema);
}

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
