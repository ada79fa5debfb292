//! B10: the tools and instructions that an orchestrator gives a model, and the execution of the model's calls.

use bestow::{Answer, Permission, prompt};
use serde_json::{Value, json};

use crate::support::{World, example, mail, tag, why};

/// Validates a value by the keywords that these schemas use. Any other keyword is an error, so every keyword is tested.
fn violations(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut wrong = |bad: bool, what: &str| found.extend(bad.then(|| format!("{at}: {what}")));
    let number = |value: &Value| value.as_u64().unwrap();
    for (keyword, says) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "description" | "examples" => {}
            "type" => {
                let is = match says.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    other => panic!("{at}: type {other}"),
                };
                wrong(!is, "type");
            }
            "enum" => wrong(!says.as_array().unwrap().contains(value), "enum"),
            "minLength" => {
                wrong(value.as_str().is_some_and(|text| (text.chars().count() as u64) < number(says)), keyword)
            }
            "maxLength" => {
                wrong(value.as_str().is_some_and(|text| text.chars().count() as u64 > number(says)), keyword)
            }
            "minItems" => wrong(value.as_array().is_some_and(|list| (list.len() as u64) < number(says)), keyword),
            "maxItems" => wrong(value.as_array().is_some_and(|list| list.len() as u64 > number(says)), keyword),
            "minimum" => wrong(value.as_i64().is_some_and(|n| n < says.as_i64().unwrap()), keyword),
            "maximum" => wrong(value.as_i64().is_some_and(|n| n > says.as_i64().unwrap()), keyword),
            "items" => {}
            "properties" => {}
            "required" => {
                let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
                wrong(!says.as_array().unwrap().iter().all(has), keyword);
            }
            "additionalProperties" => {
                assert_eq!(says, &Value::Bool(false), "{at}");
                let known = schema["properties"].as_object().unwrap();
                let unknown = value.as_object().is_some_and(|map| map.keys().any(|key| !known.contains_key(key)));
                wrong(unknown, keyword);
            }
            other => panic!("{at}: the keyword {other}"),
        }
    }
    for item in value.as_array().into_iter().flatten().filter(|_| schema.get("items").is_some()) {
        found.extend(violations(&schema["items"], item, &format!("{at}[]")));
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let schema = schema.get("properties").and_then(|properties| properties.get(name));
        found.extend(schema.iter().flat_map(|schema| violations(schema, value, &format!("{at}.{name}"))));
    }
    found
}

fn schema_of(name: &str) -> Value {
    let tools = prompt::tools();
    tools.iter().find(|tool| tool["name"] == name).unwrap()["input_schema"].clone()
}

fn fits(name: &str, input: &Value) -> bool {
    violations(&schema_of(name), input, name).is_empty()
}

fn is_error(result: &Value) -> bool {
    result["status"] == "error"
}

