//! Tests of what `find` selects, and of names that a program is told to leave out.

use std::fs;

use bestow::{Action, Effect, Engine, Settings, action::Operation, agent::Mode};

use super::{all_asked, all_denied, bound, bound_under, deny, ground, none_allowed, none_denied, run_git, verdict};
use crate::support::settings;

#[tokio::test]
async fn a_test_of_find_makes_a_denied_file_a_question() {
    let (_place, work) = ground();
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Default, vec![deny(None, "/**/.env*")]).await;
    let all = [
        "find sub -delete",
        "find sub -type f -delete",
        "find sub -maxdepth 1 -delete -name '*.pyc'",
        "find . -name '.e*' -delete",
    ];
    all_denied(&agent, &all);
    let doubtful = [
        "find . -mtime +3 -delete",
        "find . -size 0 -o -delete",
        "find . -name '.e*' -mtime +3 -delete",
        "find . -not -name .env -delete",
        "find . -name node_modules -prune -exec rm -rf {} +",
        "find . -mmin -1 -exec sed -i s/a/b/ {} +",
    ];
    all_asked(&agent, &doubtful);
    // The names leave out the file, so the reason is another one.
    for line in ["find . -name '*.pyc' -delete", "find sub -type f -name '*.rs' -delete"] {
        let decision = agent.explain(&Action::command(line)).unwrap().decision;
        assert!(!decision.full_reason().contains(".env"), "{line}: {}", decision.full_reason());
    }
}

#[tokio::test]
async fn find_lets_a_program_read_what_it_finds_and_nothing_else() {
    let (_place, work) = ground();
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Default, vec![deny(Some(Operation::Read), "/**/.env*")]).await;
    let known = [
        "find . -name '*.rs' -exec grep -l x {} +",
        "find plain -exec cat {} \\;",
        "find plain sub -name '*.rs' -exec head -n 3 {} \\;",
    ];
    let asked: Vec<_> = known.iter().filter(|line| verdict(&agent, line) != Effect::Allow).collect();
    assert!(asked.is_empty(), "not allowed: {asked:#?}");
    let others = [
        "find . -exec cat {} \\;",
        "find sub -exec grep -l x {} +",
        "find plain -exec wc --files0-from={} \\;",
        "find plain -execdir cat ../.env \\;",
        "find \"$1\" -exec cat {} \\;",
        "find plain -exec cat \"$1\" \\;",
        "find plain -exec cat {}/../../.env \\;",
        "find -files0-from b.rs -exec cat {} +",
        "find plain -exec grep -f .env {} +",
    ];
    none_allowed(&agent, &others);
}

#[tokio::test]
async fn a_protected_file_that_is_missing_is_read_by_nobody() {
    let (_place, work) = ground();
    let protected = settings(|settings| {
        settings.protected = ["plain/.env", "sub/.env"].map(|name| format!("{work}/{name}").parse().unwrap()).into();
    });
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound_under(&engine, &work, Mode::Default, Vec::new(), protected).await;
    let searched = |directory: &str| verdict(&agent, &format!("grep -r x {directory}"));
    assert_eq!(searched("sub"), Effect::Ask, "it is there");
    assert_eq!(searched("plain"), Effect::Allow, "it is not there");
    all_denied(&agent, &["cat plain/.env", "echo x > plain/.env"]);
    fs::write(format!("{work}/plain/.env"), "x").unwrap();
    assert_eq!(searched("plain"), Effect::Ask, "now it is there");
}

#[tokio::test]
async fn a_name_that_a_program_leaves_out_is_no_use() {
    let (_place, work) = ground();
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Default, vec![deny(Some(Operation::Read), "/**/.env*")]).await;
    let left_out = [
        "tar czf a.tgz --exclude=.env plain",
        "tar -czf a.tgz --exclude .env plain",
        "rsync -a --exclude .env plain/ copy",
        "rsync -a --exclude=.env plain/ copy",
    ];
    none_denied(&agent, &left_out);
    let used = [
        "tar czf a.tgz --exclude=b.rs .env",
        "tar czf a.tgz --exclude-from .env plain",
        "tar czf a.tgz --exclude-fr=.env plain",
        "rsync -a --exclude-from=.env plain/ copy",
        "rsync -a --exclude b.rs .env copy",
    ];
    all_denied(&agent, &used);
}

