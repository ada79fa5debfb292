//! Tests of commands of agents: the engine's decision is what the child can do, and the facts report it.

use std::sync::Arc;

use bestow::{
    Action, Agent, Answer, Effect, Engine, Error, Event, InitialGrants, Kind, Permission, Profile, Settings,
    action::Authorization,
    agent::Mode,
    decision::{DecisionSource, Refusal, Ruled, Verdict},
    event::{BlockedAccess, SandboxFacts, Timestamp},
    grant::Scope,
    host::{DiskPaths, ManualClock},
    path::SanitizedPath,
    policy::Rule,
    sandbox::{Command, ExecError, Sandbox},
};

use proptest::prelude::Rng;

use super::ground::{Ground, shown, with_bubblewrap};
use crate::support::rule;

pub(super) struct Host {
    pub(super) engine: Engine,
    pub(super) agent: Agent,
}

fn write(path: &str) -> Permission {
    Permission::write(path.parse().unwrap())
}

pub(super) async fn host(ground: &Ground, protected: &[&str]) -> Host {
    let mut settings = Settings::default();
    settings.protected = protected.iter().map(|path| ground.world.text(path).parse().unwrap()).collect();
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
    let engine = Engine::on(settings, clock, Arc::new(DiskPaths)).unwrap();
    let stands = ground.world.workspace().parse().unwrap();
    let profile = Profile::new("worker".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
    // These tests concern the abilities of commands, not the requests about them.
    let profile = profile.in_mode(Mode::Bypass);
    let held = InitialGrants::of([write(&ground.world.workspace()), Permission::Network]);
    let agent = engine.register(profile, held).await.unwrap();
    Host { engine, agent }
}

pub(super) fn alone(test: impl Future) {
    // The runtime uses only this thread, because the threads of a larger runtime would have another user.
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

pub(super) fn sh(line: &str) -> Command {
    Command::new("sh").args(["-c", line])
}

#[test]
fn a_command_has_nothing_of_its_agent_but_what_is_named() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let workspace = write(&ground.world.workspace());
            let before = host.agent.permissions().unwrap();
            let sandbox: &Sandbox = &ground.sandbox;
            let done = host.agent.exec(sandbox, sh("echo x > new"), &[]).await.unwrap();
            assert_ne!(done.code, Some(0), "{ground}");
            let done = host.agent.exec(sandbox, sh("echo x > new"), &[workspace]).await.unwrap();
            assert_eq!(done.code, Some(0), "{ground}: {}", shown(&done.stderr.bytes));
            let refused = host.agent.exec(sandbox, sh("true"), &[write("/etc")]).await;
            assert!(matches!(refused, Err(ExecError::Engine(Error::Refused(Refusal::NotHeld { .. })))), "{refused:?}");
            let hooks = [write(&ground.world.text("workspace/.git/hooks"))];
            let refused = host.agent.exec(sandbox, sh("true"), &hooks).await;
            assert!(
                matches!(refused, Err(ExecError::Engine(Error::Refused(Refusal::Sensitive { .. })))),
                "{refused:?}"
            );
            assert_eq!(before, host.agent.permissions().unwrap());
        });
    });
}

