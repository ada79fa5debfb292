//! Tests of actions that use a directory as a whole: which of its files count, and what a person is asked.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use bestow::{
    Action, Agent, Answer, Effect, Engine, Kind, Settings,
    action::{Authorization, Operation},
    agent::Mode,
    decision::Verdict,
    grant::Scope,
    host::{DiskPaths, ManualClock, PathFailure, Paths, Real},
    path::{PathGlob, SanitizedPath},
    policy::Rule,
};
use serde_json::json;

use crate::support::{cases, id, policy, profile, real, settings};

/// A project in a repository: `.env` is ignored, `old.key` is tracked, `link` leads to `secrets`.
struct Project {
    _directory: tempfile::TempDir,
    work: PathBuf,
    engine: Engine,
}

fn rule(verdict: Verdict, operation: Option<Operation>, glob: &str) -> Rule {
    crate::support::rule(verdict, operation, Some(glob))
}

fn command(verdict: Verdict, pattern: &str) -> Rule {
    Rule { path: None, command: Some(pattern.parse().unwrap()), ..rule(verdict, None, "/x") }
}

impl Project {
    fn new() -> Project {
        let directory = tempfile::tempdir().unwrap();
        let work = real(directory.path()).join("data/ann/work");
        for name in
            ["src/main.rs", "sub/.env", "secrets/a.txt", "plain/c.rs", ".env", ".env.example", "old.key", "README.md"]
        {
            let path = work.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "SECRET\n").unwrap();
        }
        fs::write(work.join(".gitignore"), ".env\n").unwrap();
        std::os::unix::fs::symlink("secrets", work.join("link")).unwrap();
        let project = Project { _directory: directory, work, engine: Engine::new(Settings::default()).unwrap() };
        project.git(&["init", "-q", "-b", "main", "."]);
        project.git(&["add", "-A"]);
        project.git(&["-c", "user.name=n", "-c", "user.email=a@b.c", "commit", "-qm", "i"]);
        project
    }

    fn git(&self, words: &[&str]) {
        let done = Command::new("git").args(words).current_dir(&self.work).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    }

    fn at(&self, name: &str) -> String {
        self.work.join(name).to_str().unwrap().to_owned()
    }

    async fn agent(&self, mode: Mode, rules: Vec<Rule>) -> Agent {
        let work = self.work.to_str().unwrap();
        let mut file = policy(settings(|_| {}), &[("ann", "you", &[&format!("@write:{work}"), "@network"])]);
        let ann = file.agents.get_mut(&id("ann")).unwrap();
        ann.profile = profile("ann", "you", Kind::Permanent).in_mode(mode);
        ann.profile.working_dir = work.parse().unwrap();
        ann.rules = Arc::from(rules);
        file.settings.reads = bestow::grant::Reads::Anywhere;
        self.engine.configure(file).await.unwrap();
        self.engine.agent(id("ann")).unwrap()
    }
}

fn deny_env() -> Vec<Rule> {
    vec![rule(Verdict::Deny, Some(Operation::Read), "/**/.env")]
}

fn verdict(agent: &Agent, line: &str) -> Effect {
    agent.verdict(&Action::command(line)).unwrap()
}

fn all_are(agent: &Agent, expected: Effect, lines: &[&str]) {
    let others: Vec<_> =
        lines.iter().map(|line| (line, verdict(agent, line))).filter(|(_, is)| *is != expected).collect();
    assert!(others.is_empty(), "not {expected:?}: {others:#?}");
}

#[tokio::test]
async fn a_search_is_judged_by_the_files_that_its_options_select() {
    let project = Project::new();
    let agent = project.agent(Mode::Default, deny_env()).await;
    all_are(
        &agent,
        Effect::Allow,
        &[
            "rg SECRET",
            "rg SECRET .",
            "rg -g '*.rs' SECRET",
            "rg -t rust SECRET",
            "rg -trust SECRET",
            "rg --hidden -g '!.env' SECRET",
            "rg --no-ignore SECRET",
            "grep -rn --include='*.rs' SECRET .",
            "grep -rn --exclude='.env*' SECRET .",
            "grep -rn --exclude=.env SECRET .",
            "grep -rn --exclude-dir=sub SECRET src",
            "git grep SECRET",
            "git grep -n SECRET -- src",
            "git diff",
            "git diff src/main.rs",
            "git diff -U5 src/main.rs",
            "git diff HEAD -- src/main.rs",
            "git status",
            "find . -name '*.rs'",
        ],
    );
    all_are(
        &agent,
        Effect::Ask,
        &[
            "grep -rn SECRET .",
            "grep -rn --include='.e*' SECRET .",
            "grep -rn --include='*.rs' --include='.env' SECRET .",
            "grep -rn --exclude-dir=src SECRET .",
            "grep -rn --exclude='*.rs' SECRET .",
            "rg --hidden --no-ignore SECRET",
            "rg -uu SECRET",
            "rg -nuu SECRET",
            "rg -. --no-ignore SECRET",
            "rg -g '.env' SECRET",
            "rg -g '*' SECRET",
            "rg -t unheard SECRET",
            "git grep --untracked SECRET",
            "diff -r sub plain",
        ],
    );
    all_are(&agent, Effect::Deny, &["cat .env", "rg SECRET .env", "grep x .env", "git diff --no-index /dev/null .env"]);
}

