//! Tests that the sandbox hides a refused path from a command that holds the directory around it (attack 8).

use std::{fs, sync::Arc};

use bestow::{
    Action, Effect, Engine, InitialGrants, Kind, Profile,
    agent::Mode,
    decision::Verdict,
    grant::Scope,
    host::{DiskPaths, ManualClock},
    sandbox::{Command, Sandbox},
};

use super::verdict;
use crate::support::{START, id, owner, settings, tag};

#[tokio::test]
async fn a_command_in_the_sandbox_has_all_of_a_directory_but_what_was_refused() {
    let place = tempfile::tempdir().unwrap();
    let work = crate::support::real(place.path());
    for (name, text) in
        [("refused", "kept"), ("secret", "secret"), ("x.sh", "echo x > refused; cat secret > out; echo y > b")]
    {
        fs::write(work.join(name), text).unwrap();
    }
    let at = work.to_str().unwrap();
    let settings = settings(|settings| settings.default_verdict = Verdict::Ask);
    let engine = Engine::on(settings, Arc::new(ManualClock::at(START)), Arc::new(DiskPaths)).unwrap();
    let profile = Profile::new(id("ann"), owner("you"), Kind::Permanent, at.parse().unwrap());
    let permission = tag(&format!("@write:{at}"));
    let agent =
        engine.register(profile.in_mode(Mode::Untrusted), InitialGrants::of([permission.clone()])).await.unwrap();
    let you = engine.approver(owner("you"), "ann", "test");
    let _there = you.attend().unwrap();
    engine.add_hook("asks".parse().unwrap(), Arc::new(Asks)).unwrap();
    for refused in [Action::write("refused"), Action::read("secret")] {
        let question = agent.authorize(refused.clone()).await.unwrap().decision().approval_action_id.unwrap();
        you.answer(question, bestow::Answer::deny().scope(Scope::Session)).await.unwrap();
        assert_eq!(verdict(&agent, &refused), Effect::Deny);
    }
    engine.set_mode(agent.id(), Mode::Bypass).await.unwrap();
    let sandbox = Sandbox::with_helper(crate::support::BESTOW);
    agent.exec(&sandbox, Command::new("sh").arg("x.sh"), std::slice::from_ref(&permission)).await.unwrap();
    assert_eq!(fs::read_to_string(work.join("refused")).unwrap(), "kept");
    assert_eq!(fs::read_to_string(work.join("out")).unwrap(), "");
    assert_eq!(fs::read_to_string(work.join("b")).unwrap(), "y\n");
    // Outside of a sandbox the engine cannot separate them.
    assert_eq!(verdict(&agent, &Action::command("sh x.sh").needing(permission)), Effect::Deny);
}

/// A hook that asks a person about files.
#[derive(Debug)]
struct Asks;

#[async_trait::async_trait]
impl bestow::host::Hook for Asks {
    async fn before(
        &self,
        proposal: bestow::host::Proposal,
    ) -> Result<bestow::host::HookAnswer, bestow::host::HookFailure> {
        let is_file = matches!(proposal.operation, bestow::action::Operation::Write | bestow::action::Operation::Read);
        Ok(if is_file && proposal.part_of.is_none() {
            bestow::host::HookAnswer::ask("look")
        } else {
            bestow::host::HookAnswer::nothing()
        })
    }
}
