//! The action that a call describes.

use bestow::{
    Action, Permission,
    action::Operation,
    stdio::{Authorize, DescribedAction},
    tool::ToolName,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::request::several;
use crate::failure::Failure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescribeAction {
    /// `fs.read`, `fs.write`, `fs.exec`, `command.execute`, `network`, `events` or `tool`. It goes together with
    /// `resource`.
    #[schemars(with = "Option<String>")]
    operation: Option<Operation>,
    /// The path, command line, host, or name of the tool.
    resource: Option<String>,
    /// The tool that performs the action.
    #[schemars(with = "Option<String>")]
    tool_name: Option<ToolName>,
    /// The input of the tool, instead of `operation` and `resource`.
    tool_input: Option<Map<String, Value>>,
    /// Permissions that the action uses in addition.
    #[schemars(with = "Option<Vec<String>>")]
    permissions: Option<Vec<Permission>>,
}

impl DescribeAction {
    /// Returns the action, read as the connector for child processes reads it.
    pub(super) fn action(self) -> Result<Action, Failure> {
        let details = self.tool_input.clone().map(Value::Object);
        let action = DescribedAction {
            operation: self.operation,
            resource: self.resource,
            tool_name: self.tool_name,
            tool_input: self.tool_input,
            details,
            permissions: self.permissions.map(several).transpose()?,
        };
        let described = Authorize { action, reason: None, tool_call_id: None, overrides: false, request_id: None };
        described.action().map_err(|why| Failure::new(snake_case(why)))
    }
}

/// Returns a sentence with the names of the fields as this dialect spells them.
fn snake_case(sentence: &str) -> String {
    sentence.replace("toolName", "tool_name").replace("toolInput", "tool_input")
}
