//! A scripted model instead of a real one, without a network. The model is blocked, sends a request, continues, gets
//! the decision, and grants a part of its permission to a worker. An orchestrator needs only two calls for this:
//! `prompt::tools` and `prompt::call`.
//!
//! `cargo run --example model`

use bestow::{Agent, Answer, Engine, InitialGrants, Kind, Profile, Settings, prompt};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// One turn of the model: a tool call, or a text.
enum Turn {
    Calls(&'static str, Value),
    Says(&'static str),
}

/// Returns the turns of the scripted model. A real model gets `prompt::instructions` as its system prompt and
/// `prompt::tools` as its tools.
fn model(turn: usize) -> Option<Turn> {
    let calls = |name, input| Some(Turn::Calls(name, input));
    match turn {
        0 => calls("check_permission", json!({ "permissions": ["@write:/tmp", "@network"] })),
        1 => calls("request_permission", json!({ "permission": "@write:/tmp", "reason": "The build writes there." })),
        2 => Some(Turn::Says("Meanwhile I read the sources.")),
        // The person has answered by now.
        3 => calls("check_permission", json!({ "permission": "@write:/tmp" })),
        4 => calls(
            "grant_permission",
            json!({ "agent_id": "worker", "permission": "@write:/tmp/site", "reason": "You write the pages." }),
        ),
        5 => {
            calls("grant_permission", json!({ "agent_id": "worker", "permission": "@network", "reason": "For later." }))
        }
        _ => None,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let engine = Engine::new(Settings::default())?;
    let lead = agent(&engine, "lead", Kind::Foreground).await?;
    let worker = agent(&engine, "worker", Kind::Subagent).await?;
    let person = engine.approver(&"you".parse()?, "ann".parse()?, "terminal");
    let _there = person.attend()?;
    println!("system: {}", prompt::instructions(&lead)?);
    let names: Vec<Value> = prompt::tools().iter().filter_map(|tool| tool.get("name").cloned()).collect();
    println!("tools:  {}", Value::from(names));
    let mailbox = lead.mailbox();
    for turn in 0.. {
        let Some(does) = model(turn) else { break };
        match does {
            Turn::Says(text) => {
                println!("model:  {text}");
                // While the model works, a person approves the request.
                for pending in engine.pending()? {
                    person.answer(pending.request.id, Answer::allow()).await?;
                }
            }
            Turn::Calls(name, input) => {
                println!("model:  {name} {input}");
                println!("result: {}", prompt::call(&lead, name, &input).await);
            }
        }
        while let Some(mail) = mailbox.try_next() {
            prompt::news(&mail).into_iter().for_each(|news| println!("news:   {news}"));
        }
    }
    let held = prompt::call(&worker, "check_permission", &json!({ "permission": "@write:/tmp/site" })).await;
    println!("worker: {held}");
    Ok(())
}

async fn agent(engine: &Engine, id: &str, kind: Kind) -> Result<Agent, Failure> {
    let profile = Profile::new(id.parse()?, "you".parse()?, kind, "/tmp".parse()?);
    Ok(engine.register(profile, InitialGrants::nothing()).await?)
}