/// The attack: a confined command makes a repository, or a file for a tool chain, that leads a command which "only
/// reads" to a program. That command is not confined.
#[test]
fn what_a_confined_command_made_leads_no_command_astray_unasked() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let here = ground.world.workspace();
            let git = |words: &str| {
                let done =
                    std::process::Command::new("git").args(words.split(' ')).current_dir(&here).output().unwrap();
                assert!(done.status.success(), "{words}: {done:?}");
            };
            git("init -q .");
            git("update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,vendor/lib");
            let stands = here.parse().unwrap();
            let profile = Profile::new("other".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
            let other = host.engine.register(profile, InitialGrants::nothing()).await.unwrap();
            let verdict = |line: &str| other.verdict(&Action::command(line)).unwrap();
            std::fs::create_dir_all(format!("{here}/before")).unwrap();
            std::fs::write(format!("{here}/rust-toolchain.toml"), "[toolchain]\n").unwrap();
            let lines = ["git -C planted status", "cargo --version", "cd planted && git log"];
            assert!(
                lines[1..2].iter().all(|line| verdict(line) == Effect::Allow),
                "{ground}: nothing was confined yet"
            );
            let plant = "mkdir planted && cd planted && mkdir -p .git/objects .git/refs && echo ref: refs/heads/x > \
                         .git/HEAD && printf '[core]\\nfsmonitor = \"touch /tmp/planted; false\"\\n' > .git/config";
            let done = host.agent.exec(&ground.sandbox, sh(plant), &[write(&here)]).await.unwrap();
            assert_eq!(done.code, Some(0), "{ground}: {}", shown(&done.stderr.bytes));
            for line in lines {
                assert_eq!(verdict(line), Effect::Ask, "{ground}: {line}");
                let why = other.explain(&Action::command(line)).unwrap().to_string();
                assert!(why.contains("which a confined command may have made"), "{why}");
            }
            let plant = plant.replace("planted", "vendor/lib").replace("mkdir vendor", "mkdir -p vendor");
            let in_submodules = ["git status", "git diff --stat", "git submodule status"];
            assert!(in_submodules.iter().all(|line| verdict(line) == Effect::Allow), "{ground}");
            let done = host.agent.exec(&ground.sandbox, sh(&plant), &[write(&here)]).await.unwrap();
            assert_eq!(done.code, Some(0), "{ground}: {}", shown(&done.stderr.bytes));
            for line in in_submodules {
                assert_eq!(verdict(line), Effect::Ask, "{ground}: {line}");
            }
            std::fs::remove_dir_all(format!("{here}/vendor")).unwrap();
            // The place of `.git` at the top was held.
            for line in ["git status", "cd before && git status", "ls planted", "cat planted/.git/HEAD"] {
                assert_eq!(verdict(line), Effect::Allow, "{ground}: {line}");
            }
        });
    });
}

/// The attack: the line names denied files where the sandbox does not look them up, or files that a rule asks about.
#[test]
fn a_line_that_names_what_its_sandbox_cannot_hide_does_not_run_unasked() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let here = ground.world.workspace();
            let outside = ground.world.text("outside");
            for place in [&here, &outside] {
                std::fs::create_dir_all(format!("{place}/asked")).unwrap();
                std::fs::write(format!("{place}/.env"), "SECRET").unwrap();
                std::fs::write(format!("{place}/asked/f"), "ASKED").unwrap();
            }
            // More denied files than a question names.
            for number in 0..40 {
                std::fs::create_dir_all(format!("{outside}/many/{number}")).unwrap();
                std::fs::write(format!("{outside}/many/{number}/.env"), "SECRET").unwrap();
            }
            let mut file = crate::support::policy(Settings::default(), &[("far", "you", &[])]);
            let far = file.agents.get_mut(&crate::support::id("far")).unwrap();
            far.profile.working_dir = here.parse().unwrap();
            far.rules = Arc::from([
                rule(Verdict::Deny, None, Some("/**/.env")),
                rule(Verdict::Ask, None, Some("/**/asked/**")),
                // A rule about a command is not looked up by the sandbox.
                Rule { command: Some("grep **".parse().unwrap()), ..rule(Verdict::Deny, None, Some("/**/asked/f")) },
            ]);
            host.engine.configure(file).await.unwrap();
            let far = host.engine.agent(crate::support::id("far")).unwrap();
            for line in [
                format!("cat {outside}/.en?"),
                format!("grep -r SECRET {outside}"),
                format!("grep -r SECRET {outside}/many"),
                format!("find {outside} -name .env -exec cat {{}} +"),
                format!("cat {outside}/asked/f"),
                "grep -r ASKED .".to_owned(),
                "cat as*/f".to_owned(),
            ] {
                let done = far.exec(&ground.sandbox, sh(&line), &[]).await;
                assert!(done.is_err(), "{ground}: {line}: {done:?}");
            }
            // Below its own directory, the sandbox hides what is denied.
            let hidden = far.exec(&ground.sandbox, sh("grep -rs SECRET --exclude-dir=asked . || cat .en?"), &[]).await;
            assert!(hidden.is_ok_and(|done| !shown(&done.stdout.bytes).contains("SECRET")), "{ground}");
        });
    });
}

