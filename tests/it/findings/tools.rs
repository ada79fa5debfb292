//! Tests of tools by any name: declared, well known, or unknown.

mod any_name;
mod built_in;
mod by_people;
mod capabilities;
mod declared;
mod levels;
mod unnamed_fields;
#[cfg(feature = "config")]
mod written;

use std::sync::Arc;

use async_trait::async_trait;
use bestow::{
    Action, Agent, Kind,
    agent::Mode,
    host::{Hook, HookAnswer, HookFailure, Proposal},
};
use serde_json::Value;

use crate::support::{World, profile, tags};

const MODES: [Mode; 8] = [
    Mode::Default,
    Mode::Untrusted,
    Mode::OnRequest,
    Mode::OnFailure,
    Mode::Never,
    Mode::Plan,
    Mode::Bypass,
    Mode::Auto,
];

/// A hook that approves everything.
#[derive(Debug)]
struct Friendly;

#[async_trait]
impl Hook for Friendly {
    async fn before(&self, _: Proposal) -> Result<HookAnswer, HookFailure> {
        Ok(HookAnswer::allow())
    }
}

/// Creates a world whose engine protects `/keys`, with a hook that approves everything.
fn world() -> World {
    let world = World::with(|settings| {
        settings.protected = ["/keys".parse().unwrap()].into();
        settings.max_pending = u32::MAX;
        settings.max_asks_per_minute = u32::MAX;
    });
    world.engine.add_hook("friendly".parse().unwrap(), Arc::new(Friendly)).unwrap();
    world
}

async fn agent(world: &World, mode: Mode, holds: &[&str]) -> Agent {
    let name = format!("ann-{mode:?}").to_lowercase();
    let profile = profile(&name, "you", Kind::Subagent).in_mode(mode);
    world.engine.register(profile, bestow::InitialGrants::of(tags(holds))).await.unwrap()
}

fn call(name: &str, input: &Value) -> Action {
    Action::tool(name.parse().unwrap(), input.clone())
}

/// Returns the verdict on a call.
async fn verdict(agent: &Agent, name: &str, input: &Value) -> bestow::Effect {
    agent.authorize(call(name, input)).await.unwrap().decision().verdict()
}

#[tokio::test]
async fn an_input_that_does_not_say_on_what_is_answered_with_the_fields_that_may() {
    let world = world();
    let ann = agent(&world, Mode::Default, &["@write:/work"]).await;
    for (tool, input, fields) in [
        ("Write", serde_json::json!({ "paht": "/work/a", "content": "x" }), "`Write` takes `file_path"),
        ("Bash", serde_json::json!({ "cmdline": "ls" }), "`Bash` takes `command"),
    ] {
        let why = ann.explain(&call(tool, &input)).unwrap().decision.decision_reason;
        assert!(why.contains("the input does not say on what") && why.contains(fields), "{why}");
    }
}
