//! An action in the form in which a bot describes it.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::model::{Action, Operation, Permissions, ToolName};

/// The action of `authorize` and `enable_action`: `operation` and `resource`, or `toolName` and `toolInput`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct DescribedAction {
    /// The kind of operation. It goes together with `resource`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// The path, command line or host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The tool that performs the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    /// The input of the tool, instead of `operation` and `resource`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<serde_json::Map<String, serde_json::Value>>,
    /// The content that will be written or sent: an object or a text.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "content")]
    pub details: Option<serde_json::Value>,
    /// Permissions that the action uses in addition, as a command does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
}

fn content<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    let content = Option::<serde_json::Value>::deserialize(deserializer)?;
    match content {
        Some(value) if !value.is_object() && !value.is_string() => {
            Err(D::Error::custom("`details` must be an object or a text"))
        }
        content => Ok(content),
    }
}

impl DescribedAction {
    /// Returns the described action.
    ///
    /// # Errors
    ///
    /// An explanation, if the fields do not describe an action.
    pub fn action(self) -> Result<Action, &'static str> {
        let action = match (self.operation, self.resource, self.tool_input) {
            (Some(operation), Some(resource), None) => Action::new(operation, &resource),
            (None, None, Some(input)) => match &self.tool_name {
                Some(name) => Action::tool(name.clone(), input.into()),
                None => return Err("`toolInput` goes with `toolName`"),
            },
            _ => return Err("an action is `operation` and `resource`, or `toolName` and `toolInput`"),
        };
        let action = self.tool_name.into_iter().fold(action, Action::by_tool);
        let action = self.permissions.into_iter().fold(action, Action::needing);
        Ok(self.details.into_iter().fold(action, Action::with_details))
    }
}
