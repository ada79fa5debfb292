//! The description of the native API. Each reply in these tests is compared with it, too.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{client::call, daemon::Daemon, description::Description};

#[tokio::test]
async fn the_description_needs_no_credential_and_names_every_path() {
    let daemon = Daemon::start().await;
    let reply = call(daemon.address, "GET", "/v1/openapi.json", &[], "").await;
    assert_eq!((reply.status, reply.json["openapi"].as_str()), (200, Some("3.1.0")));
    let paths = reply.json["paths"].as_object().unwrap();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let concrete: String =
                path.split('/').skip(1).map(|part| format!("/{}", part.replace(['{', '}'], ""))).collect();
            let without = call(daemon.address, &method.to_uppercase(), &concrete, &[], "").await;
            // The secret of a link takes the place of a credential.
            let needs_link = operation["operationId"] == "session_open" && without.status == 415;
            let needs_credential = matches!(without.status, 401 | 426);
            assert!(needs_credential || needs_link, "{method} {path} needs a credential: {without:?}");
            assert!(operation["responses"]["default"]["content"]["application/problem+json"].is_object());
            assert!(operation["operationId"].is_string() && operation["summary"].is_string(), "{method} {path}");
        }
    }
    let operations: Vec<_> = paths.values().flat_map(|item| item.as_object().unwrap().values()).collect();
    let ids: BTreeSet<_> = operations.iter().map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len(), "{ids:?}");
    assert!(paths.len() >= 20, "{paths:?}");
}

#[tokio::test]
async fn every_reference_in_the_description_leads_somewhere() {
    let daemon = Daemon::start().await;
    let Description(described) = Description::of(daemon.address).await;
    let mut waiting = vec![&described];
    let mut found = 0;
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(all) => {
                if let Some(Value::String(to)) = all.get("$ref") {
                    found += 1;
                    assert!(described.pointer(to.strip_prefix('#').unwrap()).is_some(), "{to}");
                }
                waiting.extend(all.values());
            }
            Value::Array(all) => waiting.extend(all),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    assert!(found > 40, "{found}");
}

#[tokio::test]
async fn a_reply_that_is_not_as_described_is_found() {
    let daemon = Daemon::start().await;
    let description = Description::of(daemon.address).await;
    let mut reply = daemon.get(&daemon.agent("bot"), "/v1/agents/me").await;
    assert_eq!(description.mistakes("get", "/v1/agents/me", &reply), Vec::<String>::new());
    reply.json["agent"]["more"] = Value::from(3);
    assert_eq!(description.mistakes("get", "/v1/agents/me", &reply).len(), 1, "an unknown member");
    reply.json["agent"]["id"] = Value::from(3);
    assert_eq!(description.mistakes("get", "/v1/agents/me", &reply).len(), 2, "another type");
}