#[test]
fn run_confines_a_command_to_the_workspace_that_its_agent_holds() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let (here, part) = (ground.world.workspace(), ground.world.text("workspace/part"));
            std::fs::create_dir(&part).unwrap();
            assert_eq!(host.agent.workspace().unwrap().unwrap().as_str(), here);
            let done = host.agent.run(&ground.sandbox, sh("echo x > new && ! echo x > ../outside/new")).await.unwrap();
            assert_eq!(done.code, Some(0), "{ground}: {}", shown(&done.stderr.bytes));
            assert!(!done.facts.network);
            let other = |id: &str, held: Vec<Permission>| {
                let stands = here.parse().unwrap();
                let profile = Profile::new(id.parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
                host.engine.register(profile.in_mode(Mode::Bypass), InitialGrants::of(held))
            };
            // An agent that may write nowhere runs it read-only.
            let reader = other("reader", vec![]).await.unwrap();
            assert_eq!(reader.workspace().unwrap(), None);
            let done = reader.run(&ground.sandbox, sh("echo x > again")).await.unwrap();
            assert_ne!(done.code, Some(0), "{ground}");
            // The only place that it may write is meant; of two, neither is.
            let partly = other("partly", vec![write(&part)]).await.unwrap();
            assert_eq!(partly.workspace().unwrap().unwrap().as_str(), part);
            let outside = ground.world.text("outside");
            let both = other("both", vec![write(&part), write(&outside)]).await.unwrap();
            let why = both.run(&ground.sandbox, sh("true")).await.unwrap_err().to_string();
            assert!(why.contains(&part) && why.contains(&outside) && why.contains("Agent::exec"), "{why}");
        });
    });
}

#[test]
fn what_was_in_force_is_one_fact_and_agrees_with_the_child() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &["outside/secret"]).await;
            let mut events = host.engine.subscribe();
            let named = [write(&ground.world.workspace())];
            let done = host
                .agent
                .exec(&ground.sandbox, sh("cat /proc/self/status /proc/self/mountinfo"), &named)
                .await
                .unwrap();
            let told = shown(&done.stdout.bytes);
            let decided = events.next().await.unwrap();
            let Event::Evaluated { decision } = &decided.event else { panic!("{decided:?}") };
            let recorded = events.next().await.unwrap();
            let Event::SandboxApplied { agent, facts, cause, .. } = &recorded.event else { panic!("{recorded:?}") };
            assert_eq!(cause.as_ref().map(|cause| cause.decision), decision.id, "the facts join");
            assert_eq!((agent, facts.as_ref()), (host.agent.id(), &done.facts));
            let facts: &SandboxFacts = facts;
            let enforced = if facts.not_there.is_empty() { "full" } else { "partial" };
            assert_eq!((facts.backend.as_str(), facts.enforced.as_str()), ("bubblewrap", enforced));
            assert!(facts.no_new_privs && facts.seccomp_filters >= 2 && facts.landlock_abi.is_some(), "{facts:?}");
            assert!(told.contains(&format!("Seccomp_filters:\t{}", facts.seccomp_filters)), "{told}");
            assert!(told.contains(&format!("CapEff:\t{}", facts.capabilities)));
            let options = |path: &str| {
                let mut mounts = told.lines().filter(|line| line.split(' ').nth(4) == Some(path));
                mounts.next_back().and_then(|line| line.split(' ').nth(5)).unwrap_or_default().to_owned()
            };
            for root in &facts.write_roots {
                assert!(options(root.as_str()).starts_with("rw"), "{root}");
            }
            for path in facts.read_only.iter().chain(&facts.read_roots).chain(&facts.hidden) {
                assert!(options(path.as_str()).starts_with("ro"), "{path}: {told}");
            }
            assert_eq!(facts.environment, ["LANG", "PATH", "TMPDIR"]);
            assert_eq!(facts.argv_digest.len(), 64);
            assert_eq!(host.engine.subscribe().next().now_or_never(), None);
        });
    });
}

