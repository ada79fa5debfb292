//! Tests of the example from which a person learns the format.

use std::{fs, path::Path, process::Command};

use bestow::{AgentId, Kind, Permission, PolicyFile, agent::Mode, grant::Hold};

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
    assert!(lead.permissions.iter().any(|base| base.hold == Hold::PassOn && base.pinned.permission == releases));
}

/// Runs the commands that the head of the example gives, up to `bestow` itself, in an empty directory.
#[test]
fn the_example_works_as_its_head_says() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("agents.example.toml"), EXAMPLE).unwrap();
    let copy = EXAMPLE.lines().find_map(|line| line.strip_prefix("#   cp ")).unwrap();
    let copied = Command::new("sh").arg("-c").arg(format!("cp {copy}")).current_dir(place.path()).status().unwrap();
    assert!(copied.success());
    let file = crate::support::real(place.path()).join("agents.toml");
    let policy = PolicyFile::new(&file).load().unwrap();
    assert!(policy.left_out.is_empty(), "{:?}", policy.left_out);
    // The directories in which commands start, and that of the tasks, are there.
    for agent in policy.agents.values() {
        assert!(Path::new(agent.profile.working_dir.as_str()).is_dir(), "{:?}", agent.profile.working_dir);
    }
    assert!(Path::new(policy.settings.tasks.dir.unwrap().as_str()).is_dir());
}

#[test]
fn the_example_is_short() {
    assert!(EXAMPLE.lines().count() < 100);
}

#[test]
fn every_protected_path_is_in_the_documentation() {
    let documentation = fs::read_to_string(Path::new(crate::support::ROOT).join("docs/agents-toml.md")).unwrap();
    let place = Place::with("agents.a = { kind = \"cron\", owner = \"you\", working_dir = \"/w\" }");
    let home = place.text("home/");
    for path in place.load().unwrap().settings.protected.iter() {
        let path = path.as_str().strip_prefix(&home).unwrap_or(path.as_str());
        let own = path == place.text("policy/agents.toml");
        assert!(own || documentation.contains(&format!("`{path}`")), "the documentation does not list {path}");
    }
}
