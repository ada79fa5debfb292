//! The same profile in other programs' words.

use bestow::{
    Permission,
    sandbox::{Format, Profile},
};

use super::ground::scope;
use crate::fs::world::World;

fn write(path: &str) -> Permission {
    Permission::write(path.parse().unwrap())
}

const ALL: [Format; 4] = [Format::Bubblewrap, Format::Srt, Format::Codex, Format::Json];

#[test]
fn the_same_roots_in_any_order_and_spelling_are_the_same_text() {
    let world = World::new();
    world.link(world.path("workspace"), "alias");
    let workspace = world.workspace();
    let one = [write(&workspace), write(&world.text("workspace/a")), write(&world.text("outside"))];
    let other = [write(&world.text("outside")), write(&world.text("alias/")), write(&world.text("alias/./a/b"))];
    let text = |named: &[Permission], format| {
        let profile = Profile::of(&scope(&workspace, named), []).unwrap();
        assert_eq!(profile.write_roots().count(), 2);
        profile.export(format).unwrap()
    };
    for format in ALL {
        assert_eq!(text(&one, format), text(&other, format), "{format:?}");
        assert!(!text(&one, format).contains("alias"));
    }
}

#[test]
fn bubblewrap_always_gets_every_wall_and_each_path_as_one_word() {
    let world = World::empty();
    let odd = "a b$`\"'\n;*";
    world.dir(odd);
    let profile = Profile::of(&scope(&world.text(odd), &[write(&world.text(odd))]), []).unwrap();
    let words: Vec<String> = serde_json::from_str(&profile.export(Format::Bubblewrap).unwrap()).unwrap();
    let has = |wanted: &[&str]| words.windows(wanted.len()).any(|words| words == wanted);
    for wanted in [
        &["--cap-drop", "ALL"][..],
        &["--unshare-user"],
        &["--unshare-pid"],
        &["--unshare-net"],
        &["--disable-userns"],
        &["--die-with-parent"],
        &["--new-session"],
        &["--clearenv"],
        &["--ro-bind", "/", "/"],
        &["--bind", &world.text(odd), &world.text(odd)],
    ] {
        assert!(has(wanted), "{wanted:?}");
    }
    assert!(!words.iter().any(|word| word == "--share-net"));
}

#[test]
fn no_network_and_no_events_are_said_and_not_left_out() {
    let world = World::new();
    let profile = Profile::of(&scope(&world.workspace(), &[]), []).unwrap();
    let srt: serde_json::Value = serde_json::from_str(&profile.export(Format::Srt).unwrap()).unwrap();
    assert_eq!(srt["network"], serde_json::json!({ "allowedDomains": [], "deniedDomains": [] }));
    assert_eq!(srt["filesystem"]["allowWrite"], serde_json::json!([]));
    assert!(profile.export(Format::Codex).unwrap().contains("enabled = false"));
    let own: serde_json::Value = serde_json::from_str(&profile.export(Format::Json).unwrap()).unwrap();
    assert_eq!((&own["network"], &own["events"], &own["mode"]), (&false.into(), &false.into(), &"read_only".into()));
}

#[test]
fn what_a_format_cannot_say_is_refused() {
    let world = World::new();
    let of = |named: &[Permission]| Profile::of(&scope(&world.workspace(), named), []).unwrap();
    for (named, formats) in [
        (Permission::Network, &[Format::Srt, Format::Codex][..]),
        (Permission::Events, &[Format::Srt, Format::Codex, Format::Bubblewrap]),
    ] {
        for format in formats {
            assert!(of(std::slice::from_ref(&named)).export(*format).is_err(), "{named}: {format:?}");
        }
        assert!(of(&[named]).export(Format::Json).is_ok());
    }
    world.dir("w[ab]*");
    assert!(of(&[write(&world.text("w[ab]*"))]).export(Format::Srt).is_err());
}

#[test]
fn codex_text_is_toml_whatever_a_path_holds() {
    let world = World::empty();
    let odd = "q\"\\ \n\t=]é";
    world.dir(odd);
    let profile = Profile::of(&scope(&world.text(odd), &[write(&world.text(odd))]), []).unwrap();
    let toml: toml::Table = profile.export(Format::Codex).unwrap().parse().unwrap();
    let rules = toml["permissions"]["agent"]["filesystem"].as_table().unwrap();
    assert_eq!(rules[&world.text(odd)].as_str(), Some("write"));
    assert_eq!(rules[&world.text(&format!("{odd}/.git"))].as_str(), Some("read"));
}