/// Returns the next event if it is already there.
trait NowOrNever: Future {
    fn now_or_never(self) -> Option<Self::Output>;
}

impl<F: Future> NowOrNever for F {
    fn now_or_never(self) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(self).poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }
}

#[test]
fn a_violation_is_told_with_evidence_and_an_ordinary_failure_is_not_one() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &["outside/dir"]).await;
            let mut events = host.engine.subscribe();
            let exec = |line: String| host.agent.exec(&ground.sandbox, sh(&line), &[]);
            let missing = exec("cat none".to_owned()).await.unwrap();
            assert!(missing.violations.is_empty() && !missing.possible_sandbox_denial, "{missing:?}");
            let outside = ground.world.text("outside/new");
            let wrote = exec(format!("echo x > {outside}")).await.unwrap();
            let [violation] = &wrote.violations[..] else { panic!("{wrote:?}") };
            assert_eq!(violation.access.path().map(SanitizedPath::as_str), Some(&*outside));
            assert_eq!(violation.rule, "it is below no write root");
            assert!(violation.evidence.contains("Read-only file system"), "{violation:?}");
            let hidden = format!("cat {}/dir/$(echo S | tr S s)", ground.world.text("outside"));
            let hidden = exec(hidden).await.unwrap();
            assert_eq!(hidden.violations[0].rule, "it is protected");
            let fetched = exec("git ls-remote https://code.example.invalid/x".to_owned()).await.unwrap();
            let [violation] = &fetched.violations[..] else { panic!("{fetched:?}") };
            assert_eq!(violation.access, BlockedAccess::Host("code.example.invalid".parse().unwrap()), "{violation:?}");
            let kinds = std::iter::from_fn(|| events.next().now_or_never()).map(|event| event.unwrap().event.kind());
            let kinds: Vec<_> = kinds.collect();
            let ended = ["permission.evaluated", "sandbox.applied", "sandbox.ended"];
            let kept = ["permission.evaluated", "sandbox.applied", "sandbox.violation", "sandbox.ended"];
            assert_eq!(kinds, [&ended[..], &kept, &kept, &kept].concat());
        });
    });
}

/// Returns two hundred random paths: existing and missing, inside and outside, up and down, through links.
fn wild_paths(ground: &Ground) -> Vec<String> {
    const PARTS: [&str; 16] = [
        "workspace",
        "outside",
        "repo",
        "src",
        "lib.rs",
        "in",
        "out",
        "..",
        "..",
        ".",
        "f",
        "secret",
        "new",
        ".git",
        "config",
        "dir",
    ];
    let mut rng = proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
    let mut wild = || {
        let length = 1 + rng.next_u32() as usize % 5;
        let parts: Vec<_> = (0..length).map(|_| PARTS[rng.next_u32() as usize % PARTS.len()]).collect();
        ground.world.text(&format!("workspace/{}", parts.join("/")))
    };
    // A command may change a `.git` that it created itself below the top (`docs/security.md`).
    std::iter::from_fn(|| Some(wild()))
        .filter(|path| !path.contains(".git") || path.ends_with("config"))
        .take(200)
        .collect()
}

