//! One table of sensitive names (A5): the classifier, the engine, the record and the sandbox agree about every row.

use bestow::{
    Action, Engine, InitialGrants, Kind,
    command::internal::sensitive_examples,
    command::{Profile, Tier, classify_tool},
    decision::{Check, Verdict},
    grant::Reads,
    host::ManualClock,
};
use std::sync::Arc;

use crate::support::{START, World, profile, settings, tag, tags};

/// Names that the classifier called dangerous, and the engine allowed without a request.
const DISAGREED: [&str; 17] = [
    ".netrc",
    ".pypirc",
    ".ssh/authorized_keys",
    ".aws/config",
    ".kube/config",
    ".docker/config.json",
    ".vimrc",
    "store.p12",
    "store.pfx",
    ".tmux.conf",
    ".pgpass",
    ".htpasswd",
    ".vault-token",
    "prod.env",
    "crontab",
    ".hooks/pre-push",
    "aws-credentials.json",
];

/// Names of files that programs obey: a safe program runs the commands in them.
const OBEYED: [&str; 15] = [
    ".cargo/config.toml",
    ".cargo/config",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "rust-toolchain.toml",
    "rust-toolchain",
    ".mvn/jvm.config",
    ".mise.toml",
    ".envrc",
    ".npmrc",
    ".husky/pre-commit",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".gradle/init.d/x.gradle",
    "gradle.properties",
];

/// Names of files that coding agents write all day.
const PLAIN: [&str; 12] = [
    "package.json",
    "Makefile",
    "Cargo.toml",
    "Cargo.lock",
    "src/main.rs",
    "src/config.rs",
    "docs/environment.md",
    "build.gradle",
    ".gitignore",
    ".github/ISSUE_TEMPLATE/bug.md",
    "src/keys/mod.rs",
    "config/app.toml",
];

#[tokio::test]
async fn a_write_that_the_classifier_calls_dangerous_is_not_allowed_unasked_by_a_broad_permission() {
    let world = World::new();
    let agent = world.worker("a", &["@write:/work"]).await;
    for path in DISAGREED.iter().chain(&OBEYED).map(|name| format!("/work/project/{name}")) {
        let call = classify_tool("write", &serde_json::json!({ "path": path }));
        assert_eq!(call.tier, Tier::Dangerous, "{path}");
        assert_ne!(agent.verdict(&Action::write(&path)).unwrap(), Verdict::Allow, "{path}");
    }
    for path in PLAIN.map(|name| format!("/work/project/{name}")) {
        let call = classify_tool("write", &serde_json::json!({ "path": path }));
        assert_eq!(call.tier, Tier::Safe, "{path}");
        assert_eq!(agent.verdict(&Action::write(&path)).unwrap(), Verdict::Allow, "{path}");
    }
}

/// The property over all rows: the classifier and the engine agree.
#[tokio::test]
async fn classifier_and_engine_agree_about_every_row_of_the_table() {
    let clock = Arc::new(ManualClock::at(START));
    let engine = Engine::on(settings(|_| {}), clock, Arc::new(bestow::host::AsWritten)).unwrap();
    let agent =
        engine.register(profile("a", "you", Kind::Subagent), InitialGrants::of(tags(&["@write:/"]))).await.unwrap();
    let rows = sensitive_examples();
    assert!(rows.len() > 100, "{}", rows.len());
    for (path, is_secret, _) in rows {
        for path in [path.clone(), path.to_ascii_uppercase()] {
            let call = classify_tool("write", &serde_json::json!({ "path": path }));
            assert_eq!(call.tier, Tier::Dangerous, "{path}");
            assert_ne!(agent.verdict(&Action::write(&path)).unwrap(), Verdict::Allow, "{path}");
        }
        let strict = bestow::command::Classifier::new(Profile::Strict);
        let read = strict.classify_tool("read", &serde_json::json!({ "path": path }));
        assert!(!is_secret || read.tier == Tier::Dangerous, "{path}");
    }
}

#[tokio::test]
async fn the_record_of_writing_a_secret_by_a_permission_that_names_it_says_dangerous() {
    let world = World::new();
    let agent = world.worker("a", &["@write:/work", "@write:/work/.env"]).await;
    let decided = agent.authorize(Action::write("/work/.env")).await.unwrap();
    assert!(decided.is_allowed(), "{decided:?}");
    assert_eq!(decided.decision().action.tier, Tier::Dangerous);
    let decided = agent.authorize(Action::write("/work/notes")).await.unwrap();
    assert!(decided.is_allowed());
    assert_eq!(decided.decision().action.tier, Tier::Safe);
}

#[tokio::test]
async fn names_that_a_person_adds_are_in_the_record_too() {
    let world = World::with(|settings| settings.sensitive = ["deploy.yaml".parse().unwrap()].into());
    let agent = world.worker("a", &["@write:/work", "@write:/work/deploy.yaml"]).await;
    let decided = agent.authorize(Action::write("/work/deploy.yaml")).await.unwrap();
    assert!(decided.is_allowed());
    assert_eq!(decided.decision().action.tier, Tier::Dangerous);
    assert_ne!(agent.verdict(&Action::write("/work/b/deploy.yaml")).unwrap(), Verdict::Allow);
}

#[tokio::test]
async fn a_permission_to_everything_writes_nothing_of_the_system() {
    let world = World::with(|settings| settings.reads = Reads::Anywhere);
    let all = world.worker("all", &["@write:/"]).await;
    for path in ["/etc/hosts", "/usr/bin/ls", "/boot/vmlinuz", "/bin/sh", "/var/spool/cron/root"] {
        assert_ne!(all.verdict(&Action::write(path)).unwrap(), Verdict::Allow, "{path}");
    }
    let named = world.worker("named", &["@write:/usr/local", "@write:/etc"]).await;
    assert_eq!(named.verdict(&Action::write("/usr/local/src/x.c")).unwrap(), Verdict::Allow);
    assert_eq!(named.verdict(&Action::write("/etc/motd")).unwrap(), Verdict::Allow);
    assert_ne!(named.verdict(&Action::write("/etc/passwd")).unwrap(), Verdict::Allow, "it starts the system");
    assert_eq!(named.check(&tag("@write:/etc/motd")), Check::Held);
}
