//! The cases of the engine in `sources/004` about sets, tags, requests and grants, under their original ids.
//!
//! The path cases (A6 to A9, B) run on a real disk in `fs::cases`. These cases are left out, because bestow has no
//! such feature or another part has it:
//!
//! - A7 as a text: a `..` is resolved on the disk or refused, never by text.
//! - E and F as functions that return whether they worked: a tag that cannot be applied cannot be parsed here, which
//!   the rows show.
//! - G1: the five files of the workspace, see `docs/permissions.md`.
//! - L13 and L14 as file names: protected paths are a setting, and the rows set one.
//! - L15 to L19 (applications), L20 to L24 (`@workspace`), L25 to L33 (gates), L34 (domains), L36 to L40 (a database),
//!   L41 and later (the sandbox).

use std::collections::BTreeMap;

use bestow::{
    Answer, Outcome, Permission, PermissionRequest,
    agent::Notification,
    decision::{Check, Decider, Refusal},
    grant::{Access, InvalidPermission, PermissionSet, Permissions, Reads, Scope},
    path::{InvalidPath, InvalidToolPath, sanitize},
};

use crate::support::{World, ask, check, id, mail, policy, refusal, settings, tag, tags, why};

fn set(tags: &[&str]) -> PermissionSet {
    let mut set = PermissionSet::empty("/work".parse().unwrap());
    crate::support::tags(tags).into_iter().for_each(|permission| set.insert(permission));
    set
}

#[test]
fn a_texts_that_are_paths() {
    let long = |length: usize| format!("/{}", "a".repeat(length - 1));
    let rows: [(&str, String, Result<(), InvalidPath>); 13] = [
        ("A1", "/home/user/file.txt".into(), Ok(())),
        ("A1", "/home/my user/file.txt".into(), Ok(())),
        ("A1", "/home/用户/文件.txt".into(), Ok(())),
        ("A2", "/home/a\0b".into(), Err(InvalidPath::Nul)),
        ("A2", "/home/a.txt\0.png".into(), Err(InvalidPath::Nul)),
        ("A3", "/home/a\u{1}".into(), Err(InvalidPath::ControlCharacter)),
        ("A3", "/home/a\u{1f}".into(), Err(InvalidPath::ControlCharacter)),
        ("A4", "/home/a\tb".into(), Ok(())),
        ("A4", "/home/a\nb".into(), Ok(())),
        ("A5", long(5_001), Err(InvalidPath::TooLong)),
        ("A6", long(4_096), Ok(())),
        ("A6", long(4_097), Err(InvalidPath::TooLong)),
        ("A9", "relative\0".into(), Err(InvalidPath::Nul)),
    ];
    for (case, text, expected) in rows {
        assert_eq!(sanitize(&text).map(drop), expected, "{case}");
    }
    assert_eq!("relative".parse::<bestow::path::SanitizedPath>(), Err(InvalidPath::Relative), "A8");
}

#[test]
fn b_containment_is_lexical_by_component() {
    let rows = [
        ("B9", "/base", "/base/child", true),
        ("B9", "/base", "/base/a/b", true),
        ("B9", "/base", "/base", true),
        ("B10", "/base", "/basement", false),
        ("B10", "/base", "/other", false),
        ("W-31", "/base", "/base/..name", true),
    ];
    for (case, base, target, expected) in rows {
        let contains = Permission::read(base.parse().unwrap()).covers(&Permission::read(target.parse().unwrap()));
        assert_eq!(contains, expected, "{case}: {base} {target}");
    }
    assert!("/base/../other".parse::<bestow::path::SanitizedPath>().is_err(), "B10: not by text");
}

