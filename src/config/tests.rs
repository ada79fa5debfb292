//! Tests that look into the reader: its disk accesses, and the keys that it reads.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    os::unix::fs::PermissionsExt,
};

use super::{PolicyFile, document, resolve_paths};

#[test]
fn the_schema_has_every_key_that_the_reader_asks_for_and_no_other() {
    // A file with every table, and an unknown key in each. The reader lists the known keys of the table beside it.
    let text = "odd_odd = 1\nengine = {odd_odd = 1}\nlimits = {odd_odd = 1}\ntasks = {odd_odd = 1}\n\
        gates = {odd_odd = 1}\ntools = [{odd_odd = 1}]\ntest = [{odd_odd = 1}]\n\
        commands = { safe = [{odd_odd = 1}], raise = [{odd_odd = 1}], odd_odd = 1 }\n\
        defaults = { rules = [{odd_odd = 1}], odd_odd = 1 }\n\
        agents.lead = { rules = [{odd_odd = 1}], odd_odd = 1 }\n";
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let told = PolicyFile::new(file).load().unwrap_err();
    let mut read: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for problem in told.problems() {
        let Some(table) = problem.message.strip_prefix("unknown key `odd_odd` in ") else { continue };
        let keys = problem.help.as_ref().unwrap().strip_prefix("its keys are ").unwrap();
        read.entry(table.to_owned()).or_default().extend(keys.split(", ").map(str::to_owned));
    }
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
    assert_eq!(read, in_schema);
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
    assert_eq!(policy.agents.values().map(|agent| agent.permissions.len()).collect::<Vec<_>>(), [400; 100]);
}
