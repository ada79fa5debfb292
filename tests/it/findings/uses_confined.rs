//! Tests that a denial of a use denies every confined command with that use before it runs: with `exec`, and as a
//! process.

use std::{fs, path::Path, sync::Arc};

use async_trait::async_trait;
use bestow::{
    Action, Agent, Engine, Error, Permission, Settings,
    action::Operation,
    agent::Mode,
    decision::{Refusal, Verdict},
    grant::Place,
    host::{Hook, HookAnswer, HookFailure, Proposal},
    path::PathGlob,
    policy::Rule,
    process::ProcessOptions,
    sandbox::{Command, ExecError, Sandbox},
    tool::{PathPolicy, ToolPolicies},
};

use crate::support::{id, owner, policy, profile, settings, tag};

#[derive(Clone, Copy, Debug)]
enum No {
    Rule,
    RuleOnPath,
    Forbidden,
    PolicyDeny,
    PolicyDefault,
    Mode,
    Hook,
}

const ALL: [No; 7] = [No::Rule, No::RuleOnPath, No::Forbidden, No::PolicyDeny, No::PolicyDefault, No::Mode, No::Hook];

/// A hook that denies one operation.
#[derive(Debug)]
struct Denies(Operation);

#[async_trait]
impl Hook for Denies {
    async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure> {
        let denies = proposal.operation == self.0;
        Ok(if denies { HookAnswer::deny("not that") } else { HookAnswer::nothing() })
    }
}

fn rule(verdict: Verdict, operation: Option<Operation>, path: Option<PathGlob>) -> Rule {
    let place = Place { file: "agents.toml".into(), line: 3 };
    Rule {
        verdict,
        tool: None,
        operation,
        path,
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place,
    }
}

/// Creates an agent that may write all of `work`, except for this kind of use of `work/d`.
async fn kept_from(work: &Path, operation: Operation, no: No) -> (Engine, Agent) {
    let engine = Engine::new(Settings::default()).unwrap();
    let text = work.to_str().unwrap();
    let glob = PathGlob::try_from(format!("{text}/d/**")).unwrap();
    let of_path = operation != Operation::Network;
    let mut rules = vec![rule(Verdict::Allow, None, None)];
    match no {
        No::RuleOnPath if of_path => rules.push(rule(Verdict::Deny, None, Some(glob.clone()))),
        No::Forbidden | No::PolicyDeny | No::PolicyDefault if of_path => {}
        No::Mode if operation != Operation::Read => {}
        No::Hook => {}
        // A resource that is no path is denied by its operation.
        _ => rules.push(rule(Verdict::Deny, Some(operation), None)),
    }
    let holds = format!("@write:{text}");
    let mut file = policy(settings(|_| {}), &[("ann", "you", &[&holds, "@network"])]);
    let ann = file.agents.get_mut(&id("ann")).unwrap();
    let mode = if matches!(no, No::Mode) { Mode::Plan } else { Mode::Bypass };
    ann.profile = profile("ann", "you", bestow::Kind::Permanent).in_mode(mode);
    ann.profile.working_dir = text.parse().unwrap();
    ann.rules = Arc::from(rules);
    engine.configure(file).await.unwrap();
    let agent = engine.agent(id("ann")).unwrap();
    let paths = match no {
        No::PolicyDeny => PathPolicy { deny: vec![glob.clone()], ..PathPolicy::default() },
        No::PolicyDefault => PathPolicy { default: Some(Verdict::Deny), ..PathPolicy::default() },
        _ => PathPolicy::default(),
    };
    let forbidden = if matches!(no, No::Forbidden) { vec![glob] } else { Vec::new() };
    let policies = ToolPolicies { forbidden, read: paths.clone(), write: paths, ..ToolPolicies::default() };
    let run = agent.explain(&Action::read(text)).unwrap().decision.run;
    let you = engine.approver(owner("you"), "ann", "test");
    you.set_policies(&run, None, policies).await.unwrap();
    if matches!(no, No::Hook) {
        engine.add_hook("guard".parse().unwrap(), Arc::new(Denies(operation))).unwrap();
    }
    (engine, agent)
}

/// Returns command lines with this use, and their given permissions. A given read is skipped (`sources/004`: reads are
/// not scoped). Instead, paths that are denied by name are hidden from the command.
fn forms(work: &str, operation: Operation) -> Vec<(&'static str, Vec<Permission>)> {
    let all = || tag(&format!("@write:{work}"));
    let below = || tag(&format!("@write:{work}/d"));
    let network = || tag("@network");
    match operation {
        Operation::Write => vec![
            ("touch d/f", vec![all()]),
            ("echo x > d/f", vec![all()]),
            ("cd d && tee f", vec![]),
            ("true", vec![below()]),
            ("make", vec![below()]),
        ],
        Operation::Read => {
            vec![("cat d/f", vec![all()]), ("grep x < d/f", vec![]), ("sh -c 'head d/f'", vec![])]
        }
        Operation::Network => vec![("curl https://example.com", vec![network()]), ("true", vec![network()])],
        other => panic!("{other}"),
    }
}

/// A2, A13, A14: the forms on a real disk, which the property in `uses.rs` cannot test.
#[tokio::test]
async fn whatever_denies_a_use_denies_every_confined_command_that_has_it() {
    let place = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
    let work = place.path().canonicalize().unwrap();
    fs::create_dir(work.join("d")).unwrap();
    fs::write(work.join("d/f"), "kept").unwrap();
    let sandbox = Sandbox::with_helper(crate::support::BESTOW);
    for operation in [Operation::Write, Operation::Read, Operation::Network] {
        for no in ALL {
            let (_engine, agent) = kept_from(&work, operation, no).await;
            for (line, named) in forms(work.to_str().unwrap(), operation) {
                let what = format!("{no:?} to {operation}: {line} {named:?}");
                let command = || Command::new("sh").args(["-c", line]);
                is_denied(agent.exec(&sandbox, command(), &named).await.map(drop), &what);
                let started = agent.process_start(&sandbox, command(), &named, ProcessOptions::default()).await;
                is_denied(started.map(drop), &what);
            }
            assert_eq!(fs::read(work.join("d/f")).unwrap(), b"kept");
        }
    }
}

fn is_denied(ran: Result<(), ExecError>, what: &str) {
    match ran {
        Err(ExecError::Engine(Error::Refused(Refusal::NotAllowed(decision)))) => {
            assert!(decision.verdict() == Verdict::Deny, "{what}: {decision}");
        }
        other => panic!("{what}: {other:?}"),
    }
}
