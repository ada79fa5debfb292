//! Tests of the permissions that a tag can and cannot express, from the text to the disk.

use std::{os::unix::fs::symlink, sync::Arc};

use bestow::{
    Agent, Engine, InitialGrants, Kind, Permission, Profile, Settings,
    action::ExecScope,
    decision::{Check, Refusal},
    event::Timestamp,
    grant::{InvalidPermission, PermissionSet},
    host::{DiskPaths, ManualClock},
};

use crate::{
    fs::world::World,
    support::{check, refusal, tag, why},
};

/// Creates a lead that holds these permissions, and another agent, on a real disk.
async fn pair(world: &World, held: &[Permission]) -> (Engine, Agent, Agent) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
    let engine = Engine::on(Settings::default(), clock, Arc::new(DiskPaths)).unwrap();
    let profile = |id: &str| {
        let stands = world.workspace().parse().unwrap();
        Profile::new(id.parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands)
    };
    let lead = engine.register(profile("lead"), InitialGrants::of(held.iter().cloned())).await.unwrap();
    let other = engine.register(profile("other"), InitialGrants::nothing()).await.unwrap();
    (engine, lead, other)
}

#[test]
fn what_is_nearly_a_tag_is_none() {
    let long = format!("@write:/{}", "a".repeat(4096));
    let texts = [
        "@write:",
        "@write:relative",
        "@write:~/x",
        "@write:/p\0q",
        "@write:/p\u{1b}[2Jq",
        &long,
        "@Network",
        "@net work",
        "@network:x",
        "@events\0",
        "@execute:/x",
        "network",
        "",
    ];
    for text in texts {
        assert!(text.parse::<Permission>().is_err(), "{text:?}");
    }
    assert_eq!("@write:/w".parse::<Permission>(), Ok(tag("@write:/w")));
    let _: InvalidPermission = "@Network".parse::<Permission>().unwrap_err();
}

#[tokio::test]
async fn a_path_that_climbs_or_leads_through_a_link_is_held_and_shown_where_it_really_is() {
    let world = World::new();
    symlink(world.path("outside"), world.path("workspace/l")).unwrap();
    let through = tag(&format!("@write:{}", world.text("workspace/l")));
    let (_engine, lead, _) = pair(&world, std::slice::from_ref(&through)).await;
    let held: Vec<String> = lead.grants().unwrap().iter().map(|grant| grant.pinned.permission.to_string()).collect();
    assert_eq!(held, [format!("@write:{}", world.text("outside"))]);
    assert_eq!(lead.check(&through), Check::NotHeld, "the raw text is nowhere");
    // A text with `..` is no tag, because its meaning depends on links.
    assert!(format!("@write:{}/../outside", world.workspace()).parse::<Permission>().is_err());
}

#[tokio::test]
async fn a_part_can_be_passed_on_and_the_whole_of_which_it_is_a_part_cannot() {
    let world = World::new();
    let write = |below: &str| tag(&format!("@write:{}", world.text(below)));
    let (_engine, lead, other) = pair(&world, &[write("workspace/a")]).await;
    let whole = lead.grant(other.id(), write("workspace"), why()).await;
    assert!(matches!(refusal(whole), Refusal::NotHeld { .. }));
    lead.grant(other.id(), write("workspace/a/b"), why()).await.unwrap();
    assert_eq!(other.check(&write("workspace/a/b/f")), Check::Held);
    for beside in ["workspace/a", "workspace/a/b-evil", "workspace/A/b"] {
        assert_eq!(other.check(&write(beside)), Check::NotHeld, "{beside}");
    }
    assert_eq!(check(&other, "@write:/"), Check::NotHeld);
}

#[test]
fn writing_includes_reading_and_a_second_time_changes_nothing() {
    let mut set = PermissionSet::empty("/w".parse().unwrap());
    set.insert(tag("@write:/a"));
    let once = set.clone();
    set.insert(tag("@write:/a"));
    assert_eq!(set, once);
    for text in ["@write:/a", "@read:/a", "@write:/a/b"] {
        assert!(set.covers(&tag(text), bestow::grant::Reads::Granted), "{text}");
    }
}

#[test]
fn a_command_gets_what_is_named_and_its_caller_stays_as_it_is() {
    let mut caller = PermissionSet::empty("/w".parse().unwrap());
    for text in ["@write:/a", "@write:/b", "@network", "@events"] {
        caller.insert(tag(text));
    }
    let before = caller.clone();
    // Reads are not scoped, whether they are named or held, or not.
    let named = [tag("@write:/a"), tag("@read:/etc")];
    let scope = ExecScope::of(&caller, &named).unwrap();
    assert_eq!(scope.iter().collect::<Vec<_>>(), [tag("@write:/a")]);
    assert_eq!(scope.working_dir().as_str(), "/w");
    assert_eq!(caller, before);
}