#[test]
fn c_tags_that_are_permissions() {
    let path = |text: &str| text.parse().unwrap();
    let rows: [(&str, &str, Result<Permission, InvalidPermission>); 22] = [
        ("C1", "@network", Ok(Permission::Network)),
        ("C1", "@events", Ok(Permission::Events)),
        ("C2", "@read:/tmp", Ok(Permission::read(path("/tmp")))),
        ("C2", "@write:/var/log", Ok(Permission::write(path("/var/log")))),
        ("C3", "read:/tmp", Err(InvalidPermission::UnknownForm)),
        ("C3", "@READ:/tmp", Err(InvalidPermission::UnknownForm)),
        ("C3", "@network:/tmp", Err(InvalidPermission::UnknownForm)),
        ("C3", "", Err(InvalidPermission::UnknownForm)),
        ("1.2", "@read:", Err(InvalidPermission::ReadWithoutPath)),
        ("1.2", "@write: ", Err(InvalidPermission::WriteWithoutPath)),
        ("1.2", "@read:~/x", Err(InvalidPermission::Path(InvalidPath::Relative))),
        ("1.2", "@read:@write:/x", Err(InvalidPermission::Path(InvalidPath::Relative))),
        ("own", "@tool:github/issues ", Ok(Permission::Tool("github/issues".parse().unwrap()))),
        ("own", "@tool:mcp__a.b:c", Ok(Permission::Tool("mcp__a.b:c".parse().unwrap()))),
        ("own", "@tool", Err(InvalidPermission::UnknownForm)),
        ("own", "@tool:", Err(InvalidPermission::Tool(InvalidToolPath::Empty))),
        ("own", "@tool:/github", Err(InvalidPermission::Tool(InvalidToolPath::Level))),
        ("own", "@tool:github//issues", Err(InvalidPermission::Tool(InvalidToolPath::Level))),
        ("own", "@tool:github/../admin", Err(InvalidPermission::Tool(InvalidToolPath::Level))),
        ("own", "@tool:git hub", Err(InvalidPermission::Tool(InvalidToolPath::Character(' ')))),
        ("own", "@tool:a\u{202e}b", Err(InvalidPermission::Tool(InvalidToolPath::Character('\u{202e}')))),
        ("own", "@tool:*", Err(InvalidPermission::Tool(InvalidToolPath::Character('*')))),
    ];
    for (case, text, expected) in rows {
        assert_eq!(text.parse::<Permission>(), expected, "{case}: {text:?}");
    }
}

#[test]
fn d_what_a_set_allows() {
    let rows: [(&str, &[&str], &str, Reads, bool); 16] = [
        ("own", &["@tool:github"], "@tool:github/issues", Reads::Granted, true),
        ("own", &["@tool:github"], "@tool:github-evil", Reads::Granted, false),
        ("own", &["@tool:github/issues"], "@tool:github", Reads::Granted, false),
        ("own", &["@network", "@write:/"], "@tool:github", Reads::Anywhere, false),
        ("D1", &["@network"], "@network", Reads::Granted, true),
        ("D2", &["@events"], "@events", Reads::Granted, true),
        ("D3", &["@read:/data"], "@read:/data/file", Reads::Granted, true),
        ("D4", &[], "@read:/anywhere/file", Reads::Anywhere, true),
        ("D5", &["@write:/tmp"], "@write:/other/file", Reads::Granted, false),
        ("D6", &[], "@write:/work/file", Reads::Granted, false),
        ("D7", &["@write:/tmp"], "@write:/tmp/missing", Reads::Granted, true),
        // Empty lists had four meanings in the source. Here an empty list has one meaning: nothing (W-5, W-6).
        ("W-6", &[], "@read:/work/file", Reads::Granted, false),
        ("W-5", &["@read:/data"], "@read:/elsewhere", Reads::Anywhere, true),
        ("W-5", &["@read:/data"], "@read:/elsewhere", Reads::Granted, false),
        ("D1", &["@events"], "@network", Reads::Anywhere, false),
        ("D2", &["@network"], "@events", Reads::Anywhere, false),
    ];
    for (case, held, wanted, reads, expected) in rows {
        assert_eq!(set(held).covers(&tag(wanted), reads), expected, "{case}");
    }
}

#[test]
fn e_and_h_what_tags_add_to_a_set() {
    let all = set(&["@network", "@events", "@read:/docs", "@write:/out"]);
    let rows = [
        ("E1", "@network", true),
        ("E2", "@events", true),
        ("E3", "@read:/docs", true),
        ("E3", "@read:/out", true),
        ("E3", "@write:/out", true),
        ("H3", "@write:/docs", false),
        ("H3", "@read:/other", false),
    ];
    for (case, wanted, expected) in rows {
        assert_eq!(all.covers(&tag(wanted), Reads::Granted), expected, "{case}: {wanted}");
    }
    for text in ["@read:relative", "@write:/a\0b", "@read:/a\u{7}", &format!("@write:/{}", "a".repeat(5_000))] {
        assert!(text.parse::<Permission>().is_err(), "E4, F4 to F7: {text:?} never gets as far as a set");
    }
}

