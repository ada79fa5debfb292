//! The comparison of real replies with the description that the server gives of its native API.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{
    client::{Reply, call},
    daemon::Daemon,
};

/// The description (OpenAPI) of a server.
pub(super) struct Description(pub(super) Value);

impl Description {
    pub(super) async fn of(address: SocketAddr) -> Description {
        let reply = call(address, "GET", "/v1/openapi.json", &[], "").await;
        assert_eq!(reply.status, 200);
        let mut described = reply.json;
        close_objects(&mut described);
        Description(described)
    }

    /// Panics if the reply to a request is not as it is described.
    pub(super) fn check(&self, method: &str, path: &str, reply: &Reply) {
        let wrong = self.mistakes(method, path, reply);
        assert!(wrong.is_empty(), "{method} {path} {}: {wrong:?}: {}", reply.status, reply.json);
    }

    /// Returns the differences between the reply to a request and its description.
    pub(super) fn mistakes(&self, method: &str, path: &str, reply: &Reply) -> Vec<String> {
        let path = path.split('?').next().unwrap();
        let Some(operation) = self.operation(path).and_then(|item| item.get(method)) else {
            assert!(matches!(reply.status, 404 | 405), "{method} {path} is not described: {reply:?}");
            return Vec::new();
        };
        let responses = &operation["responses"];
        let described = responses.get(reply.status.to_string()).unwrap_or(&responses["default"]);
        if reply.status == 204 {
            return Vec::new();
        }
        let kind = reply.head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or("");
        let content = described["content"].get(kind);
        let content = content.unwrap_or_else(|| panic!("{method} {path} has no {} {kind}: {described}", reply.status));
        let mut schema = content["schema"].clone();
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["components"] = self.0["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        validator.iter_errors(&reply.json).map(|why| why.to_string()).collect()
    }

    /// Returns the description of the paths with this form. A literal segment comes before a name.
    fn operation(&self, path: &str) -> Option<&Value> {
        let all = self.0["paths"].as_object().unwrap();
        let is_of = |described: &str| {
            let (segments, given) = (described.split('/'), path.split('/'));
            segments.clone().count() == given.clone().count()
                && segments.zip(given).all(|(segment, given)| segment.starts_with('{') || segment == given)
        };
        let found = all.iter().filter(|(described, _)| is_of(described));
        found.min_by_key(|(described, _)| described.matches('{').count()).map(|(_, item)| item)
    }
}

/// Refuses members that are not described.
fn close_objects(value: &mut Value) {
    match value {
        Value::Object(all) => {
            if all.contains_key("properties") && !all.contains_key("additionalProperties") {
                all.insert("additionalProperties".to_owned(), json!(false));
            }
            all.values_mut().for_each(close_objects);
        }
        Value::Array(all) => all.iter_mut().for_each(close_objects),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A generated client takes an object without fields for one that is always empty.
#[tokio::test]
async fn no_described_object_excludes_every_field() {
    let daemon = Daemon::start().await;
    let described = call(daemon.address, "GET", "/v1/openapi.json", &[], "").await.json;
    let mut objects = Vec::new();
    collect_objects(&described, &mut objects);
    assert!(objects.len() > 50, "{}", objects.len());
    for object in objects {
        assert!(object.get("properties").is_some() || object.get("additionalProperties").is_some(), "{object}");
    }
    let input = &described["components"]["schemas"]["ActionView"]["properties"]["input"];
    assert_eq!(input["additionalProperties"], json!({}), "{input}");
}

fn collect_objects<'v>(value: &'v Value, objects: &mut Vec<&'v Value>) {
    match value {
        Value::Object(all) => {
            objects.extend(Some(value).filter(|_| all.get("type") == Some(&json!("object"))));
            all.values().for_each(|value| collect_objects(value, objects));
        }
        Value::Array(all) => all.iter().for_each(|value| collect_objects(value, objects)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn every_path_and_every_event_has_a_description() {
    let daemon = Daemon::start().await;
    let described = call(daemon.address, "GET", "/v1/openapi.json", &[], "").await.json;
    let stream = &described["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"];
    assert_eq!(stream["schema"]["$ref"], "#/components/schemas/Event");
    for field in ["type", "eventId", "timestamp", "sequence", "schemaVersion", "runtimeId", "payload"] {
        assert!(described["components"]["schemas"]["Event"]["properties"][field].is_object(), "{field}");
    }
    for (path, method) in [
        ("/api/permissions", "get"),
        ("/api/permissions", "post"),
        ("/api/permissions/enable", "post"),
        ("/api/hooks/classify", "post"),
        ("/api/hooks/requests/{request}", "get"),
        ("/ws/permissions", "get"),
    ] {
        assert!(described["paths"][path][method]["responses"].is_object(), "{method} {path}");
    }
}
