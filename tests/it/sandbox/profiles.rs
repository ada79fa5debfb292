//! Tests of the export of a profile to the formats of other programs.

use std::{fs, process::Command as Process};

use bestow::{
    Permission,
    sandbox::{Command, Domain, Format, InvalidDomain, Profile},
};

use super::ground::{Ground, scope, with_bubblewrap};
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
        (Permission::Network, &[Format::Srt][..]),
        (Permission::Events, &[Format::Srt, Format::Codex, Format::Bubblewrap]),
    ] {
        for format in formats {
            assert!(of(std::slice::from_ref(&named)).export(*format).is_err(), "{named}: {format:?}");
        }
        assert!(of(&[named]).export(Format::Json).is_ok());
    }
    assert!(of(&[Permission::Network]).export(Format::Codex).unwrap().contains("enabled = true"));
    world.dir("w[ab]*");
    assert!(of(&[write(&world.text("w[ab]*"))]).export(Format::Srt).is_err());
}

#[test]
fn codex_text_is_toml_whatever_a_path_holds_and_says_what_overrides_it() {
    let world = World::empty();
    let odd = "q\"\\ \n\t=]é";
    world.dir(odd);
    let profile = Profile::of(&scope(&world.text(odd), &[write(&world.text(odd))]), []).unwrap();
    let text = profile.export(Format::Codex).unwrap();
    assert!(text.starts_with("# ") && text.lines().next().unwrap().contains("without `sandbox_mode`"), "{text}");
    let toml: toml::Table = text.parse().unwrap();
    let rules = toml["permissions"]["agent"]["filesystem"].as_table().unwrap();
    assert_eq!(rules[&world.text(odd)].as_str(), Some("write"));
    assert_eq!(rules[&world.text(&format!("{odd}/.git"))].as_str(), Some("read"));
}

/// Runs a shell line under the exported arguments, without the helper that adds the other restrictions. Returns true if
/// it succeeds.
fn succeeds_as_exported(ground: &Ground, profile: &Profile, line: &str) -> bool {
    let words: Vec<String> = serde_json::from_str(&profile.export(Format::Bubblewrap).unwrap()).unwrap();
    let mut process = Process::new("bwrap");
    process.args(words).args(["/bin/sh", "-c", line]).env("O", ground.world.text("outside"));
    process.output().unwrap().status.success()
}

#[test]
fn bubblewrap_takes_the_words_as_they_are_exported_and_they_hold() {
    with_bubblewrap(|ground| {
        let profile = ground.profile_hiding(&[], &["outside/secret", "workspace/f", "workspace/deep/own.toml"]);
        let outside = ground.world.text("outside");
        for (line, is_allowed) in [
            ("echo x > new && cat /etc/hostname".to_owned(), true),
            (format!("echo x > {outside}/new"), false),
            (format!("grep -q . {outside}/secret"), false),
            ("grep -q . f".to_owned(), false),
            ("echo x > .git/hooks/pre-commit".to_owned(), false),
            ("mkdir .vscode/x".to_owned(), false),
            ("rmdir .vscode || mv .vscode other".to_owned(), false),
            ("mkdir -p deep && echo x > deep/own.toml".to_owned(), false),
            ("mount -o remount,bind,rw /".to_owned(), false),
        ] {
            assert_eq!(succeeds_as_exported(ground, &profile, &line), is_allowed, "{ground}: {line}");
        }
        // The placeholder is an empty directory now, and is protected as any existing path.
        assert_eq!(fs::read_dir(ground.path("workspace/.vscode")).unwrap().count(), 0);
        assert!(!succeeds_as_exported(ground, &profile, "mkdir .vscode/x"), "{ground}");
    });
}

#[test]
fn bubblewrap_takes_paths_with_every_odd_character() {
    with_bubblewrap(|ground| {
        let odd = "workspace/a b$`\"'\n;*";
        fs::create_dir(ground.path(odd)).unwrap();
        if ground.is_root || !rustix::process::geteuid().is_root() {
            let root = Permission::write(ground.world.text(odd).parse().unwrap());
            let profile = Profile::of(&scope(&ground.world.text(odd), &[root]), []).unwrap();
            assert!(succeeds_as_exported(ground, &profile, "echo x > made"), "{ground}");
            let done = ground.sandbox.run(&profile, &Command::new("cat").arg("made")).unwrap();
            assert_eq!(done.stdout.bytes, b"x\n", "{ground}");
            assert!(!succeeds_as_exported(ground, &profile, "echo x > ../f"), "{ground}");
        }
    });
}

#[test]
fn a_network_is_kept_to_hosts_where_that_can_be_said_and_refused_where_it_cannot() {
    let world = World::new();
    let hosts = || ["Docs.Example.com", "crates.io"].map(|name| name.parse::<Domain>().unwrap());
    let of = |named: &[Permission]| Profile::of(&scope(&world.workspace(), named), []).unwrap().only_to(hosts());
    let profile = of(&[Permission::Network]);
    let srt: serde_json::Value = serde_json::from_str(&profile.export(Format::Srt).unwrap()).unwrap();
    assert_eq!(srt["network"]["allowedDomains"], serde_json::json!(["crates.io", "docs.example.com"]));
    for format in [Format::Bubblewrap, Format::Codex] {
        assert!(profile.export(format).is_err(), "{format:?}");
    }
    let sandbox = bestow::sandbox::Sandbox::with_helper(crate::support::BESTOW);
    let sandbox = sandbox.without_bubblewrap();
    let missing = sandbox.cannot_enforce(&profile.without_guard()).join("; ");
    assert!(missing.contains("only bubblewrap can limit a network to `crates.io`, `docs.example.com`"), "{missing}");
    let refused = sandbox.run(&of(&[Permission::Network]), &Command::new("true")).unwrap_err().to_string();
    assert!(refused.contains(&missing), "{refused}");
    // A list of hosts is no permission: without the network there are none.
    let srt: serde_json::Value = serde_json::from_str(&of(&[]).export(Format::Srt).unwrap()).unwrap();
    assert_eq!(srt["network"]["allowedDomains"], serde_json::json!([]));
}

#[test]
fn what_is_nearly_the_name_of_a_host_is_none() {
    for (text, why) in [
        ("*", InvalidDomain::Pattern),
        ("*.com", InvalidDomain::Pattern),
        ("http://x.com", InvalidDomain::NotAName),
        ("x.com:99999", InvalidDomain::NotAName),
        ("x.com/y", InvalidDomain::NotAName),
        ("me@x.com", InvalidDomain::NotAName),
        ("10.0.0.1", InvalidDomain::NotAName),
        ("a.0x7f", InvalidDomain::NotAName),
        ("a\0.ok.com", InvalidDomain::Label),
        ("a b.com", InvalidDomain::Label),
        ("ok.com.", InvalidDomain::Label),
        (".ok.com", InvalidDomain::Label),
        ("-a.com", InvalidDomain::Label),
        ("", InvalidDomain::Label),
        ("localhost", InvalidDomain::TooShort),
        ("b\u{fc}cher.de", InvalidDomain::NotAscii),
        ("\u{ff41}.com", InvalidDomain::NotAscii),
    ] {
        assert_eq!(text.parse::<Domain>(), Err(why), "{text:?}");
    }
    assert_eq!(format!("{}.com", "a.".repeat(130)).parse::<Domain>(), Err(InvalidDomain::TooLong));
    assert_eq!("XN--Bcher-kva.DE".parse::<Domain>().unwrap().as_str(), "xn--bcher-kva.de");
}
