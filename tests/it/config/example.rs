//! Tests of the example from which a person learns the format.

use std::{fs, path::Path};

use bestow::{AgentId, Hold, Kind, Mode, Permission, Settings};

use super::Place;

const EXAMPLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../agents.example.toml"));

#[test]
fn the_example_loads() {
    let place = Place::with(EXAMPLE);
    let policy = place.load().unwrap();
    let ids: Vec<_> = policy.agents.keys().map(AgentId::as_str).collect();
    assert_eq!(ids, ["checker", "lead", "nightly", "writer"]);
    let lead = &policy.agents["lead"];
    assert_eq!((lead.profile.kind, lead.profile.mode), (Kind::Foreground, Mode::OnRequest));
    let releases: Permission = format!("@write:{}", place.text("policy/releases")).parse().unwrap();
    assert!(lead.rights.iter().any(|base| base.hold == Hold::PassOn && base.right.permission == releases));
}

#[test]
fn the_example_states_the_defaults() {
    let stated = Place::with(EXAMPLE).load().unwrap().settings;
    let defaults = Settings::default();
    assert_eq!((stated.reads, stated.interaction), (defaults.reads, defaults.interaction));
    assert_eq!((stated.on_no_user, stated.widening), (defaults.on_no_user, defaults.widening));
    assert_eq!((stated.request_timeout, stated.denial_memory), (defaults.request_timeout, defaults.denial_memory));
    assert_eq!((stated.max_pending, stated.max_grants), (defaults.max_pending, defaults.max_grants));
    assert_eq!(stated.max_depth, defaults.max_depth);
    let mut tasks = stated.tasks;
    (tasks.dir, tasks.cron_agent) = (None, None);
    assert_eq!(tasks, defaults.tasks);
    assert_eq!(stated.commands.profile, defaults.commands.profile);
}

#[test]
fn every_key_is_in_the_example_and_in_the_documentation() {
    let documentation = fs::read_to_string(Path::new(crate::support::ROOT).join("docs/agents-toml.md")).unwrap();
    for key in KEYS {
        assert!(EXAMPLE.contains(&format!("\n{key} = ")), "the example does not show `{key}`");
        assert!(documentation.contains(&format!("`{key}`")), "the documentation does not explain `{key}`");
    }
}

#[test]
fn every_protected_path_is_in_the_documentation() {
    let documentation = fs::read_to_string(Path::new(crate::support::ROOT).join("docs/agents-toml.md")).unwrap();
    let place = Place::with("agents.a = { kind = \"cron\", owner = \"you\", working_dir = \"/w\" }");
    let home = place.text("home/");
    for path in place.load().unwrap().settings.protected.iter() {
        let path = path.as_str().strip_prefix(&home).unwrap_or(path.as_str());
        let path = path.replace(&format!("/proc/{}", std::process::id()), "/proc/<pid>");
        let own = path == place.text("policy/agents.toml");
        assert!(own || documentation.contains(&format!("`{path}`")), "the documentation does not list {path}");
    }
}

#[test]
fn every_sensitive_name_is_in_the_documentation() {
    let root = Path::new(crate::support::ROOT);
    let documentation = fs::read_to_string(root.join("docs/agents-toml.md")).unwrap();
    // The list itself is internal to the engine. This test reads only its names.
    let source = fs::read_to_string(root.join("src/model/sensitive/table.rs")).unwrap();
    let (_, rows) = source.split_once("const ROWS: ").unwrap();
    let rows = rows.split_once("];").unwrap().0;
    let names: Vec<&str> = rows.split('"').skip(1).step_by(2).map(|name| name.trim_matches(['-', '_'])).collect();
    assert!(names.len() > 100, "{names:?}");
    for name in names {
        assert!(documentation.contains(name), "the documentation does not list {name}");
    }
}

const KEYS: [&str; 60] = [
    "default_verdict",
    "profile",
    "program",
    "subcommand",
    "flags",
    "operands",
    "words",
    "tier",
    "match",
    "not_match",
    "reads",
    "interaction",
    "on_no_user",
    "confirm_widening",
    "request_timeout",
    "denial_memory",
    "hook_timeout",
    "max_pending",
    "max_asks_per_minute",
    "max_children",
    "max_processes",
    "output",
    "memory",
    "file_size",
    "cpu_time",
    "open_files",
    "processes",
    "max_grants",
    "max_depth",
    "protected",
    "sensitive",
    "owner",
    "working_dir",
    "permissions",
    "mode",
    "kind",
    "grant_only",
    "verdict",
    "operation",
    "tool",
    "path",
    "command",
    "why",
    "agent",
    "write",
    "needs",
    "input",
    "expect",
    "because",
    "dir",
    "cron_agent",
    "agents",
    "time_zone",
    "heartbeat_every",
    "catch_up",
    "jitter",
    "time_limit",
    "max_running",
    "on_missing",
    "timeout",
];
