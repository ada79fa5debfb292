//! A request as this dialect shows it.

use bestow::{
    command::Tier,
    request::{InvalidRequestId, Request, RequestId, Resolution},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::shown;

/// The prefix of the id of a request about a tool call.
const OF_A_CALL: &str = "hook_";

/// The prefix of the id of a request for permissions.
const FOR_PERMISSIONS: &str = "perm_";

/// The tool name of a request for permissions.
const REQUEST_PERMISSION: &str = "request_permission";

/// Returns the id of a request in this dialect.
pub(super) fn id(request: &Request) -> String {
    let prefix = if request.action.is_some() { OF_A_CALL } else { FOR_PERMISSIONS };
    format!("{prefix}{}", request.id)
}

/// Returns the id of a request about a tool call.
pub(super) fn id_of_a_call(request: RequestId) -> String {
    format!("{OF_A_CALL}{request}")
}

/// Returns the id of a request that has ended.
pub(super) fn id_of(resolution: &Resolution) -> String {
    let prefix = if resolution.action.is_some() { OF_A_CALL } else { FOR_PERMISSIONS };
    format!("{prefix}{}", resolution.request)
}

/// Reads an id with either prefix.
pub(super) fn parse_id(text: &str) -> Result<RequestId, InvalidRequestId> {
    text.strip_prefix(OF_A_CALL).or_else(|| text.strip_prefix(FOR_PERMISSIONS)).unwrap_or(text).parse()
}

/// A pending request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    id: String,
    /// The short code, for people.
    code: String,
    agent_id: String,
    user_id: String,
    tool_name: String,
    tool_input: Value,
    /// True if `tool_input` shows only a part.
    tool_input_cut: bool,
    tier: Tier,
    reason: String,
    /// The permissions that the agent lacks. An approval gives them as well: for the one call, or for good.
    permissions: Vec<String>,
    /// The decision that `approve_always` saves. `null` if it is refused.
    always: Option<Always>,
    timestamp: u64,
    expires_at: u64,
    status: &'static str,
}

/// The decision that `approve_always` saves.
#[derive(Debug, Serialize)]
struct Always {
    /// The shape of the commands that it allows, if the request is about a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<String>,
    /// The whole, as a sentence.
    text: String,
}

impl Always {
    fn of(request: &Request) -> Option<Always> {
        let shape = request.lasting_shape().map(|shape| shape.phrase().to_string());
        request.lasting().map(|lasting| Always { shape, text: lasting.to_string() })
    }
}

impl Item {
    pub(super) fn of(request: &Request) -> Item {
        let action = request.action.as_deref();
        Item {
            id: id(request),
            code: request.code().to_string(),
            agent_id: request.from.to_string(),
            user_id: request.owner.to_string(),
            tool_name: action.map_or_else(|| REQUEST_PERMISSION.to_owned(), |action| action.tool.to_string()),
            tool_input: action.map_or_else(|| permissions(request), shown::tool_input),
            tool_input_cut: action.is_some_and(|action| {
                action.cut || action.details.as_ref().is_some_and(|details| details.left_out > 0)
            }),
            tier: tier(request),
            reason: reason(request),
            permissions: request.permissions().map(ToString::to_string).collect(),
            always: Always::of(request),
            timestamp: request.since.as_millis(),
            expires_at: request.deadline.as_millis(),
            status: "pending",
        }
    }
}

/// Returns the reason why a person must decide.
fn reason(request: &Request) -> String {
    let why = request.why.as_deref().or(request.action.as_deref().map(|action| &*action.tier_reason));
    why.map_or_else(|| request.reason.to_string(), str::to_owned)
}

/// Returns the tier of a request. A permission lasts, so it is never a safe thing to give.
pub(super) fn tier(request: &Request) -> Tier {
    request.action.as_ref().map_or(Tier::Dangerous, |action| action.tier)
}

fn permissions(request: &Request) -> Value {
    let asked: Vec<_> = request.permissions().map(ToString::to_string).collect();
    json!({ "permissions": asked, "reason": request.reason.to_string() })
}

/// Returns what a card shows in place of the whole input: the command, or the path or host.
pub(super) fn command(request: &Request) -> String {
    request.action.as_ref().map_or_else(|| request.to_string(), |action| action.resource.to_string())
}