/// A line of an ignore file with a `!` makes a search read a hidden file.
#[tokio::test]
async fn an_agent_that_writes_an_ignore_file_does_not_read_a_denied_file() {
    let project = Project::new();
    let agent = project.agent(Mode::Default, deny_env()).await;
    assert_eq!(verdict(&agent, "rg SECRET"), Effect::Allow);
    fs::write(project.work.join(".ignore"), "!.env\n").unwrap();
    assert_eq!(verdict(&agent, "rg SECRET"), Effect::Ask);
    fs::remove_file(project.work.join(".ignore")).unwrap();
    // The line itself writes the file.
    let allows = ["echo **", "rg **"].map(|pattern| command(Verdict::Allow, pattern));
    let rules = deny_env().into_iter().chain(allows).collect();
    let agent = project.agent(Mode::Default, rules).await;
    assert_eq!(verdict(&agent, "echo '!.env' > .ignore && rg SECRET"), Effect::Ask);
}

#[tokio::test]
async fn no_mode_and_no_allow_rule_skips_the_question_about_a_denied_file() {
    let project = Project::new();
    for mode in [Mode::Bypass, Mode::Auto, Mode::OnRequest] {
        let rules = deny_env().into_iter().chain([command(Verdict::Allow, "grep **")]).collect();
        let agent = project.agent(mode, rules).await;
        assert_eq!(verdict(&agent, "grep -rn SECRET ."), Effect::Ask, "{mode:?}");
        assert_eq!(verdict(&agent, "cat .env"), Effect::Deny, "{mode:?}");
    }
    let agent = project.agent(Mode::Never, deny_env()).await;
    assert_eq!(verdict(&agent, "grep -rn SECRET ."), Effect::Deny);
    let agent = project.agent(Mode::OnFailure, deny_env()).await;
    assert_eq!(verdict(&agent, "grep -rn SECRET ."), Effect::Confined, "the sandbox hides the file");
}

#[tokio::test]
async fn an_approval_of_a_search_lasts_for_the_files_that_it_named() {
    let project = Project::new();
    let agent = project.agent(Mode::Default, deny_env()).await;
    let line = "grep -rn SECRET sub";
    let Authorization::Asked(decision, ticket) = agent.authorize(Action::command(line)).await.unwrap() else {
        panic!("nobody was asked");
    };
    let env = project.at("sub/.env");
    assert!(decision.decision_reason.contains(&env), "{decision}");
    let you = project.engine.approver("you", "ann", "terminal");
    you.answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    assert_eq!(verdict(&agent, line), Effect::Allow);
    fs::create_dir(project.work.join("sub/more")).unwrap();
    fs::write(project.work.join("sub/more/.env"), "x").unwrap();
    assert_eq!(verdict(&agent, line), Effect::Ask, "another denied file is there now");
}

#[tokio::test]
async fn an_explanation_never_advises_to_give_a_denied_path() {
    let project = Project::new();
    let agent = project.agent(Mode::Default, deny_env()).await;
    for line in ["cat .env", "grep -rn SECRET .", "cat /etc/shadow", "cp .env plain"] {
        let explained = agent.explain(&Action::command(line)).unwrap();
        let first = explained.ways_out.first().unwrap();
        assert!(first.starts_with("leave out "), "{line}: {first}");
        for way in &explained.ways_out {
            let advises = way.contains("narrow or remove") || way.contains("name exactly");
            assert!(!advises, "{line}: {way}");
        }
    }
}

#[tokio::test]
async fn what_destroys_is_told_first_whatever_else_denies_it() {
    let project = Project::new();
    let agent = project.agent(Mode::Default, deny_env()).await;
    for line in ["rm -rf /", "rm -rf .", "cat .env; rm -rf /"] {
        let decision = agent.explain(&Action::command(line)).unwrap().decision;
        assert!(decision.decision_reason.to_lowercase().starts_with("destructive"), "{line}: {decision}");
    }
}