#[test]
fn files_and_commands_of_one_agent_get_the_same_answer() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &["outside/secret", "workspace/repo/own.toml"]).await;
            ground.world.link("repo", "workspace/in");
            ground.world.link(ground.path("outside"), "workspace/out");
            let mut paths = wild_paths(ground);
            for dir in
                ["workspace", "workspace/repo", "workspace/.git", "workspace/.git/hooks", "outside", "outside/dir"]
            {
                for name in ["a", "f", "config", "own.toml", "secret", "new file", "é", "old", "s", "x.d", "..hidden"]
                {
                    paths.push(ground.world.text(&format!("{dir}/{name}")));
                }
            }
            // A line that names a protected path would not run at all.
            std::fs::write(ground.path("workspace/list"), paths.join("\n") + "\n").unwrap();
            let line =
                "while IFS= read -r p; do if (: >> \"$p\") 2>/dev/null; then echo yes; else echo no; fi; done < list";
            let command = sh(line);
            let named = [write(&ground.world.workspace())];
            let done = host.agent.exec(&ground.sandbox, command, &named).await.unwrap();
            let told = shown(&done.stdout.bytes);
            assert_eq!(told.lines().count(), paths.len());
            assert!(told.lines().filter(|line| *line == "yes").count() > 20, "{told}");
            for (path, by_command) in paths.iter().zip(told.lines()) {
                let by_file = host.agent.fs().write(path, "x").await;
                assert_eq!(by_command == "yes", by_file.is_ok(), "{ground}: {path}: {by_command}, {by_file:?}");
            }
        });
    });
}

/// The attack: a profile created before the denial is used after it.
#[test]
fn what_is_denied_by_name_after_a_profile_was_made_is_kept_from_its_command_too() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let profile = host.agent.sandbox_profile(&[write(&ground.world.workspace())]).unwrap();
            let exec = |line: &str| host.agent.exec_under(&ground.sandbox, profile.clone(), sh(line));
            assert_eq!(exec("mkdir private && echo x > private/a").await.unwrap().code, Some(0), "{ground}");
            let run = "night".parse().unwrap();
            host.engine.begin_run(host.agent.id(), "night".parse().unwrap()).await.unwrap();
            let you = host.engine.approver("you", "ann", "terminal");
            let denied = bestow::path::PathGlob::at(
                "private",
                &ground.world.workspace().parse().unwrap(),
                bestow::path::Reach::Below,
            );
            let policies = bestow::tool::ToolPolicies { forbidden: vec![denied.unwrap()], ..Default::default() };
            you.set_policies(&run, None, policies).await.unwrap();
            for line in ["echo y > private/b", "cat private/a", "mv private other"] {
                assert!(exec(line).await.unwrap_err().to_string().contains("denied by a policy"), "{ground}: {line}");
            }
            // The sandbox protects paths that the line does not name.
            let unnamed = "d=$(echo Private | tr P p); ";
            for line in ["echo y > $d/b", "cat $d/a", "mv $d other"].map(|line| format!("{unnamed}{line}")) {
                let done = exec(&line).await.unwrap();
                assert_ne!(done.code, Some(0), "{ground}: {line}");
                assert_eq!(shown(&done.stdout.bytes), "", "{ground}: {line}");
            }
            assert!(ground.path("workspace/private/a").exists() && !ground.path("workspace/private/b").exists());
        });
    });
}

