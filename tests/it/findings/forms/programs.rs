//! Tests that a denied program file is denied for every way to start it.

use bestow::{Action, Effect, action::Operation, agent::Mode, decision::Verdict, grant::Scope};

use super::{all_allowed, all_denied};
use crate::{
    findings::{
        decision::{all_are, says_no},
        uses::{bound, everything_allowed},
    },
    support::{World, rule},
};

const HELD: [&str; 3] = ["@write:/ws", "@network", "@read:/"];

const STARTS: &[&str] = &[
    "./x.sh",
    "./x.sh a",
    "/ws/x.sh a b",
    "sub/../x.sh",
    "sh x.sh",
    "sh x.sh a",
    "sh -e x.sh",
    "bash ./x.sh",
    "bash -x ./x.sh a",
    "zsh /ws/x.sh",
    ". x.sh",
    ". ./x.sh",
    "source x.sh",
    "source ./x.sh a",
    "env ./x.sh",
    "env A=b ./x.sh a",
    "env sh x.sh",
    "nohup ./x.sh",
    "timeout 5 ./x.sh",
    "xargs ./x.sh",
    "find . -exec ./x.sh ';'",
    "exec ./x.sh",
    "command ./x.sh",
    "(./x.sh)",
    "true && ./x.sh",
    "sh -c ./x.sh",
    "sh -c './x.sh a'",
    "sh < x.sh",
    "cat x.sh | sh",
    "cd sub && ../x.sh",
    "eval ./x.sh",
    "python3 x.sh",
    "perl x.sh",
    "node x.sh",
    "busybox sh x.sh",
];

const OTHERS: &[&str] =
    &["./y.sh", "sh y.sh", ". y.sh", "cat x.sh", "ls x.sh", "chmod +x x.sh", "env ./y.sh", "git add x.sh"];

#[tokio::test]
async fn a_rule_against_running_a_program_file_holds_for_every_way_to_start_it() {
    let world = World::new();
    let rules = [rule(Verdict::Deny, Some(Operation::Exec), Some("/ws/x.sh")), everything_allowed()];
    let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
    all_are(&agent, Effect::Deny, [Action::exec("/ws/x.sh")]);
    all_denied(&agent, STARTS);
    all_allowed(&agent, OTHERS);
}

#[tokio::test]
async fn a_pattern_that_becomes_a_denied_program_file_runs_it() {
    let ground = super::paths::Ground::new(&[(Operation::Exec, "{}/d/f")]).await;
    all_denied(&ground.agent, &["d/f", "./d/?", "d/[f] x", "sh d/*", "python3 */f", "cd d && ./f", "cd d && sh *"]);
    all_allowed(&ground.agent, &["./d/g", "sh d/g", "cat d/*"]);
}

#[tokio::test]
async fn a_no_to_running_a_program_file_holds_for_every_way_to_start_it() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &[]).await;
    let _there = world.you().attend().unwrap();
    says_no(&world, &agent, Action::exec("/ws/x.sh"), Scope::Session).await;
    world.engine.set_mode(agent.id(), Mode::Bypass).await.unwrap();
    all_denied(&agent, STARTS);
    all_allowed(&agent, OTHERS);
}
