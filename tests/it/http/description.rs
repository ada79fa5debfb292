//! The comparison of real replies with the description that the server gives of its native API.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::client::{Reply, call};

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