/// Finding A14.
#[test]
fn what_a_denied_glob_means_is_kept_from_a_command_that_does_not_name_it() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            std::fs::create_dir_all(ground.path("workspace/deep/down")).unwrap();
            std::fs::write(ground.path("workspace/deep/down/one.secret"), "hush").unwrap();
            let run: bestow::agent::RunId = "night".parse().unwrap();
            host.engine.begin_run(host.agent.id(), run.clone()).await.unwrap();
            let you = host.engine.approver("you", "ann", "terminal");
            let workspace = ground.world.workspace();
            let glob = |text| {
                bestow::path::PathGlob::at(text, &workspace.parse().unwrap(), bestow::path::Reach::Below).unwrap()
            };
            let policies = bestow::tool::ToolPolicies { forbidden: vec![glob("**/*.secret")], ..Default::default() };
            let exec = |line: &'static str| host.agent.exec(&ground.sandbox, sh(line), &[]);
            let line = "cd deep/down; for f in $(ls); do cat $f; done";
            assert_eq!(shown(&exec(line).await.unwrap().stdout.bytes), "hush", "{ground}");
            you.set_policies(&run, None, policies).await.unwrap();
            assert_eq!(shown(&exec(line).await.unwrap().stdout.bytes), "", "{ground}");
            assert!(exec("cat deep/down/one.secret").await.is_err(), "{ground}: a line that names it does not run");
        });
    });
}

#[test]
fn a_command_is_decided_before_it_runs_and_a_yes_is_for_just_that_one() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let stands = ground.world.workspace().parse().unwrap();
            let profile = Profile::new("careful".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
            let agent =
                host.engine.register(profile, InitialGrants::of([write(&ground.world.workspace())])).await.unwrap();
            let you = host.engine.approver("you", "ann", "terminal");
            let profile = agent.sandbox_profile(&[write(&ground.world.workspace())]).unwrap();
            let exec = |line: &str| agent.exec_under(&ground.sandbox, profile.clone(), sh(line));
            let refused = exec("echo x > new").await;
            let Err(ExecError::Engine(Error::Refused(Refusal::NotAllowed(decision)))) = &refused else {
                panic!("{refused:?}")
            };
            assert_eq!(decision.decision, Ruled::Ask, "{decision}");
            let Ok(Authorization::Asked(_, ticket)) =
                agent.authorize(profile.action(&sh("echo x > new")).unwrap()).await
            else {
                panic!("a dangerous command asks")
            };
            you.answer(ticket.id(), Answer::allow()).await.unwrap();
            assert!(exec("echo y > new").await.is_err(), "another command");
            let with_env = sh("echo x > new").env("LD_PRELOAD", "/tmp/x.so");
            assert!(agent.exec_under(&ground.sandbox, profile.clone(), with_env).await.is_err(), "another environment");
            let mut more = profile.limits().clone();
            more.time = Some(std::time::Duration::from_secs(240));
            for other in [profile.clone().limited(more), profile.clone().without_guard()] {
                let run = agent.exec_under(&ground.sandbox, other, sh("echo x > new")).await;
                assert!(run.is_err(), "another profile");
            }
            let reading = sh("echo x > new").inheriting();
            assert!(agent.exec_under(&ground.sandbox, profile.clone(), reading).await.is_err(), "other input");
            assert!(!ground.path("workspace/new").exists());
            assert_eq!(exec("echo x > new").await.unwrap().code, Some(0));
            assert!(ground.path("workspace/new").exists());
            assert!(exec("echo x > new").await.is_err(), "a second time");
            let gone = exec("rm -rf ~").await;
            let Err(ExecError::Engine(Error::Refused(Refusal::NotAllowed(decision)))) = &gone else {
                panic!("{gone:?}")
            };
            assert_eq!(decision.decision, Ruled::Deny, "{decision}");
            assert!(decision.action.destructive.is_some());
        });
    });
}