#[tokio::test]
async fn f_what_an_answer_applies() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let rows = [
        ("F1", "@network", Answer::deny(), Check::NotHeld),
        ("F2", "@events", Answer::allow(), Check::Held),
        ("F3", "@write:/out", Answer::allow(), Check::Held),
    ];
    for (case, wanted, answer, expected) in rows {
        let ticket = ann.request(ask(wanted)).await.unwrap();
        world.you().answer(ticket.id(), answer).await.unwrap();
        assert_eq!(check(&ann, wanted), expected, "{case}");
    }
    assert_eq!(check(&ann, "@read:/out/a"), Check::Held, "F3: and reading");
}

#[test]
fn g_sets_that_are_built() {
    let path = |text: &str| text.parse::<bestow::path::SanitizedPath>().unwrap();
    let default = PermissionSet::for_workspace(path("/ws"), [path("/config/skills")]);
    assert!(default.covers(&tag("@write:/ws/a"), Reads::Granted), "G1");
    assert!(
        !default.covers(&tag("@network"), Reads::Granted) && !default.covers(&tag("@events"), Reads::Granted),
        "G1"
    );
    let cron = PermissionSet::for_cron(&default.clone().union(&set(&["@network", "@events"])), path("/cron/1/files"));
    assert_eq!(cron.working_dir(), &path("/cron/1/files"), "G2");
    assert!(cron.covers(&tag("@network"), Reads::Granted) && !cron.covers(&tag("@events"), Reads::Granted), "G2");
    assert!(cron.covers(&tag("@write:/ws/a"), Reads::Granted), "G2");
    assert!(cron.covers(&tag("@write:/cron/1/files/a"), Reads::Granted), "W-16: its own directory is its own");
    let merged = set(&["@network"]).union(&default);
    assert!(merged.covers(&tag("@network"), Reads::Granted) && merged.covers(&tag("@write:/ws"), Reads::Granted), "G5");
    assert_eq!(merged.working_dir(), &path("/work"), "G7");
}

#[test]
fn h_tags_in_words_and_in_lists() {
    let described: BTreeMap<_, _> = [
        ("@network", "network access"),
        ("@events", "events access (the engine's own socket)"),
        ("@read:/tmp", "read access to \"/tmp\""),
        ("@write:/", "write access to \"/\" (the whole file system)"),
    ]
    .into();
    for (text, words) in described {
        assert_eq!(tag(text).describe().to_string(), words, "H1");
        assert_eq!(tag(text).to_string(), text, "H2");
    }
    let list = Permissions::from_tags([" @network ", "@read:/a", "@network", "@read:/a/"]).unwrap();
    assert_eq!(list.iter().cloned().collect::<Vec<_>>(), tags(&["@network", "@read:/a"]), "H4");
    assert_eq!(
        Permissions::from_tags::<&str>([]),
        Err(bestow::grant::InvalidPermissions::Empty),
        "H5: asking for nothing is a mistake"
    );
    let held = ["@network", "@events", "@read:/docs", "@write:/tmp"];
    let rows: [(&str, &[&str], &[&str], Reads, Option<&str>); 6] = [
        ("H6", &held, &["@network", "@events", "@read:/docs/file", "@write:/tmp/x"], Reads::Granted, None),
        ("H7", &[], &["@network"], Reads::Granted, Some("@network")),
        ("H8", &["@network"], &["@network", "@events"], Reads::Granted, Some("@events")),
        ("H9", &["@write:/tmp"], &["@write:/etc"], Reads::Granted, Some("@write:/etc")),
        ("H10", &["@read:/tmp"], &["@read:/etc"], Reads::Granted, Some("@read:/etc")),
        ("H11", &[], &["@read:/etc"], Reads::Anywhere, None),
    ];
    for (case, held, wanted, reads, missing) in rows {
        assert_eq!(set(held).first_missing(&tags(wanted), reads), missing.map(tag).as_ref(), "{case}");
    }
}

