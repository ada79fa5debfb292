//! Tests of the effects of defaults (B11).

use bestow::{
    Permission,
    grant::{PermissionSet, Reads},
};

use crate::support::tag;

fn set(tags: &[&str]) -> PermissionSet {
    let mut set = PermissionSet::empty("/work".parse().unwrap());
    tags.iter().for_each(|text| set.insert(tag(text)));
    set
}

#[test]
fn merging_defaults_brings_what_is_no_directory_too() {
    let defaults = set(&["@network", "@events", "@read:/etc/app", "@write:/work/out"]);
    let merged = set(&["@write:/work/site"]).union(&defaults);
    for wanted in ["@network", "@events", "@read:/etc/app", "@write:/work/out/a", "@write:/work/site"] {
        assert!(merged.covers(&tag(wanted), Reads::Granted), "{wanted}");
    }
    let all: Vec<Permission> = merged.iter().collect();
    assert_eq!(all.len(), 5, "{all:?}");
    // A permission of the agent that is not in the defaults stays.
    assert_eq!(set(&["@network"]).union(&set(&[])), set(&["@network"]));
}

#[cfg(feature = "config")]
#[tokio::test]
async fn the_defaults_of_a_file_bring_the_network_and_events_to_every_agent_and_are_checked() {
    use bestow::{Engine, PolicyFile, Settings, grant::PermissionRef};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agents.toml");
    let file = |defaults: &str| {
        format!(
            "[defaults]\nowner = \"you\"\nworking_dir = \"/\"\npermissions = [{defaults}]\n\n[agents.lead]\nkind = \
             \"foreground\"\n\n[agents.night]\nkind = \"cron\"\npermissions = [\"@network\"]\n"
        )
    };
    let load = |defaults: &str| {
        std::fs::write(&path, file(defaults)).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        PolicyFile::new(&path).load()
    };
    let engine = Engine::new(Settings::default()).unwrap();
    engine.configure(load("\"@network\", \"@events\"").unwrap()).await.unwrap();
    for agent in ["lead", "night"] {
        let agent = engine.agent(agent).unwrap();
        assert!(
            agent.check(PermissionRef::Network).is_held() && agent.check(PermissionRef::Events).is_held(),
            "{agent:?}"
        );
    }
    for wrong in ["@netwerk", "@network:x", "@write:", "@eventz"] {
        let why = load(&format!("\"{wrong}\"")).unwrap_err().to_string();
        assert!(why.contains(wrong), "{why}");
    }
}
