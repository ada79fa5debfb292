//! The description of this dialect (OpenAPI 3.1). It is made from the handlers and the types of their bodies.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{
    Modify, OpenApi, ToSchema,
    openapi::{
        self, Content, Ref, RefOr, Required, ResponseBuilder,
        path::{Operation, ParameterBuilder, ParameterIn, PathItem},
        schema::{ObjectBuilder, Type},
        security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
    },
};

use crate::permissions::described_paths;

/// The name of the way in which clients show who they are.
const TOKEN: &str = "token";

/// The description without its paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "bestow",
        description = "The permissions of agents: what they hold, what they may do, what they ask people, and what \
                       people decide."
    ),
    components(schemas(Problem, Event)),
    modifiers(&Token)
)]
pub(super) struct Described;

struct Token;

impl Modify for Token {
    fn modify(&self, described: &mut openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        described.components.get_or_insert_default().security_schemes.insert(TOKEN.to_owned(), RefOr::T(scheme));
        described.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, [])]);
    }
}

/// An error (RFC 9457).
#[derive(Serialize, ToSchema)]
struct Problem {
    r#type: String,
    title: String,
    status: u16,
    /// The cause and, where there is one, the way out, for people.
    detail: String,
    /// The stable name of the error.
    code: String,
    /// The text of `detail`.
    error: String,
    /// Facts for programs.
    #[schema(value_type = Option<Object>)]
    facts: Option<Value>,
}

/// An event: its envelope, and the facts in its payload (`docs/events.md`).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    /// The kind of the event, as in `permission.evaluated`.
    r#type: String,
    event_id: String,
    #[schema(format = DateTime)]
    timestamp: String,
    /// The number of the event, one more than that of the event before.
    sequence: u64,
    schema_version: String,
    runtime_id: String,
    /// The means by which the agent acted that caused the event.
    via: Option<String>,
    owner_id: Option<String>,
    agent_id: Option<String>,
    run_id: Option<String>,
    request_id: Option<String>,
    grant_id: Option<String>,
    decision_id: Option<String>,
    ruling_id: Option<String>,
    process_id: Option<String>,
    tool_call_id: Option<String>,
    /// The facts, by the kind of the event.
    #[schema(value_type = Object)]
    payload: Value,
    /// The things that the event refers to.
    refs: Option<Vec<Reference>>,
}

/// A thing that an event refers to.
#[derive(Serialize, ToSchema)]
struct Reference {
    kind: String,
    id: String,
}

/// Adds to every operation what all of them have: a name of its own, errors, and a key for repeated writes.
///
/// The other dialect of HTTP is a part of the description.
pub(super) fn completed(mut described: openapi::OpenApi) -> Value {
    for item in described.paths.paths.values_mut() {
        let PathItem { get, put, post, delete, patch, .. } = item;
        for write in [put, post, delete, patch].into_iter().flatten() {
            add_key(write);
            complete(write);
        }
        get.iter_mut().for_each(complete);
    }
    let mut described = json!(described);
    if let (Some(Value::Object(paths)), Value::Object(more)) = (described.get_mut("paths"), described_paths()) {
        paths.extend(more);
    }
    open_objects(&mut described);
    described
}

/// Makes each object without described fields one with any fields. Otherwise a generated client takes it for an empty
/// one.
fn open_objects(schema: &mut Value) {
    match schema {
        Value::Object(all) => {
            let is_object = all.get("type").is_some_and(|kind| {
                kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
            });
            if is_object && !all.contains_key("properties") && !all.contains_key("additionalProperties") {
                all.insert("additionalProperties".to_owned(), json!({}));
            }
            all.values_mut().for_each(open_objects);
        }
        Value::Array(all) => all.iter_mut().for_each(open_objects),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn complete(operation: &mut Operation) {
    // The name of a handler is unique in its resource.
    let resource = operation.tags.iter().flatten().next();
    operation.operation_id = resource.zip(operation.operation_id.as_ref()).map(|(of, name)| format!("{of}_{name}"));
    let schema = Content::new(Some(RefOr::Ref(Ref::from_schema_name("Problem"))));
    let problem = ResponseBuilder::new().description("An error.").content("application/problem+json", schema);
    operation.responses.responses.insert("default".to_owned(), RefOr::T(problem.build()));
}

fn add_key(operation: &mut Operation) {
    let text = ObjectBuilder::new().schema_type(Type::String).max_length(Some(super::idempotency::LONGEST_KEY)).build();
    let key = ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("A text of the client. A repeated write with an equal key gets the stored answer."))
        .schema(Some(text))
        .build();
    operation.parameters.get_or_insert_default().push(RefOr::T(key));
}
