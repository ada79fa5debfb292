//! Tests of the meaning of the keys.

use std::time::Duration;

use bestow::{
    Kind, Permission, Policy, Settings,
    agent::Mode,
    grant::{Hold, Reads},
    path::SanitizedPath,
    policy::{Floor, Interaction, OnNoUser, Widening},
};

use super::{Place, one_agent};

fn held(policy: &Policy, agent: &str) -> Vec<(String, Hold, u32)> {
    let permissions = policy.agents[agent].permissions.iter();
    permissions.map(|base| (base.pinned.permission.to_string(), base.hold, base.place.line)).collect()
}

fn protects(policy: &Policy, path: &str) -> bool {
    let path: SanitizedPath = path.parse().unwrap();
    policy.settings.protected.contains(&path)
}

#[test]
fn a_file_that_says_little_leaves_every_setting_at_its_default() {
    let mut settings = Place::with(&one_agent("")).load().unwrap().settings;
    settings.protected = Default::default();
    assert_eq!(std::mem::take(&mut settings.governing).len(), 1, "the file itself");
    assert_eq!(settings, Settings::default());
}

#[test]
fn every_setting_can_be_changed() {
    let engine = "[engine]\nreads = \"granted\"\ninteraction = \"noninteractive\"\non_no_user = \"deny\"\n\
        confirm_widening = true\nrequest_timeout = \"1500ms\"\ndenial_memory = \"2h\"\nmax_pending = 1\n\
        max_grants = 0x10\nmax_depth = 0\n";
    let settings = Place::with(&format!("{engine}{}", one_agent(""))).load().unwrap().settings;
    assert_eq!(settings.reads, Reads::Granted);
    assert_eq!(settings.interaction, Interaction::NonInteractive);
    assert_eq!(settings.on_no_user, OnNoUser::Deny);
    assert_eq!(settings.widening, Widening::Confirm);
    assert_eq!(settings.request_timeout, Duration::from_millis(1500));
    assert_eq!(settings.denial_memory, Duration::from_secs(7200));
    assert_eq!((settings.max_pending, settings.max_grants, settings.max_depth), (1, 16, 0));
}

#[test]
fn a_duration_is_a_number_and_a_unit() {
    let units = [("1ms", 1), ("2s", 2_000), ("3m", 180_000), ("4h", 14_400_000), ("365d", 31_536_000_000)];
    for (text, millis) in units {
        let place = Place::with(&format!("[engine]\nrequest_timeout = \"{text}\"\n{}", one_agent("")));
        assert_eq!(place.load().unwrap().settings.request_timeout, Duration::from_millis(millis), "{text}");
    }
}

#[test]
fn every_kind_and_every_mode_has_its_word() {
    for kind in [Kind::Foreground, Kind::Cron, Kind::Heartbeat, Kind::Subagent, Kind::System, Kind::Permanent] {
        let text = format!("agents.a = {{ kind = \"{kind}\", owner = \"you\", working_dir = \"/w\" }}");
        assert_eq!(Place::with(&text).load().unwrap().agents["a"].profile.kind, kind);
    }
    let modes = [
        ("default", Mode::Default),
        ("untrusted", Mode::Untrusted),
        ("on_request", Mode::OnRequest),
        ("on_failure", Mode::OnFailure),
        ("never", Mode::Never),
        ("plan", Mode::Plan),
        ("bypass", Mode::Bypass),
        ("auto", Mode::Auto),
    ];
    for (word, mode) in modes {
        let place = Place::with(&one_agent(&format!("mode = \"{word}\"")));
        assert_eq!(place.load().unwrap().agents["lead"].profile.mode, mode);
    }
}

#[test]
fn an_agent_says_who_it_is() {
    let profile = Place::with(&one_agent("name = \" Lead \"")).load().unwrap().agents["lead"].profile.clone();
    assert_eq!((profile.id.as_str(), profile.owner.as_str()), ("lead", "you"));
    assert_eq!(profile.name.unwrap().as_str(), "Lead");
    assert_eq!((profile.working_dir.as_str(), profile.mode), ("/work", Mode::Default));
    assert_eq!(profile.parent, None);
}

#[test]
fn defaults_fill_what_an_agent_leaves_out_and_give_way_to_what_it_says() {
    let defaults = "[defaults]\nowner = \"you\"\nworking_dir = \"/work\"\nmode = \"plan\"\n";
    let agents = "[agents.a]\nkind = \"cron\"\n[agents.b]\nkind = \"cron\"\nowner = \"ann\"\n\
        working_dir = \"/b\"\nmode = \"auto\"\n";
    let policy = Place::with(&format!("{defaults}{agents}")).load().unwrap();
    let said = |agent: &str| {
        let profile = policy.agents[agent].profile.clone();
        (profile.owner.to_string(), profile.working_dir.to_string(), profile.mode)
    };
    assert_eq!(said("a"), ("you".to_owned(), "/work".to_owned(), Mode::Plan));
    assert_eq!(said("b"), ("ann".to_owned(), "/b".to_owned(), Mode::Auto));
}

#[test]
fn permissions_of_the_defaults_are_added_and_point_at_their_own_line() {
    let defaults = "[defaults]\npermissions = [\n  \"@events\",\n  \"@read:/docs\",\n]\ngrant_only = [\"@network\"]\n";
    let policy = Place::with(&format!("{defaults}{}", one_agent("permissions = [\"@network\"]"))).load().unwrap();
    let expected = [
        ("@network".to_owned(), Hold::Use, 11),
        ("@events".to_owned(), Hold::Use, 3),
        ("@read:/docs".to_owned(), Hold::Use, 4),
        ("@network".to_owned(), Hold::PassOn, 6),
    ];
    assert_eq!(held(&policy, "lead"), expected);
}

