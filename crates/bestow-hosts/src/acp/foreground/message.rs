//! The messages of an agent of an editor.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    card::{Card, Choice},
    markdown::{block, span},
};

/// The version of the protocol.
const VERSION: u16 = 1;

/// The text for a person who asks for help.
pub(super) const HELP: &str = "\
This is bestow. It is no model: it shows the permissions that your agents ask for, and takes your answers.

- A question appears as a permission card, in the latest session.
- `watch` keeps this turn open until you cancel it, for an editor that shows cards only during a turn.
- `help` shows this text. Everything else shows what waits and what the agent holds.
- Cancelling answers nothing: a question whose card is gone is shown again with your next message.
";

/// Returns the answer to a request.
pub(super) fn result(id: &RawValue, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Returns the answer that there is none.
pub(super) fn error(id: Option<&RawValue>, code: i32, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

pub(super) fn initialized(id: &RawValue) -> Value {
    let capabilities = json!({ "loadSession": false, "promptCapabilities": {} });
    let info = json!({ "name": "bestow", "title": "bestow", "version": env!("CARGO_PKG_VERSION") });
    result(
        id,
        &json!({ "protocolVersion": VERSION, "agentCapabilities": capabilities, "agentInfo": info, "authMethods": [] }),
    )
}

/// Returns a text of the agent.
pub(super) fn text(session: &str, text: &str) -> Value {
    update(session, json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }))
}

fn update(session: &str, update: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": session, "update": update } })
}

/// Returns the call that a card is about. No tool is called: the protocol shows permissions as those of a call.
fn call(card: &Card, call_id: &str) -> Value {
    json!({
        "toolCallId": call_id,
        "title": card.title,
        "kind": "other",
        "status": "pending",
        "content": [content(&shown(card))],
        "_meta": meta(card),
    })
}

/// Returns the text of a card: the question, its tier, and its end.
fn shown(card: &Card) -> String {
    format!("{}\nTier: {}. Expires: {}.\n", block(&card.text), span(&card.tier), span(&card.expires_at))
}

fn content(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

fn meta(card: &Card) -> Value {
    json!({ "bestow": {
        "agentId": card.agent, "requestId": card.request, "tier": card.tier, "expiresAt": card.expires_at,
    } })
}

/// Returns the two messages that show a card.
pub(super) fn card(session: &str, card: &Card, call_id: &str, id: u64) -> [Value; 2] {
    let call = call(card, call_id);
    let mut announced = call.clone();
    if let Value::Object(fields) = &mut announced {
        fields.insert("sessionUpdate".to_owned(), "tool_call".into());
    }
    let options: Vec<_> = offered(card).map(Choice::option).collect();
    let params = json!({ "sessionId": session, "toolCall": call, "options": options, "_meta": meta(card) });
    let asked = json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params });
    [update(session, announced), asked]
}

/// Iterates over the choices that a card offers.
pub(super) fn offered(card: &Card) -> impl Iterator<Item = Choice> {
    card.choices.iter().copied().filter(|choice| *choice != Choice::Deny).chain([Choice::Deny])
}

/// Returns the message that a card is over.
pub(super) fn over(session: &str, call_id: &str, is_granted: bool, how: &str) -> Value {
    let status = if is_granted { "completed" } else { "failed" };
    let fields = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status, "content": [content(how)],
    });
    update(session, fields)
}

/// Returns the message that the editor need not answer any more.
pub(super) fn cancel(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } })
}

/// The parameters of a prompt.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompt {
    pub(super) session_id: String,
    #[serde(default)]
    prompt: Vec<Value>,
}

impl Prompt {
    /// Returns the texts of the prompt.
    pub(super) fn text(&self) -> String {
        let texts = self.prompt.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "text"));
        let texts: Vec<_> = texts.filter_map(|block| block.get("text")?.as_str()).collect();
        texts.join("\n").trim().to_lowercase()
    }
}

#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(borrow)]
    outcome: Outcome<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    outcome: std::borrow::Cow<'a, str>,
    option_id: Option<String>,
}

/// Returns the id of the option that an editor selected. Any other outcome is no answer.
pub(super) fn selected(result: &RawValue) -> Option<String> {
    let Answered { outcome } = serde_json::from_str(result.get()).ok()?;
    if outcome.outcome == "selected" { outcome.option_id } else { None }
}
