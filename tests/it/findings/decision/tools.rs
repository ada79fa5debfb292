//! Tests that neither another tool name nor an additional use of an action allows more.

use bestow::{
    Action, Answer, Effect,
    action::{Operation, UseOrigin},
    grant::{Permissions, Scope},
};
use proptest::prelude::*;

use super::{World, bound, decided, rule};
use crate::findings::uses::{ALL_MODES, deny, forms};

const HELD: [&str; 4] = ["@write:/ws", "@network", "@events", "@tool:deploy"];

/// Returns the action by each tool that is known to do it, and by an unknown tool.
fn by_any_tool(operation: Operation, resource: &str) -> (Vec<Action>, Action) {
    let named = |name: &str| name.parse::<bestow::tool::ToolName>().unwrap();
    let (text, fields) = match operation {
        Operation::Write => {
            (resource.to_owned(), vec![("Write", "file_path"), ("write_file", "path"), ("Edit", "file_path")])
        }
        Operation::Read => (resource.to_owned(), vec![("Read", "file_path"), ("read_file", "path"), ("view", "path")]),
        Operation::Command => (resource.to_owned(), vec![("Bash", "command"), ("run_shell_command", "command")]),
        Operation::Network => (format!("https://{resource}"), vec![("WebFetch", "url"), ("web_fetch", "url")]),
        other => panic!("{other}"),
    };
    let call = |tool: &str, field: &str| Action::tool(named(tool), serde_json::json!({ field: text }));
    let calls = fields.into_iter().map(|(tool, field)| call(tool, field));
    let plain = || Action::new(operation, resource);
    let renamed = ["bash", "zsh", "Write", "any", "read"].map(|name| plain().by_tool(named(name)));
    (calls.chain(renamed).chain([plain()]).collect(), call("foo", "x"))
}

fn effect(effect: Effect) -> u8 {
    match effect {
        Effect::Allow => 0,
        Effect::Confined => 1,
        Effect::Ask => 2,
        Effect::Deny => 3,
    }
}

/// The operations and resources that a person may deny.
const REFUSED: [(Operation, &str); 8] = [
    (Operation::Write, "/ws/d/f"),
    (Operation::Write, "/ws/d"),
    (Operation::Read, "/ws/d/f"),
    (Operation::Read, "/ws/d"),
    (Operation::Network, "example.com"),
    (Operation::Command, "npm publish"),
    (Operation::Command, "node build.js"),
    (Operation::Command, "curl https://example.com"),
];

const PERMISSIONS: [&str; 8] = [
    "@network",
    "@events",
    "@write:/ws",
    "@write:/ws/d/f",
    "@write:/elsewhere",
    "@read:/ws/d",
    "@tool:deploy",
    "@tool:other",
];

const LINES: [&str; 8] = [
    "npm publish",
    "node build.js",
    "touch d/f",
    "touch /elsewhere/x",
    "curl https://example.com",
    "cat d/f",
    "ls",
    "cp a d/f",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(96)))]

    /// Attack 8: another tool does an action that a person denied.
    #[test]
    fn no_tool_gets_an_action_around_a_persons_no(
        (operation, resource) in prop::sample::select(REFUSED.to_vec()),
        by in 0..9_usize,
        scope in prop::sample::select(vec![Scope::Session, Scope::Always]),
        noise in crate::ruled::rules(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (known, unknown) = by_any_tool(operation, resource);
            let refused = known.get(by % known.len()).unwrap().clone();
            let world = World::new();
            let asks = rule(bestow::decision::Verdict::Ask, None, None);
            let agent = bound(&world, bestow::agent::Mode::Default, &HELD, &[asks]).await;
            let _there = world.you().attend().unwrap();
            let question = decided(&agent, refused.clone()).await.approval_action_id.unwrap();
            // Some actions have no shape that could be denied permanently.
            for scope in [scope, Scope::Session] {
                let answered = world.you().answer(question, Answer::deny().scope(scope)).await;
                if answered.is_ok() {
                    break;
                }
            }
            let agent = rebound(&world, &noise).await;
            for action in known.into_iter().chain([unknown]) {
                let explained = agent.explain(&action).unwrap();
                prop_assert!(explained.decision.verdict() == Effect::Deny, "{refused:?} by {action:?}: {explained}");
            }
            Ok(())
        })?;
    }

    /// Attack 17, and all other ways in which an additional use could allow more.
    #[test]
    fn whatever_an_action_uses_besides_lets_no_more_happen(
        mode in prop::sample::select(ALL_MODES.to_vec()),
        rules in crate::ruled::rules(),
        denied in prop::option::weighted(0.3, prop::sample::select(vec![Operation::Write, Operation::Network])),
        said in prop::collection::vec(
            (
                prop::sample::select(LINES.to_vec()), prop::sample::subsequence(PERMISSIONS.to_vec(), 0..3),
                any::<bool>(), any::<bool>(),
            ),
            0..4,
        ),
        used in prop::sample::subsequence(PERMISSIONS.to_vec(), 0..3),
        more in prop::sample::select(PERMISSIONS.to_vec()),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let world = World::new();
            let asks = rule(bestow::decision::Verdict::Ask, None, None);
            let agent = bound(&world, bestow::agent::Mode::Default, &HELD, &[asks]).await;
            let _there = world.you().attend().unwrap();
            for (line, permissions, is_yes, for_good) in said {
                let others = ["@write:/elsewhere", "@tool:other"];
                let held = permissions.into_iter().filter(|permission| !others.contains(permission));
                let decision = decided(&agent, needing(Action::command(line), held)).await;
                let Some(question) = decision.approval_action_id else { continue };
                let scope = if for_good { Scope::Always } else { Scope::Session };
                let answer = if is_yes { Answer::allow() } else { Answer::deny() };
                // Some actions cannot be allowed permanently.
                drop(world.you().answer(question, answer.scope(scope)).await);
            }
            let rules: Vec<_> = rules.into_iter().chain(denied.map(deny)).collect();
            let agent = rebound(&world, &rules).await;
            world.engine.set_mode(agent.id(), mode).await.unwrap();
            let lines = LINES.map(Action::command).into_iter();
            let forms = [Operation::Read, Operation::Write, Operation::Network].into_iter().flat_map(forms);
            for action in lines.chain(forms) {
                if agent.explain(&action).unwrap().uses.iter().any(|step| step.used.origin == UseOrigin::Given) {
                    continue;
                }
                let before = needing(action.clone(), used.iter().copied());
                let after = needing(action, used.iter().copied().chain([more]));
                let (before, after) = (agent.explain(&before).unwrap(), agent.explain(&after).unwrap());
                let (less, same) = (effect(after.decision.verdict()), effect(before.decision.verdict()));
                prop_assert!(less >= same, "with {more}:\n{before}\n{after}");
            }
            Ok(())
        })?;
    }
}

fn needing<'r>(action: Action, permissions: impl Iterator<Item = &'r str>) -> Action {
    match Permissions::from_tags(permissions) {
        Ok(permissions) => action.needing(permissions),
        Err(_) => action,
    }
}

/// Replaces the rules that bind the agent.
async fn rebound(world: &World, rules: &[bestow::policy::Rule]) -> bestow::Agent {
    bound(world, bestow::agent::Mode::Default, &HELD, rules).await
}
