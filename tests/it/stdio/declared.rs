//! Tests of a connector in a separate process that declares tools. The calls of its agents' bots follow the
//! declarations.

use std::sync::{Arc, Mutex};

use bestow::{
    Engine, Event,
    stdio::{Bot, Ended},
};
use tokio::process::Command;

use super::{engine, id, soon};

/// A bot that sends its lines, each after the answer to the previous one, and prints the messages that it receives.
const BOT: &str = r#"
import json, sys

said = sys.argv[1:]
for line in sys.stdin:
    heard = json.loads(line)
    print(json.dumps(heard), file=sys.stderr, flush=True)
    if heard["type"] == "request_permission":
        continue
    if not said:
        print('{"type":"bye"}', flush=True)
        break
    print(said.pop(0), flush=True)
"#;

/// Returns the messages to a bot that sends `lines`, without the greeting.
async fn heard(bot: Bot, lines: &[&str]) -> Vec<serde_json::Value> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&heard);
    let mut command = Command::new("python3");
    command.args(["-c", BOT]).args(lines);
    let mut running = bot.stderr(move |line| note.lock().unwrap().push(line.to_owned())).spawn(command).unwrap();
    assert_eq!(soon("the end", running.wait()).await.ended, Ended::Bye);
    let lines = heard.lock().unwrap().clone();
    let lines = lines.iter().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["type"] != "request_permission").collect()
}

fn user(engine: &Engine) -> Bot {
    Bot::connector(engine, &id("lead")).unwrap().answering_as("ann".parse().unwrap())
}

const CALL: &str = r#"{"type":"authorize","toolName":"notes/save","toolInput":{"note":{"file":"new.md"}}}"#;

#[tokio::test]
async fn a_connector_in_a_process_of_its_own_declares_and_takes_back_and_an_agent_cannot() {
    let engine = engine().await;
    let mut events = engine.subscribe();
    let worker = || Bot::agent(&engine, &id("worker")).unwrap();
    let declares =
        r#"{"type":"declare_tools","tools":[{"name":"notes/save","operation":"fs.write","path":"note.file"}]}"#;
    let hides = r#"{"type":"declare_tools","tools":[{"name":"bash","operation":"tool"}]}"#;
    let nothing = r#"{"type":"declare_tools","tools":[]}"#;

    let before = heard(worker(), &[CALL, declares]).await;
    assert_eq!((&before[0]["decision"], &before[0]["missing"]), (&"ask".into(), &serde_json::Value::Null));
    assert_eq!((&before[1]["type"], &before[1]["code"]), (&"error".into(), &"FORBIDDEN".into()));

    let told = heard(user(&engine), &[declares, hides]).await;
    assert_eq!((&told[0]["type"], &told[0]["tools"][0]), (&"tools_declared".into(), &"notes/save".into()));
    assert_eq!((&told[1]["type"], &told[1]["code"]), (&"error".into(), &"REFUSED".into()));

    // The connector is gone. Its declarations remain.
    let after = heard(worker(), &[CALL]).await;
    assert_eq!(after[0]["missing"], serde_json::json!(["@write:/ws/new.md"]));
    assert_eq!(heard(user(&engine), &[nothing]).await[0]["tools"], serde_json::json!([]));
    assert_eq!(heard(worker(), &[CALL]).await[0]["missing"], serde_json::Value::Null);

    engine.shutdown().await;
    let mut facts = Vec::new();
    while let Ok(recorded) = events.next().await {
        if let Event::DeclarationsChanged { .. } = &recorded.event {
            facts.push(recorded.event.to_string());
        }
    }
    let told = [
        "ann (stdio) declared tools for the agents of you: `notes/save`",
        "ann (stdio) declared tools for the agents of you: none",
    ];
    assert_eq!(facts, told);
}
