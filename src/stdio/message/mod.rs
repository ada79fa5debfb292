//! The messages as values. `docs/protocol.md` shows each message as a line.

mod action;
mod common;
mod fault;
mod from_agent;
mod from_connector;
mod parse;
mod permission_field;
mod process;
mod schema;
#[cfg(test)]
mod tests;
mod to_agent;
mod to_connector;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

pub use action::DescribedAction;
pub use common::{Answered, Bye, Hello, Notice, NoticeKind, RevokePermission, RevokeResult};
pub use fault::{ErrorCode, Fault};
pub use from_agent::{
    AskPermissionState, Authorize, CancelRequest, CheckPermission, FromAgent, GrantPermission, MessageFromAgent,
    RequestPermission, UsePermission,
};
pub use from_connector::{
    AgreeToWidening, Decision, DeclareTools, EnableAction, EndRun, EnterRun, FromConnector, ListPolicies,
    MessageFromUser, ModifiedInput, PermissionDecision, PolicyMode, UpdatePolicy,
};
pub use parse::InvalidMessage;
pub(super) use parse::{Incoming, parse};
pub use permission_field::About;
pub use process::{
    ListedProcess, ProcessExited, ProcessList, ProcessListResult, ProcessOutput, ProcessRead, ProcessRestart,
    ProcessStart, ProcessStarted, ProcessStop, ProcessStopping, ProcessWrite, ProcessWritten,
};
pub use to_agent::{
    AgentHello, AuthorizeResult, CheckResult, Checked, CheckedPermission, GrantResult, Holdings, MessageToAgent,
    PermissionResult, PermissionStateResult, PolicyUpdated, RequestAccepted, ToAgent, UseResult,
};
pub use to_connector::{
    ActionEnabled, ConnectorHello, Content, GuardForAll, GuardUpdated, MessageToUser, Operation, PermissionRequest,
    PermissionResolved, PoliciesOfRun, PolicyName, ReasonKind, RunChanged, ToConnector, ToolGuard, ToolsDeclared,
};

/// The version of the protocol. It changes only if a bot that was correct before would become incorrect.
pub const PROTOCOL: u32 = 1;

/// The role of a bot. The program that starts the bot decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a third role must be met wherever one is acted as")]
pub enum Role {
    /// The bot acts as exactly one agent.
    Agent,
    /// The bot reaches the user of one foreground agent.
    Connector,
}

/// The maximum length of a text in bytes, so that messages do not fill the host's memory.
const MAX_TEXT: usize = 64 * 1024;

/// Reads a text of bounded length.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.len() > MAX_TEXT {
        return Err(D::Error::custom(format!("`text` has at most {MAX_TEXT} bytes")));
    }
    Ok(text)
}
