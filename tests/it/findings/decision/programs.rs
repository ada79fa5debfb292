//! Tests that running a program file counts as running a command (attack 10).

use bestow::{
    Action, Effect,
    action::{Operation, UseOrigin},
    agent::Mode,
    decision::Verdict,
    tool::ToolPolicies,
};

use super::{all_are, bound, everything_allowed, on_command, verdict};
use crate::{
    findings::uses::{ALL_MODES, deny, given},
    support::World,
};

const HELD: [&str; 3] = ["@write:/ws", "@read:/", "@network"];

#[tokio::test]
async fn a_rule_about_a_program_speaks_about_running_its_file() {
    for mode in ALL_MODES {
        let world = World::new();
        let rules = [on_command(Verdict::Deny, "curl"), everything_allowed()];
        let agent = bound(&world, mode, &HELD, &rules).await;
        all_are(&agent, Effect::Deny, [Action::exec("/usr/bin/curl"), Action::exec("curl")]);
    }
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &[on_command(Verdict::Ask, "curl"), everything_allowed()]).await;
    let _there = world.you().attend().unwrap();
    all_are(&agent, Effect::Ask, [Action::exec("/usr/bin/curl")]);
    all_are(&agent, Effect::Allow, [Action::exec("/usr/bin/wget")]);
}

/// The arguments of the program are unknown.
#[tokio::test]
async fn a_rule_about_some_words_of_a_program_speaks_about_running_its_file() {
    let world = World::new();
    let rules = [on_command(Verdict::Deny, "git push"), everything_allowed()];
    let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
    let runs_anything = ["/usr/bin/git", "/bin/sh", "/usr/bin/env", "/usr/bin/python3", "/usr/bin/sudo"];
    all_are(&agent, Effect::Deny, runs_anything.map(Action::exec));
    // The engine does not see the programs that an unlisted program starts.
    all_are(&agent, Effect::Allow, ["/usr/bin/wc", "/ws/x.sh", "/ws/gitx"].map(Action::exec));
}

#[tokio::test]
async fn a_rule_that_allows_a_command_allows_no_program_file() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &[on_command(Verdict::Allow, "curl **")]).await;
    let _there = world.you().attend().unwrap();
    all_are(&agent, Effect::Ask, [Action::exec("/usr/bin/curl")]);
}

#[tokio::test]
async fn a_no_to_commands_is_one_to_program_files() {
    for mode in ALL_MODES {
        let world = World::new();
        let agent = bound(&world, mode, &HELD, &[deny(Operation::Command), everything_allowed()]).await;
        all_are(&agent, Effect::Deny, ["/usr/bin/curl", "/bin/sh", "x"].map(Action::exec));
    }
}

#[tokio::test]
async fn a_policy_about_commands_speaks_about_program_files() {
    let world = World::new();
    let agent = bound(&world, Mode::Bypass, &HELD, &[]).await;
    let run = agent.explain(&Action::read("/ws")).unwrap().decision.run;
    let policies = ToolPolicies { deny_commands: vec!["curl **".parse().unwrap()], ..ToolPolicies::default() };
    world.you().set_policies(&run, None, policies).await.unwrap();
    all_are(&agent, Effect::Deny, [Action::exec("/usr/bin/curl")]);
    all_are(&agent, Effect::Allow, [Action::exec("/usr/bin/wc")]);
}

#[tokio::test]
async fn what_a_program_needs_is_used_by_running_its_file() {
    let world = World::new();
    let agent = bound(&world, Mode::Bypass, &HELD, &[deny(Operation::Network), everything_allowed()]).await;
    all_are(&agent, Effect::Deny, ["/usr/bin/curl", "/usr/bin/ssh"].map(Action::exec));
    all_are(&agent, Effect::Allow, ["/usr/bin/wc", "/ws/x.sh"].map(Action::exec));
    let world = World::new();
    let agent = bound(&world, Mode::Bypass, &["@write:/ws", "@read:/"], &[everything_allowed()]).await;
    let _there = world.you().attend().unwrap();
    let explained = agent.explain(&Action::exec("/usr/bin/curl")).unwrap();
    assert_eq!(explained.decision.missing, [crate::support::tag("@network")], "{explained}");
    let needed: Vec<_> = explained.uses.iter().map(|step| (step.used.operation, step.used.origin)).collect();
    let expected = [
        (Operation::Exec, UseOrigin::Own),
        (Operation::Command, UseOrigin::Named),
        (Operation::Network, UseOrigin::Needed),
    ];
    assert_eq!(needed, expected);
}

/// In mode `on_failure`, a program file is tried in the sandbox like a command.
#[tokio::test]
async fn what_a_program_needs_is_kept_from_it_by_the_sandbox_like_from_a_command() {
    let world = World::new();
    let agent = bound(&world, Mode::OnFailure, &["@read:/"], &[]).await;
    let _there = world.you().attend().unwrap();
    assert_eq!(verdict(&agent, &Action::exec("/usr/bin/curl")), Effect::Confined);
    assert_eq!(verdict(&agent, &Action::command("curl https://example.com")), Effect::Confined);
    assert_eq!(verdict(&agent, &given("curl", "@network")), Effect::Deny);
}