#[tokio::test]
async fn a_version_of_a_tracked_file_that_is_denied_is_asked_about() {
    let project = Project::new();
    let agent = project.agent(Mode::Default, vec![rule(Verdict::Deny, Some(Operation::Read), "/**/*.key")]).await;
    all_are(&agent, Effect::Ask, &["git diff", "git show", "git log -p", "git grep SECRET", "git diff HEAD"]);
    all_are(&agent, Effect::Allow, &["git diff --stat", "git log", "git diff README.md", "git status"]);
    // The index lists it without a file.
    fs::remove_file(project.work.join("old.key")).unwrap();
    assert_eq!(verdict(&agent, "git diff"), Effect::Ask, "the difference is the content of the file");
    project.git(&["rm", "-q", "--cached", "old.key"]);
    assert_eq!(verdict(&agent, "git diff"), Effect::Allow);
}

/// An agent may write a file whose name is the value of an option.
#[tokio::test]
async fn a_value_of_an_option_does_not_restrict_what_is_shown() {
    let project = Project::new();
    fs::write(project.work.join("iso"), "x").unwrap();
    fs::write(project.work.join("show"), "x").unwrap();
    let agent = project.agent(Mode::Default, vec![rule(Verdict::Deny, Some(Operation::Read), "/**/*.key")]).await;
    all_are(&agent, Effect::Ask, &["git log -p --date iso", "git log -p --encoding iso", "git stash show -p"]);
}

#[tokio::test]
async fn what_a_line_makes_exists_for_the_rest_of_it() {
    let project = Project::new();
    let cwd = |name: &str| PathGlob::try_from(name.to_owned()).unwrap();
    let allow = |pattern| Rule {
        cwd: Some(bestow::policy::RuleCwd::In(cwd(&format!("{}/**", project.work.display())))),
        ..command(Verdict::Allow, pattern)
    };
    let agent = project.agent(Mode::Default, vec![]).await;
    for line in [
        "mkdir -p dist && cd dist && cp ../README.md .",
        "mkdir a && touch a/../b",
        "mkdir -p pkg && cd pkg && tar xf ../a.tgz",
        "unzip a.zip && cd a && cp ../README.md .",
        "mkdir t; cd t; git init -q; cd ..; rm -rf t",
    ] {
        assert_eq!(verdict(&agent, line), Effect::Ask, "{line}");
    }
    let at_work = cwd(project.work.to_str().unwrap());
    let here =
        |pattern| Rule { cwd: Some(bestow::policy::RuleCwd::In(at_work.clone())), ..command(Verdict::Allow, pattern) };
    let rules = ["mkdir -p **", "cp **", "ln **"].into_iter().flat_map(|pattern| [allow(pattern), here(pattern)]);
    let agent = project.agent(Mode::Default, rules.collect()).await;
    assert_eq!(verdict(&agent, "mkdir -p dist && cd dist && cp ../README.md ."), Effect::Allow);
    // What is certainly another place is not taken for the directory.
    for line in [
        "mkdir -p dist && ln -s /etc dist && cd dist && cp ../shadow .",
        "ln -s /etc d && mkdir -p d/e && cp d/e/../shadow .",
        "ln -s /etc d && cp d/../shadow .",
    ] {
        assert_ne!(verdict(&agent, line), Effect::Allow, "{line}");
    }
}

#[tokio::test]
async fn every_spelling_of_a_critical_directory_is_destructive() {
    let project = Project::new();
    let agent = project.agent(Mode::Bypass, vec![]).await;
    let work = project.work.to_str().unwrap();
    let (above, name) = work.rsplit_once('/').unwrap();
    let home = std::env::home_dir().unwrap();
    let spellings = [
        ".".to_owned(),
        "\"$PWD\"".to_owned(),
        "$PWD/*".to_owned(),
        work.to_owned(),
        format!("{work}/"),
        format!("{work}/*"),
        format!("{work}/."),
        format!("{above}//{name}"),
        format!("{above}/./{name}"),
        format!("{above}/wor?"),
        format!("{work}/src/.."),
        format!("src/../../{name}"),
        format!("../{name}"),
        format!("'{work}'"),
        above.to_owned(),
        "..".to_owned(),
        "~/x/..".to_owned(),
        "~".to_owned(),
        home.to_str().unwrap().to_owned(),
        format!("{}/x/..", home.display()),
    ];
    let lines = |path: &String| {
        [
            format!("rm -rf {path}"),
            format!("rm -r -f -- {path}"),
            format!("x={path}; rm -rf $x"),
            format!("sh -c 'rm -rf {}'", path.replace('\'', "")),
        ]
    };
    for line in spellings.iter().flat_map(lines).chain([
        format!("cd .. && rm -rf {name}"),
        format!("cd {above}; rm -rf {name}"),
        format!("cd src && rm -rf ../../{name}"),
        format!("(cd {above} && rm -rf ./{name}/)"),
    ]) {
        let decision = agent.explain(&Action::command(&line)).unwrap().decision;
        assert_eq!(decision.action.tier, bestow::command::Tier::Destructive, "{line}");
        assert_eq!(decision.decision.verdict(), Effect::Deny, "{line}");
    }
    for line in [
        format!("rm -rf {work}/src"),
        "rm -rf src".to_owned(),
        format!("rm -rf {above}/other"),
        "cd src && rm -rf target".to_owned(),
    ] {
        let decision = agent.explain(&Action::command(&line)).unwrap().decision;
        assert_eq!(decision.action.tier, bestow::command::Tier::Dangerous, "{line}");
    }
}