#[tokio::test]
async fn l_requests_end_in_one_of_the_ways_there_are() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let _user = world.engine.connect(id("lead")).unwrap();
    let ann = world.worker("ann", &[]).await;
    let lead = world.engine.agent(id("lead")).unwrap();

    let ticket = ann.request(ask("@network")).await.unwrap();
    assert!(matches!(&mail(&lead.mailbox())[..], [Notification::Carried(_)]), "L8");
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted, "L1, L5");
    assert_eq!(ann.grants().unwrap().len(), 1, "L5: one grant");
    assert!(
        matches!(&mail(&lead.mailbox())[..], [Notification::CarriedResolved(_)]),
        "L10: one notice, since one was pending"
    );

    let ticket = ann.request(ask("@events")).await.unwrap();
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Denied, "L6");
    assert_eq!(ann.grants().unwrap().len(), 1, "L6: no grant");

    let ticket = ann.request(ask("@read:/a")).await.unwrap();
    world.later(300_000).await;
    assert_eq!(ticket.resolution().await.outcome, Outcome::Expired, "L2, L7: not denied");
    mail(&lead.mailbox());
    assert!(
        matches!(refusal(world.you().answer(ticket.id(), Answer::allow()).await), Refusal::AlreadyResolved(_)),
        "W-22"
    );
    assert_eq!(mail(&lead.mailbox()), [], "L10: a late answer leaves no notice");

    let unknown = "018f0000-0000-7000-8000-000000000001".parse().unwrap();
    assert_eq!(refusal(world.you().answer(unknown, Answer::allow()).await), Refusal::UnknownRequest(unknown), "L3");
    let ticket = ann.request(ask("@read:/b")).await.unwrap();
    ann.cancel(ticket.id()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Cancelled, "L4");

    mail(&lead.mailbox());
    let own = lead.request(ask("@network")).await.unwrap();
    world.you().answer(own.id(), Answer::allow()).await.unwrap();
    assert!(!mail(&lead.mailbox()).iter().any(Notification::is_silent), "L9: no notice about its own question");
}

#[tokio::test]
async fn l_what_is_held_is_not_asked() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    assert_eq!(ticket.poll().unwrap().decider, Decider::AlreadyHeld, "L11");
    let both = Permissions::try_from(tags(&["@network", "@events"])).unwrap();
    let ticket = ann.request(PermissionRequest::new(both, why())).await.unwrap();
    let asked: Vec<_> = world.engine.pending().unwrap()[0].request.permissions().cloned().collect();
    assert_eq!(asked, tags(&["@events"]), "L12");
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ann.grants().unwrap().len(), 2, "L12: only the missing one is given");
}

#[tokio::test]
async fn l_protected_files_need_a_line_that_names_them() {
    let world = World::new();
    let strict = settings(|settings| settings.protected = ["/apps/x/APP.md".parse().unwrap()].into());
    let file = policy(strict, &[("broad", "you", &["@write:/apps"]), ("exact", "you", &["@write:/apps/x/APP.md"])]);
    world.engine.configure(file).await.unwrap();
    let rows = [("L13", "broad", Check::NotHeld), ("L14", "exact", Check::Held)];
    for (case, agent, expected) in rows {
        assert_eq!(world.engine.check(&id(agent), &tag("@write:/apps/x/APP.md")), expected, "{case}");
    }
    assert_eq!(world.engine.check(&id("broad"), &tag("@write:/apps/x/other")), Check::Held, "L13");
}

#[tokio::test]
async fn l35_what_was_given_at_run_time_survives_what_is_rebuilt_from_files() {
    let world = World::new();
    let file = || policy(settings(|_| {}), &[("cron", "you", &["@write:/cron"])]);
    world.engine.configure(file()).await.unwrap();
    let cron = world.engine.agent(id("cron")).unwrap();
    world.you().give(cron.id(), tag("@network"), Scope::Always, why()).await.unwrap();
    world.engine.configure(file()).await.unwrap();
    assert_eq!(check(&cron, "@network"), Check::Held, "L35, W-15");
    assert_eq!(cron.check(&Permission::Path(Access::Write, "/cron/a".parse().unwrap())), Check::Held);
}