#[test]
fn in_mode_on_failure_only_what_the_sandbox_kept_it_from_can_be_asked_for() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let stands = ground.world.workspace().parse().unwrap();
            let profile = Profile::new("bold".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
            let agent = host.engine.register(profile.in_mode(Mode::OnFailure), InitialGrants::nothing()).await.unwrap();
            let _you = host.engine.approver("you", "ann", "test").attend().unwrap();
            let outside = ground.world.text("outside/new");
            let wanted = || Action::write(&outside);
            assert!(matches!(agent.authorize(wanted()).await.unwrap(), Authorization::Denied(_)), "nothing failed yet");
            let mut events = host.engine.subscribe();
            // The command is dangerous and causes no request. It runs confined.
            let done = agent.exec(&ground.sandbox, sh(&format!("echo x > {outside}")), &[]).await.unwrap();
            assert!(done.code != Some(0) && done.violations.len() == 1, "{done:?}");
            assert!(
                matches!(agent.authorize(wanted()).await.unwrap(), Authorization::Asked(..)),
                "it was kept from it"
            );
            let elsewhere = agent.authorize(Action::write(&ground.world.text("outside/other"))).await.unwrap();
            assert!(matches!(elsewhere, Authorization::Denied(_)), "it was not kept from that");
            let told: Vec<_> = std::iter::from_fn(|| events.next().now_or_never()).map(Result::unwrap).collect();
            let kinds: Vec<_> = told.iter().map(|recorded| recorded.event.kind()).collect();
            let in_order = [
                "permission.evaluated",
                "sandbox.applied",
                "sandbox.violation",
                "sandbox.ended",
                "permission.evaluated",
                "permission.requested",
            ];
            assert_eq!(kinds[..6], in_order, "{kinds:?}");
            let Event::Evaluated { decision } = &told[0].event else { panic!("{:?}", told[0]) };
            assert_eq!((decision.decision, decision.decision_source), (Ruled::Sandboxed, DecisionSource::Mode));
            let causes = told.iter().filter_map(|recorded| match &recorded.event {
                Event::SandboxApplied { cause, .. } | Event::SandboxViolated { cause, .. } => cause.clone(),
                _ => None,
            });
            assert!(causes.map(|cause| Some(cause.decision)).eq([decision.id, decision.id]), "the facts join");
        });
    });
}

/// The limits in the settings apply to every command, and are reported as a fact.
#[test]
fn the_limits_of_the_settings_are_in_force_for_every_command() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let mut settings = Settings::clone(&host.engine.settings().unwrap());
            settings.limits.set("memory", "256MiB").unwrap();
            settings.limits.set("file_size", "1KiB").unwrap();
            host.engine.configure(crate::support::policy(settings, &[])).await.unwrap();
            let done = host.agent.exec(&ground.sandbox, sh("ulimit -d; ulimit -f"), &[]).await.unwrap();
            assert_eq!(shown(&done.stdout.bytes), "262144\n2\n", "{ground}: in KiB, and in blocks");
            let limits = &done.facts.process_limits;
            assert_eq!((limits.get("memory"), limits.get("file_size")), (Some(&(256 << 20)), Some(&1024)));
        });
    });
}

/// Another command of the workspace holds placeholders at missing paths while it runs.
#[test]
fn an_approval_outlives_the_start_and_the_end_of_a_neighbour() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &["workspace/later/own", "workspace/secret"]).await;
            let stands = ground.world.workspace().parse().unwrap();
            let profile = Profile::new("careful".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
            let named = [write(&ground.world.workspace())];
            let agent = host.engine.register(profile, InitialGrants::of(named.clone())).await.unwrap();
            let you = host.engine.approver("you", "ann", "terminal");
            let neighbour = || Neighbour::begin(ground, &host.agent.sandbox_profile(&named).unwrap());
            let cases = [(Scope::Once, true), (Scope::Once, false), (Scope::Always, true)];
            for (name, (scope, begins_before)) in ["a", "b", "c"].into_iter().zip(cases) {
                let command = || Command::new("git").args(["add", name]);
                let before = begins_before.then(neighbour);
                let asked = agent.sandbox_profile(&named).unwrap().action(&command()).unwrap();
                let Authorization::Asked(_, ticket) = agent.authorize(asked).await.unwrap() else {
                    panic!("{ground}: a dangerous command asks")
                };
                you.answer(ticket.id(), Answer::allow().scope(scope)).await.unwrap();
                assert!(before.is_none_or(Neighbour::end));
                let after = (!begins_before).then(neighbour);
                let done = agent.exec(&ground.sandbox, command(), &named).await;
                assert!(done.is_ok(), "{ground}: {scope}, {begins_before}: {done:?}");
                assert!(after.is_none_or(Neighbour::end));
            }
            let beside = neighbour();
            let done = agent.exec(&ground.sandbox, Command::new("git").args(["add", "d"]), &named).await;
            assert!(done.is_ok(), "{ground}: always: {done:?}");
            assert!(beside.end());
        });
    });
}