/// The surfaces through which a line may arrive read it alike.
#[tokio::test]
async fn a_line_means_the_same_as_a_command_and_as_a_tool_call() {
    let project = Project::new();
    let rules = vec![
        rule(Verdict::Deny, None, "/**/.env"),
        rule(Verdict::Deny, None, &format!("{}/**", project.at("secrets"))),
        rule(Verdict::Ask, Some(Operation::Read), "/**/*.key"),
        command(Verdict::Deny, "curl **"),
    ];
    let names = [
        ".",
        "..",
        "src",
        "sub",
        "secrets",
        "link",
        "link/a.txt",
        ".env",
        "missing",
        "missing/..",
        "missing/x",
        "old.key",
        "*",
        ".e*",
        "/etc/passwd",
        "/etc/shadow",
        "plain/../secrets",
    ];
    let programs = [
        "ls",
        "ls -R",
        "find",
        "du -sh",
        "tree",
        "stat",
        "cat",
        "grep -r x",
        "rg x",
        "cp -r plain",
        "rm -r",
        "git diff",
        "git grep x",
        "git checkout",
        "git log -p --",
        "diff -r plain",
        "tar cf o.tar",
        "touch",
        "mkdir -p",
        "cd",
        "frob",
        "head -n 1",
        "wc -l",
    ];
    let mut lines: Vec<String> =
        programs.iter().flat_map(|program| names.iter().map(move |name| format!("{program} {name}"))).collect();
    lines.extend(corpus());
    for mode in [Mode::Default, Mode::Plan] {
        let agent = project.agent(mode, rules.clone()).await;
        for line in &lines {
            let plain = agent.explain(&Action::command(line)).unwrap();
            let tool = Action::tool("Bash".parse().unwrap(), json!({ "command": line }));
            let called = agent.explain(&tool).unwrap();
            let facts = |explained: &bestow::decision::Explanation| {
                let action = &explained.decision.action;
                (explained.decision.decision, action.tier, action.uses.clone(), explained.decision.rule_refs.clone())
            };
            assert_eq!(facts(&plain), facts(&called), "{mode:?} {line}");
        }
    }
}

/// Returns lines of the sets of this project, in an order that spreads over all of them.
fn corpus() -> Vec<String> {
    let directory = Path::new(crate::support::ROOT).join("tests/cases");
    let mut lines = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let cases = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.extend(cases.filter_map(|case| Some(case.get("command")?.as_str()?.to_owned())));
    }
    assert!(lines.len() > 1000, "{}", lines.len());
    lines.sort_unstable();
    let step = (lines.len() / cases(400) as usize).max(1);
    lines.into_iter().step_by(step).collect()
}

/// The disk, where a search ends when another agent has got its answer.
#[derive(Debug)]
struct SlowDisk(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

impl Paths for SlowDisk {
    fn real(&self, path: &str) -> Result<Real, PathFailure> {
        DiskPaths.real(path)
    }

    fn denied_below(
        &self,
        globs: &[PathGlob],
        roots: &[SanitizedPath],
        most: usize,
        counts: &dyn Fn(&SanitizedPath) -> bool,
    ) -> Result<Option<Vec<SanitizedPath>>, PathFailure> {
        let answered = self.0.lock().unwrap().recv_timeout(std::time::Duration::from_secs(20));
        answered.map_err(|_| PathFailure::new("the other agent waited for this search"))?;
        DiskPaths.denied_below(globs, roots, most, counts)
    }
}

/// One thread runs both agents, so that a search on it would delay the other agent.
#[tokio::test(flavor = "current_thread")]
async fn a_search_of_one_agent_delays_no_other_agent() {
    let project = Project::new();
    let (answered, waits) = std::sync::mpsc::channel();
    let clock = Arc::new(ManualClock::at(crate::support::START));
    let disk = Arc::new(SlowDisk(std::sync::Mutex::new(waits)));
    let engine = Engine::on(Settings::default(), clock, disk).unwrap();
    let slow = Project { engine, ..project };
    let agent = slow.agent(Mode::Default, deny_env()).await;
    let other = agent.clone();
    let searching =
        tokio::spawn(async move { agent.authorize(Action::command("grep -rn SECRET plain")).await.unwrap() });
    crate::support::settle().await;
    assert!(other.authorize(Action::command("ls")).await.unwrap().is_allowed());
    answered.send(()).unwrap();
    assert!(searching.await.unwrap().is_allowed());
}
