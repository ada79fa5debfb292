//! The table of the tools: names, descriptions, annotations and schemas.

use std::sync::{Arc, LazyLock};

use rmcp::model::{self, JsonObject, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use super::{check, explain, grant, list, request, revoke};
use crate::view::RequestState;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Check,
    Request,
    Await,
    Grant,
    Revoke,
    List,
    Explain,
}

/// The effects of a tool, as a client reads them.
#[derive(Clone, Copy)]
enum Effects {
    /// It changes nothing.
    Reads,
    /// It asks a person.
    Asks,
    /// It adds something. Doing it twice is like doing it once.
    Adds,
    /// It takes something away.
    TakesAway,
}

impl Tool {
    const ALL: [Tool; 7] =
        [Tool::Check, Tool::Request, Tool::Await, Tool::Grant, Tool::Revoke, Tool::List, Tool::Explain];

    /// Returns the tool with this name.
    pub(crate) fn named(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Check => "check_permission",
            Tool::Request => "request_permission",
            Tool::Await => "await_permission",
            Tool::Grant => "grant_permission",
            Tool::Revoke => "revoke_permission",
            Tool::List => "list_permissions",
            Tool::Explain => "explain",
        }
    }

    fn definition(self) -> model::Tool {
        match self {
            Tool::Check => self.described::<check::CheckPermission, check::Checked>(
                "Check permissions",
                Effects::Reads,
                "Returns for each permission if you hold it now: `held`, `held_once` (for one use) or `not_held`. It \
                 asks no person and consumes nothing. Call it before work that needs a permission.",
            ),
            Tool::Request => self.described::<request::RequestPermission, RequestState>(
                "Request permissions",
                Effects::Asks,
                "Requests permissions that you lack from a person. The call returns at once, unless you name \
                 `wait_seconds`: `status` is `pending` with a `request_id`. Then continue with other work, and call \
                 `await_permission` later. Call this as soon as you are blocked, with the narrowest permission that is \
                 enough. Only the permissions in the list `granted` are given. Permissions that you hold are not \
                 requested again.",
            ),
            Tool::Await => self.described::<request::AwaitPermission, RequestState>(
                "Await a request",
                Effects::Reads,
                "Returns the outcome of your request, or `pending` if no person has decided within `wait_seconds`.",
            ),
            Tool::Grant => self.described::<grant::GrantPermission, grant::Granted>(
                "Grant permissions",
                Effects::Adds,
                "Passes permissions that you hold now on to another agent of your owner, with a reason. The agent gets \
                 the whole list or nothing. Give only a part of your permissions, such as a directory below yours, and \
                 no more than the agent needs. The permissions end when you lose them.",
            ),
            Tool::Revoke => self.described::<revoke::RevokePermission, revoke::Revoked>(
                "Revoke a grant",
                Effects::TakesAway,
                "Ends a grant that you gave, with every grant that depends on it alone, or gives up one that you hold. \
                 `list_permissions` lists the ids.",
            ),
            Tool::List => self.described::<list::ListPermissions, list::Listed>(
                "List permissions",
                Effects::Reads,
                "Lists the permissions that you hold now with their source, the grants that you gave to other agents, \
                 and your requests that wait.",
            ),
            Tool::Explain => self.described::<explain::Explain, explain::Explained>(
                "Explain a decision",
                Effects::Reads,
                "Explains the decision that an action of yours would get now, and what would allow it. Describe the \
                 action with `operation` and `resource`, or with `tool_name` and `tool_input`. Nothing is decided, \
                 asked or consumed: the explanation is not an approval.",
            ),
        }
    }

    fn described<I: JsonSchema, O: JsonSchema>(
        self,
        title: &str,
        effects: Effects,
        description: &'static str,
    ) -> model::Tool {
        model::Tool::new(self.name(), description, Arc::new(schema::<I>()))
            .with_title(title)
            .with_raw_output_schema(Arc::new(schema::<O>()))
            .with_annotations(effects.annotations(title))
    }
}

impl Effects {
    fn annotations(self, title: &str) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(title);
        match self {
            Effects::Reads => hints.read_only(true).destructive(false).idempotent(true).open_world(false),
            // The person who is asked is outside of the engine.
            Effects::Asks => hints.read_only(false).destructive(false).idempotent(false).open_world(true),
            Effects::Adds => hints.read_only(false).destructive(false).idempotent(true).open_world(false),
            Effects::TakesAway => hints.read_only(false).destructive(true).idempotent(false).open_world(false),
        }
    }
}

/// Returns the definitions of all tools. They are made once.
pub(crate) fn definitions() -> &'static [model::Tool] {
    static DEFINITIONS: LazyLock<Vec<model::Tool>> =
        LazyLock::new(|| Tool::ALL.into_iter().map(Tool::definition).collect());
    &DEFINITIONS
}

/// Returns the schema of a type, without references.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut schema) = Value::from(schema) else { return JsonObject::new() };
    // The name of the type says nothing to a client.
    schema.remove("title");
    // Clients require it, also where a tool has no arguments.
    schema.entry("properties").or_insert_with(|| JsonObject::new().into());
    schema
}