/// A confined command that runs until it is told to end.
struct Neighbour {
    gate: std::fs::File,
    thread: std::thread::JoinHandle<Option<i32>>,
}

impl Neighbour {
    fn begin(ground: &Ground, profile: &bestow::sandbox::Profile) -> Neighbour {
        let path = ground.path("workspace/gate");
        let _ = std::fs::remove_file(&path);
        super::processes::pipe(&path);
        let (sandbox, profile) = (ground.sandbox.clone(), profile.clone());
        let thread = std::thread::spawn(move || sandbox.run(&profile, &sh("cat gate")).unwrap().code);
        // This returns when the command opens its end.
        let gate = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        assert!(std::fs::symlink_metadata(ground.path("workspace/later")).is_ok(), "it holds a placeholder");
        Neighbour { gate, thread }
    }

    fn end(self) -> bool {
        drop(self.gate);
        self.thread.join().unwrap() == Some(0)
    }
}

/// Each of these profiles lets a command do more than the first one, or something else.
#[test]
fn no_wider_profile_has_the_action_that_was_approved() {
    with_bubblewrap(|ground| {
        use bestow::sandbox::Profile;
        let text = |path: &str| ground.world.text(path);
        let (workspace, network) = (write(&text("workspace")), Permission::Network);
        let hidden = ["workspace/later/own", "outside/secret"];
        let made = |cwd: &str, named: &[Permission], hidden: &[&str]| {
            let hidden = hidden.iter().map(|path| text(path).parse().unwrap());
            Profile::of(&super::ground::scope(&text(cwd), named), hidden).unwrap()
        };
        let base = || made("workspace", &[workspace.clone(), network.clone()], &hidden);
        let mut longer = base().limits().clone();
        longer.time = Some(std::time::Duration::from_secs(999));
        let action = |profile: Profile, line: &str| profile.action(&sh(line)).unwrap();
        let one = base().only_to(["a.example".parse().unwrap()]);
        let all = [
            action(base(), "make"),
            action(base(), "make x"),
            action(base().limited(longer), "make"),
            action(base().without_guard(), "make"),
            action(one.clone(), "make"),
            action(one.only_to(["b.example".parse().unwrap()]), "make"),
            action(made("workspace/repo", &[workspace.clone(), network.clone()], &hidden), "make"),
            action(made("workspace", std::slice::from_ref(&workspace), &hidden), "make"),
            action(made("workspace", &[workspace.clone(), network.clone(), write(&text("outside"))], &hidden), "make"),
            action(made("workspace", &[workspace.clone(), network.clone(), Permission::Events], &hidden), "make"),
            action(made("workspace", &[workspace.clone(), network.clone()], &hidden[..1]), "make"),
            action(made("workspace", &[workspace.clone(), network.clone()], &hidden[1..]), "make"),
        ];
        for (number, one) in all.iter().enumerate() {
            let equal = all.iter().filter(|other| *other == one).count();
            assert_eq!(equal, 1, "{ground}: {number}");
        }
        assert_eq!(action(base(), "make"), all[0]);
        std::fs::create_dir(ground.path("workspace/later")).unwrap();
        assert_eq!(action(base(), "make"), all[0], "{ground}: the disk is no part of it");
    });
}
