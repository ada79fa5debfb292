//! The tools with their fields. This one table defines the input of a model, and [`call`](super::call) reads by it.

use serde_json::{Map, Value, json};

use crate::model::{InvalidPermission, MAX_PERMISSIONS, MAX_REASON_CHARS};

/// The maximum time in seconds that one call waits for a decision.
pub(super) const MAX_SECONDS: u64 = 60;

/// The scopes that a model may name. The scope `until`, with a time, is for programs only.
const SCOPES: [&str; 3] = ["once", "session", "always"];

/// One tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    description: &'static str,
    pub(super) fields: &'static [Field],
}

/// One field of the input of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: FieldKind,
    pub(super) required: bool,
    description: &'static str,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// One permission.
    Tag,
    /// Several permissions.
    Tags,
    Reason,
    Scope,
    Agent,
    Request,
    Seconds,
}

const fn required(name: &'static str, kind: FieldKind, description: &'static str) -> Field {
    Field { name, kind, required: true, description }
}

const fn optional(name: &'static str, kind: FieldKind, description: &'static str) -> Field {
    Field { name, kind, required: false, description }
}

const PERMISSION: Field = optional("permission", FieldKind::Tag, "One permission. Name this or `permissions`.");
const PERMISSIONS: Field = optional(
    "permissions",
    FieldKind::Tags,
    "Several permissions that are needed together. Name this or `permission`.",
);

/// All tools, in the order in which a model reads them.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "request_permission",
        description: "Requests permissions that you lack from a person. The call returns at once: `status` is \
                      `pending` with a `request_id`. The decision reaches you later as a message, so continue with \
                      other work. Call this as soon as you are blocked, with the narrowest permission that is \
                      enough. Permissions that you already hold are not requested again.",
        fields: &[
            PERMISSION,
            PERMISSIONS,
            required("reason", FieldKind::Reason, "The reason, in one sentence, for the person who decides."),
            optional("scope", FieldKind::Scope, "The longest duration that you want. Without it, the person decides."),
        ],
    },
    Tool {
        name: "grant_permission",
        description: "Passes permissions that you hold now on to another agent of your owner, with a reason. The \
                      agent gets the whole list or nothing. Give only a part of your permissions, such as a directory \
                      below yours, and no more than the agent needs. The permissions end when you lose them.",
        fields: &[
            required("agent_id", FieldKind::Agent, "The id of the agent that receives them."),
            PERMISSION,
            PERMISSIONS,
            required("reason", FieldKind::Reason, "The reason. The other agent reads it as well."),
            optional("scope", FieldKind::Scope, "The longest duration for the other agent. Without it: `always`."),
        ],
    },
    Tool {
        name: "check_permission",
        description: "Returns for each permission if you hold it now: `held`, `held_once` (for one use) or \
                      `not_held`. It asks no person.",
        fields: &[PERMISSION, PERMISSIONS],
    },
    Tool {
        name: "await_permission",
        description: "Returns the outcome of your request, or `pending`. Use it only if no other work is left. \
                      Otherwise continue with other work, because each decision reaches you as a message.",
        fields: &[
            required("request_id", FieldKind::Request, "The `request_id` that `request_permission` returned."),
            optional(
                "seconds",
                FieldKind::Seconds,
                "The time to wait, in seconds. Without it, the call does not wait.",
            ),
        ],
    },
    Tool {
        name: "list_permissions",
        description: "Lists the permissions that you hold now, your working directory and your kind.",
        fields: &[],
    },
];

impl FieldKind {
    /// Returns an example value of this type.
    fn example(self) -> Value {
        match self {
            FieldKind::Tag => json!("@network"),
            FieldKind::Tags => json!(["@write:/work/site", "@network"]),
            FieldKind::Reason => json!("Need to verify the latest docs."),
            FieldKind::Scope => json!("session"),
            FieldKind::Agent => json!("writer"),
            FieldKind::Request => json!("01890a5d-ac96-774b-bcce-b302099a8057"),
            FieldKind::Seconds => json!(10),
        }
    }

    fn schema(self) -> Map<String, Value> {
        let schema = match self {
            FieldKind::Tag => json!({ "type": "string", "minLength": 1 }),
            FieldKind::Tags => json!({
                "type": "array",
                "items": { "type": "string", "minLength": 1 },
                "minItems": 1,
                "maxItems": MAX_PERMISSIONS,
            }),
            FieldKind::Reason => json!({ "type": "string", "minLength": 1, "maxLength": MAX_REASON_CHARS }),
            FieldKind::Scope => json!({ "type": "string", "enum": SCOPES }),
            FieldKind::Agent | FieldKind::Request => json!({ "type": "string", "minLength": 1 }),
            FieldKind::Seconds => json!({ "type": "integer", "minimum": 0, "maximum": MAX_SECONDS }),
        };
        if let Value::Object(schema) = schema { schema } else { Map::new() }
    }
}

impl Field {
    fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        let form = match self.kind {
            FieldKind::Tag | FieldKind::Tags => format!(" In general, {}.", InvalidPermission::UnknownForm),
            FieldKind::Reason | FieldKind::Scope | FieldKind::Agent | FieldKind::Request | FieldKind::Seconds => {
                String::new()
            }
        };
        schema.insert("description".to_owned(), format!("{}{form}", self.description).into());
        schema.insert("examples".to_owned(), json!([self.kind.example()]));
        Value::Object(schema)
    }
}

impl Tool {
    fn input_schema(&self) -> Value {
        let properties: Map<String, Value> =
            self.fields.iter().map(|field| (field.name.to_owned(), field.schema())).collect();
        let required: Vec<&str> = self.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }
}

/// Returns the definitions of the tools, each as `{name, description, input_schema}`.
pub fn tools() -> Vec<Value> {
    let define = |tool: &Tool| {
        let (name, schema) = (tool.name, tool.input_schema());
        json!({ "name": name, "description": tool.description, "input_schema": schema })
    };
    TOOLS.iter().map(define).collect()
}

/// Returns the definitions of the tools, each as `{type: "function", function: {name, description, parameters}}`.
pub fn functions() -> Vec<Value> {
    let define = |tool: &Tool| {
        let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema() });
        json!({ "type": "function", "function": function })
    };
    TOOLS.iter().map(define).collect()
}

/// Returns true if `name` is one of these tools, so that [`call`](super::call) can carry out its calls.
pub fn is_tool(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
}