#[tokio::test]
async fn no_glob_takes_back_a_denied_directory_unasked() {
    let (_place, work) = ground();
    fs::write(format!("{work}/.gitignore"), "secrets/\n").unwrap();
    run_git(&work, &["init -q .", "add b.rs"]);
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Default, vec![deny(Some(Operation::Read), "/**/secrets")]).await;
    let lines = [
        "rg -g secrets -g x x",
        "rg -g '{secrets,x}' x",
        "rg -g '[sx]*' x",
        "rg -g secrets/ -g '*' x",
        "rg -g secrets -g 'secrets/**' x",
        "rg -g '!y' -g 's*' -g x x",
        "rg --iglob SECRETS --iglob X x",
        "rg -g 'secrets ' -g 'x ' x",
    ];
    all_asked(&agent, &lines);
    let fine = ["rg x", "rg -g '*.rs' x", "rg -g x x"];
    let asked: Vec<_> = fine.iter().filter(|line| verdict(&agent, line) != Effect::Allow).collect();
    assert!(asked.is_empty(), "not allowed: {asked:#?}");
}

#[tokio::test]
async fn no_search_of_git_tells_what_a_denied_file_contains() {
    let (_place, work) = ground();
    run_git(&work, &["init -q .", "add -f .env b.rs", "-c user.email=a@b -c user.name=a commit -q -m x"]);
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Default, vec![deny(Some(Operation::Read), "/**/.env")]).await;
    let lines = [
        "git log -G '^x$' --name-only --format=%h",
        "git log -Sx --format=%h",
        "git log -S x --oneline",
        "git log --pickaxe-regex -S '^x' --stat",
        "git diff --name-only -G '^x' HEAD",
    ];
    all_asked(&agent, &lines);
    let fine = ["git log --oneline", "git log -S x --oneline -- b.rs", "git log --grep x --stat"];
    let asked: Vec<_> = fine.iter().filter(|line| verdict(&agent, line) != Effect::Allow).collect();
    assert!(asked.is_empty(), "not allowed: {asked:#?}");
}

#[tokio::test]
async fn a_reason_names_the_sensitive_name_above_which_a_permission_ends() {
    let (_place, work) = ground();
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Default, Vec::new()).await;
    let why = |path: &str| {
        let action = Action::write(&format!("{work}/{path}"));
        agent.explain(&action).unwrap().decision.full_reason()
    };
    let sensitive = why(".github/workflows/ci.yml");
    assert!(sensitive.contains("/.github/workflows` has a sensitive name"), "{sensitive}");
    let outside = agent.explain(&Action::write("/elsewhere/.github/workflows/x")).unwrap().decision;
    assert!(!outside.full_reason().contains("sensitive name"), "{}", outside.full_reason());
}

#[tokio::test]
async fn a_question_names_each_file_once_with_what_is_against_it() {
    let (_place, work) = ground();
    let protected = settings(|settings| settings.protected = [format!("{work}/secrets/x").parse().unwrap()].into());
    let engine = Engine::new(Settings::default()).unwrap();
    let rules = vec![deny(Some(Operation::Read), "/**/.env"), deny(None, "/**/.env*")];
    let agent = bound_under(&engine, &work, Mode::Default, rules, protected).await;
    let reason = agent.explain(&Action::command("grep -r x .")).unwrap().decision.full_reason();
    let files = reason.split(';').next().unwrap();
    assert_eq!(files.matches("/sub/.env`").count(), 1, "{files}");
    assert!(files.contains("/secrets/x`, which is protected"), "{files}");
    assert!(files.contains(".env`, which a rule denies"), "{files}");
}
