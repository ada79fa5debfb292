//! Tests of the real targets of the paths in the file.

use std::{fs, os::unix::fs::MetadataExt};

use bestow::{Permission, Policy, grant::PinnedPermission};

use super::{Place, one_agent};

fn pinned(policy: &Policy) -> Vec<PinnedPermission> {
    policy.agents["lead"].permissions.iter().map(|base| base.pinned.clone()).collect()
}

fn tag(access: &str, path: &str) -> Permission {
    format!("@{access}:{path}").parse().unwrap()
}

#[test]
fn a_permission_is_pinned_to_the_object_its_path_leads_to() {
    let place = Place::with(&one_agent(r#"permissions = ["@write:link/x"]"#));
    fs::create_dir_all(place.path("elsewhere/x")).unwrap();
    place.link("policy/link", "../elsewhere");
    let found = fs::metadata(place.path("elsewhere/x")).unwrap();
    let pinned = pinned(&place.load().unwrap());
    assert_eq!(pinned[0].permission, tag("write", &place.text("elsewhere/x")));
    assert!(pinned[0].identity.is_some_and(|identity| identity.is_inode(found.dev(), found.ino())));
}

#[test]
fn a_permission_to_what_is_not_there_yet_is_kept_without_an_object() {
    let place = Place::with(&one_agent(r#"permissions = ["@write:a/b/c"]"#));
    let pinned = pinned(&place.load().unwrap());
    assert_eq!(pinned[0].permission, tag("write", &place.text("policy/a/b/c")));
    assert_eq!(pinned[0].identity, None);
}

#[test]
fn a_link_to_what_is_not_there_yet_is_followed_all_the_same() {
    let place = Place::with(&one_agent(r#"permissions = ["@write:link/c"]"#));
    place.link("policy/link", "../later");
    assert_eq!(pinned(&place.load().unwrap())[0].permission, tag("write", &place.text("later/c")));
}

#[test]
fn a_parent_in_a_link_is_walked_as_the_kernel_walks_it() {
    let place = Place::with(&one_agent(r#"permissions = ["@read:link/notes"]"#));
    fs::create_dir_all(place.path("far/away/inner")).unwrap();
    place.link("policy/hop", "../far/away/inner");
    place.link("policy/link", "hop/..");
    assert_eq!(pinned(&place.load().unwrap())[0].permission, tag("read", &place.text("far/away/notes")));
}

#[test]
fn the_working_directory_is_a_real_path() {
    let place = Place::with("[agents.lead]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"link\"\n");
    fs::create_dir(place.path("elsewhere")).unwrap();
    place.link("policy/link", "../elsewhere");
    let policy = place.load().unwrap();
    assert_eq!(policy.agents["lead"].profile.working_dir.as_str(), place.text("elsewhere"));
}

#[test]
fn relative_paths_are_relative_to_the_real_directory_of_the_file() {
    let place = Place::with(&one_agent(r#"permissions = ["@read:docs"]"#));
    place.link("home/agents.toml", "../policy/agents.toml");
    let policy = place.file_at("home/agents.toml").load().unwrap();
    assert_eq!(pinned(&policy)[0].permission, tag("read", &place.text("policy/docs")));
}

#[test]
fn the_file_is_not_below_a_write_root_whatever_links_hide_it() {
    let place = Place::new();
    place.link("alias", "policy");
    place.write("policy/agents.toml", one_agent(&format!("permissions = [\"@write:{}\"]", place.text("alias"))));
    let expected = "agents.toml:5:16: agent `lead` may write `$DIR/policy`, which contains this file: it could give \
        itself any permission; move this file to another directory, or name a smaller directory";
    assert_eq!(place.complaints(), expected);
    assert_eq!(place.complaints_about("alias/agents.toml"), expected);
}

#[test]
fn no_link_to_the_file_is_below_a_write_root() {
    let place = Place::new();
    fs::create_dir(place.path("workspace")).unwrap();
    place.write("policy/agents.toml", one_agent(&format!("permissions = [\"@write:{}\"]", place.text("workspace"))));
    place.link("workspace/agents.toml", "../policy/agents.toml");
    assert_eq!(place.complaints(), "nothing");
    let complaints = place.complaints_about("workspace/agents.toml");
    assert!(complaints.contains("agent `lead` may write `$DIR/workspace`, which contains this file"), "{complaints}");
}

#[test]
fn a_neighbour_with_a_longer_name_does_not_hold_the_file() {
    let place = Place::new();
    place.write("policy/agents.toml", one_agent(&format!("permissions = [\"@write:{}\"]", place.text("pol"))));
    assert_eq!(place.complaints(), "nothing");
}

/// Weakness W-1, at a reload: the agent replaces a directory that the file names with a link.
#[test]
fn a_directory_swapped_for_a_link_does_not_move_a_permission_at_the_next_reload() {
    let place = Place::new();
    fs::create_dir_all(place.path("workspace/site")).unwrap();
    let (workspace, site) = (place.text("workspace"), place.text("workspace/site"));
    let text = one_agent(&format!("permissions = [\"@write:{workspace}\"]"))
        + &format!(
            "[agents.writer]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"/work\"\n\
             permissions = [\"@write:{site}\"]\n"
        );
    place.write("policy/agents.toml", text);
    assert_eq!(place.complaints(), "nothing");
    fs::rename(place.path("workspace/site"), place.path("workspace/old")).unwrap();
    place.link("workspace/site", "/etc");
    let complaints = place.complaints();
    assert!(complaints.contains("agent `lead` may replace this link"), "{complaints}");
}