#[test]
fn a_permission_written_twice_is_held_once_from_its_first_line() {
    let text = format!(
        "[defaults]\npermissions = [\"@network\"]\n{}",
        one_agent("permissions = [\"@network\",\n\"@network\", \"@read:/a/\", \"@read:/a\"]")
    );
    let expected = [("@network".to_owned(), Hold::Use, 7), ("@read:/a".to_owned(), Hold::Use, 8)];
    assert_eq!(held(&Place::with(&text).load().unwrap(), "lead"), expected);
}

#[test]
fn nothing_written_is_nothing_held() {
    assert!(Place::with(&one_agent("")).load().unwrap().agents["lead"].permissions.is_empty());
}

#[test]
fn a_place_names_the_file_as_it_was_named() {
    let place = Place::with(&one_agent("permissions = [\"@network\"]"));
    let policy = place.load().unwrap();
    let shown = policy.agents["lead"].permissions[0].place.to_string();
    assert_eq!(shown, format!("{}:5", place.text("policy/agents.toml")));
}

#[test]
fn a_tilde_is_the_home_directory() {
    let place = Place::with(&one_agent("permissions = [\"@read:~/notes\", \"@read:~\", \"@read:./~\"]"));
    let policy = place.load().unwrap();
    let tags: Vec<_> = held(&policy, "lead").into_iter().map(|(tag, ..)| tag).collect();
    let expected = ["home/notes", "home", "policy/~"].map(|path| format!("@read:{}", place.text(path)));
    assert_eq!(tags, expected);
}

#[test]
fn what_holds_keys_and_passwords_is_protected() {
    let place = Place::with(&one_agent(""));
    let policy = place.load().unwrap();
    for path in [".ssh", ".gnupg", ".aws", ".config/gh", ".cargo/credentials.toml", ".git-credentials"] {
        assert!(protects(&policy, &place.text(&format!("home/{path}"))), "{path}");
    }
    // The credentials of the coding agents, and of bestow.
    for path in [
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".copilot/config.json",
        ".config/github-copilot",
        ".bestow-claude",
    ] {
        assert!(protects(&policy, &place.text(&format!("home/{path}"))), "{path}");
    }
    assert!(!protects(&policy, &place.text("home/.claude")), "an agent works with its settings");
    for path in ["/etc/shadow", "/etc/sudoers.d", "/etc/ssl/private", "/root/.ssh"] {
        assert!(protects(&policy, path), "{path}");
    }
}

#[test]
fn what_this_process_was_started_with_and_its_memory_are_protected() {
    let own: SanitizedPath = format!("/proc/{}", std::process::id()).parse().unwrap();
    let read = || Place::with(&one_agent("")).load().unwrap();
    for path in ["/proc/self", "/proc/thread-self"] {
        assert!(protects(&read(), path), "{path}");
    }
    // An engine that goes on from the same state has another number, and the same settings.
    assert!(Floor::of_this_machine().protected().contains(&own) && !protects(&read(), own.as_str()));
    // Each thread has its own name there. The list must not depend on the thread that reads the file.
    let protected =
        |policy: &Policy| policy.settings.protected.iter().filter(|path| path.as_str().starts_with("/proc")).count();
    assert_eq!(protected(&read()), 2);
}

#[test]
fn a_protected_link_protects_what_it_leads_to() {
    let place = Place::with(&one_agent(""));
    std::fs::create_dir_all(place.path("dotfiles/ssh")).unwrap();
    place.link("home/.ssh", "../dotfiles/ssh");
    let policy = place.load().unwrap();
    assert!(protects(&policy, &place.text("home/.ssh")));
    assert!(protects(&policy, &place.text("dotfiles/ssh")));
}

#[test]
fn the_file_adds_to_the_protected_paths_and_takes_none_away() {
    let place =
        Place::with(&format!("[engine]\nprotected = [\"~/vault\", \"keys\", \"/srv/keys\"]\n{}", one_agent("")));
    let policy = place.load().unwrap();
    for path in ["home/vault", "policy/keys", "home/.ssh"] {
        assert!(protects(&policy, &place.text(path)), "{path}");
    }
    assert!(protects(&policy, "/srv/keys"));
}

#[test]
fn the_file_adds_to_the_sensitive_names_each_once() {
    let sensitive = "sensitive = [\"*.p12\", \"secrets.yaml\", \"*.p12\"]";
    let policy = Place::with(&format!("[engine]\n{sensitive}\n{}", one_agent(""))).load().unwrap();
    let names: Vec<String> = policy.settings.sensitive.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["*.p12", "secrets.yaml"]);
    assert!(Place::with(&one_agent("")).load().unwrap().settings.sensitive.is_empty());
}

#[test]
fn the_file_itself_and_every_link_to_it_are_protected() {
    let place = Place::with(&one_agent(""));
    place.link("home/agents.toml", "../policy/agents.toml");
    let policy = place.file_at("home/agents.toml").load().unwrap();
    assert!(protects(&policy, &place.text("policy/agents.toml")));
    assert!(protects(&policy, &place.text("home/agents.toml")));
}

#[test]
fn a_protected_path_can_be_given_by_its_exact_name() {
    let place = Place::with(&one_agent("permissions = [\"@read:~/.netrc\"]"));
    let netrc: Permission = format!("@read:{}", place.text("home/.netrc")).parse().unwrap();
    assert_eq!(place.load().unwrap().agents["lead"].permissions[0].pinned.permission, netrc);
}