#[test]
fn tools_have_the_two_shapes_that_function_calling_takes() {
    let (plain, wrapped) = (prompt::tools(), prompt::functions());
    assert_eq!(plain.len(), wrapped.len());
    for (plain, wrapped) in plain.iter().zip(&wrapped) {
        assert_eq!(wrapped["type"], "function");
        assert_eq!(wrapped["function"]["name"], plain["name"]);
        assert_eq!(wrapped["function"]["description"], plain["description"]);
        assert_eq!(wrapped["function"]["parameters"], plain["input_schema"]);
        assert_eq!(plain["input_schema"]["type"], "object");
        assert!(prompt::is_tool(plain["name"].as_str().unwrap()));
        assert!(!plain["description"].as_str().unwrap().is_empty());
    }
    let names: Vec<_> = plain.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    for name in ["request_permission", "grant_permission", "check_permission"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(!prompt::is_tool("answer"));
}

/// Returns an input for each alternative of `permission` and `permissions`. An input names only one of the two.
fn inputs(name: &str) -> Vec<Value> {
    let schema = schema_of(name);
    let properties = schema["properties"].as_object().unwrap();
    let example = |key: &String| properties[key]["examples"][0].clone();
    let either = ["permission", "permissions"];
    let used: Vec<Option<&str>> =
        if properties.contains_key("permission") { vec![Some(either[0]), Some(either[1])] } else { vec![None] };
    let of = |chosen: Option<&str>| {
        let fields = properties.keys().filter(|key| !either.contains(&key.as_str()) || chosen == Some(key.as_str()));
        Value::Object(fields.map(|key| (key.clone(), example(key))).collect())
    };
    used.into_iter().map(of).collect()
}

#[tokio::test]
async fn every_field_of_a_schema_is_read_and_every_example_is_taken() {
    let world = World::new();
    let lead = world.lead("lead", &["@write:/work", "@network"]).await;
    let _writer = world.worker("writer", &[]).await;
    for tool in prompt::tools() {
        let name = tool["name"].as_str().unwrap();
        for mut input in inputs(name) {
            if name == "await_permission" {
                let asked =
                    prompt::call(&lead, "request_permission", &json!({ "permission": "@events", "reason": "x" })).await;
                input["request_id"] = asked["request_id"].clone();
                input["seconds"] = json!(0);
            }
            assert!(fits(name, &input), "{name} {input}");
            let result = prompt::call(&lead, name, &input).await;
            assert!(!is_error(&result), "{name} {input}: {result}");
        }
    }
}

/// The schema and the call refuse the identical inputs.
#[tokio::test]
async fn a_call_takes_what_its_schema_says_and_nothing_else() {
    let world = World::new();
    let lead = world.lead("lead", &["@write:/work", "@network"]).await;
    let _writer = world.worker("writer", &[]).await;
    let strange = [json!(null), json!(7), json!(-1), json!(61), json!({}), json!([]), json!([1]), json!(true)];
    let mut tried = 0;
    for tool in prompt::tools() {
        let name = tool["name"].as_str().unwrap();
        for input in inputs(name) {
            let mut wrong = vec![json!("text"), json!([]), json!(null)];
            let mut with_more = input.clone();
            with_more["agent"] = json!("writer");
            wrong.push(with_more);
            for key in input.as_object().unwrap().keys() {
                wrong.extend(strange.iter().map(|value| {
                    let mut other = input.clone();
                    other[key] = value.clone();
                    other
                }));
                let mut without = input.clone();
                without.as_object_mut().unwrap().remove(key);
                wrong.push(without);
            }
            for input in wrong.into_iter().filter(|input| !fits(name, input)) {
                let result = prompt::call(&lead, name, &input).await;
                assert!(
                    is_error(&result) && result["message"].as_str().is_some_and(|why| !why.is_empty()),
                    "{name} {input}: {result}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried}");
    for (name, input) in [
        ("request_permission", json!({ "reason": "x" })),
        ("request_permission", json!({ "permission": "@network", "permissions": ["@network"], "reason": "x" })),
        ("request_permission", json!({ "permission": "write everything", "reason": "x" })),
        ("request_permission", json!({ "permission": "@network", "reason": " " })),
        ("grant_permission", json!({ "agent_id": "nobody", "permission": "@network", "reason": "x" })),
        ("grant_permission", json!({ "agent_id": "a b", "permission": "@network", "reason": "x" })),
        ("await_permission", json!({ "request_id": "01890a5d-ac96-774b-bcce-b302099a8057" })),
        ("answer", json!({})),
    ] {
        assert!(is_error(&prompt::call(&lead, name, &input).await), "{name} {input}");
    }
}

#[tokio::test]
async fn a_model_asks_goes_on_hears_the_decision_and_passes_a_part_on() {
    let world = World::new();
    let (lead, worker) = (world.lead("lead", &[]).await, world.worker("worker", &[]).await);
    let _there = world.you().attend().unwrap();
    let mailbox = lead.mailbox();
    let asked = json!({ "permission": "@write:/work", "reason": "The build writes there.", "scope": "session" });
    let result = prompt::call(&lead, "request_permission", &asked).await;
    assert_eq!((&result["status"], result["code"].is_string()), (&json!("pending"), true), "{result}");
    let id = json!({ "request_id": result["request_id"] });
    assert_eq!(prompt::call(&lead, "await_permission", &id).await["status"], "pending");
    // Only the agent that asked may wait for the answer, even if another one knows the number.
    assert!(is_error(&prompt::call(&worker, "await_permission", &id).await));
    let pending = world.engine.pending().unwrap();
    world
        .you()
        .answer(pending[0].request.id, Answer::allow().feedback("mind the tests".parse().unwrap()))
        .await
        .unwrap();
    let over = prompt::call(&lead, "await_permission", &id).await;
    assert_eq!((&over["status"], &over["granted"]), (&json!("granted"), &json!(["@write:/work"])), "{over}");
    assert_eq!(over["feedback"], "mind the tests");
    let news: Vec<_> = mail(&mailbox).iter().filter_map(prompt::news).collect();
    assert!(news.iter().any(|news| news.contains("granted")), "{news:?}");
    let part = json!({ "agent_id": "worker", "permission": "@write:/work/site", "reason": "Your pages." });
    assert_eq!(prompt::call(&lead, "grant_permission", &part).await["status"], "ok");
    assert!(worker.check(&tag("@write:/work/site")).is_held());
    let more = json!({ "agent_id": "worker", "permission": "@network", "reason": "x" });
    assert!(is_error(&prompt::call(&lead, "grant_permission", &more).await));
    let held =
        prompt::call(&worker, "check_permission", &json!({ "permissions": ["@write:/work/site", "@write:/work"] }))
            .await;
    assert_eq!(held["permissions"][0]["held"], "held", "{held}");
    assert_eq!(held["permissions"][1]["held"], "not_held", "{held}");
}

#[tokio::test]
async fn nothing_in_a_call_says_who_acts() {
    let world = World::new();
    let (lead, worker) = (world.lead("lead", &["@network"]).await, world.worker("worker", &[]).await);
    for key in ["agent", "from", "as", "owner", "agentId"] {
        let mut input = json!({ "permission": "@network", "reason": "x" });
        input[key] = json!("lead");
        assert!(is_error(&prompt::call(&worker, "request_permission", &input).await), "{key}");
    }
    let gone = lead.clone();
    world.engine.retire(lead.id()).await.unwrap();
    assert!(is_error(&prompt::call(&gone, "list_permissions", &json!({})).await));
    assert!(prompt::instructions(&gone).is_err());
}

#[tokio::test]
async fn the_instructions_say_who_where_and_what() {
    let world = World::new();
    let lead = world.lead("lead", &["@write:/work/site", "@network"]).await;
    let text = prompt::instructions(&lead).unwrap();
    for said in [
        "`lead`",
        "foreground",
        "`/ws`",
        "network access",
        "write access to \"/work/site\"",
        "`request_permission`",
        "continue with work",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let worker = world.worker("worker", &[]).await;
    let text = prompt::instructions(&worker).unwrap();
    assert!(text.contains("background agent (subagent)") && text.contains("You hold: nothing"), "{text}");
    lead.grant_for(worker.id(), tag("@network"), bestow::grant::Scope::Once, why()).await.unwrap();
    assert!(prompt::instructions(&worker).unwrap().contains("For one use:\n- network access"));
    world.engine.set_mode(worker.id(), bestow::agent::Mode::Never).await.unwrap();
    let told = prompt::instructions(&worker).unwrap();
    assert!(
        told.contains("No person can answer you now") && !told.contains("call `request_permission` at once"),
        "{told}"
    );
    world.engine.set_mode(worker.id(), bestow::agent::Mode::Plan).await.unwrap();
    assert!(prompt::instructions(&worker).unwrap().contains("Your mode is `plan`"));
    // Every tool name in the text exists.
    let named = text.split('`').skip(1).step_by(2).filter(|word| word.contains("_permission"));
    assert!(named.clone().count() >= 2 && named.clone().all(prompt::is_tool), "{text}");
    let listed = prompt::call(&lead, "list_permissions", &json!({})).await;
    let tags: Vec<Permission> = listed["permissions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| held["permission"].as_str().unwrap().parse().unwrap())
        .collect();
    assert!(tags.contains(&tag("@network")), "{listed}");
}

#[test]
fn the_example_tells_the_whole_story() {
    let output = std::process::Command::new(example("model")).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let story = [
        "\"status\":\"pending\"",
        "Meanwhile",
        "news:   granted",
        "\"held\":\"held\"",
        "\"status\":\"ok\"",
        "\"status\":\"error\"",
        "worker: ",
    ];
    let mut rest = &*told;
    for line in story {
        rest = rest.split_once(line).unwrap_or_else(|| panic!("{line} is missing: {told}")).1;
    }
    assert!(rest.contains("\"held\":\"held\""), "{told}");
}
