//! The messages that a relay looks at, and those that it writes itself.

use serde_json::{Value, json};

/// The first version of the protocol without a handshake, with headers for the method and the name.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// The code of JSON-RPC for an error inside the server.
const INTERNAL_ERROR: i32 = -32_603;

/// A message of the client.
#[derive(Debug)]
pub(super) enum Message {
    Request(Call),
    /// The client does not wait for this request any more.
    Cancelled(Value),
    /// The answer to a request of the server.
    Answer(Value),
    /// The handshake is complete.
    Initialized,
    /// A message without an answer. The server remembers nothing of it.
    Other,
}

/// A request of the client.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) method: String,
    /// The version that the request names.
    version: Option<String>,
    /// The tool or the resource.
    name: Option<String>,
    pub(super) whole: Value,
}

impl Message {
    pub(super) fn of(whole: Value) -> Message {
        let Some(method) = whole.get("method").and_then(Value::as_str).map(str::to_owned) else {
            return Message::Answer(whole);
        };
        let params = whole.get("params");
        let text = |name: &str| params.and_then(|params| params.get(name)).and_then(Value::as_str).map(str::to_owned);
        match whole.get("id").filter(|id| !id.is_null()).cloned() {
            Some(id) => Message::Request(Call {
                version: version_of(&whole),
                name: text("name").or_else(|| text("uri")),
                id,
                method,
                whole,
            }),
            None if method == "notifications/cancelled" => {
                let id = params.and_then(|params| params.get("requestId")).cloned();
                id.map_or(Message::Other, Message::Cancelled)
            }
            None if method == "notifications/initialized" => Message::Initialized,
            None => Message::Other,
        }
    }
}

/// Returns the version in a request: that of the handshake, or that of the request alone.
fn version_of(whole: &Value) -> Option<String> {
    let version = whole.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
    version.and_then(Value::as_str).map(str::to_owned)
}

impl Call {
    /// Returns the headers of the request, for the version that the handshake agreed on.
    pub(super) fn headers(&self, agreed: Option<&str>) -> Vec<(&'static str, String)> {
        let Some(version) = self.version.as_deref().or(agreed) else { return Vec::new() };
        let mut headers = vec![("mcp-protocol-version", version.to_owned())];
        if version >= WITHOUT_HANDSHAKE {
            headers.push(("mcp-method", self.method.clone()));
            headers.extend(self.name.clone().map(|name| ("mcp-name", name)));
        }
        headers
    }

    /// Returns true for the request that begins the handshake.
    pub(super) fn is_handshake(&self) -> bool {
        self.method == "initialize"
    }

    /// Returns true for a request whose answer never comes, as long as its stream is open.
    pub(super) fn listens(&self) -> bool {
        self.method == "subscriptions/listen"
    }

    /// Returns the answer to a request that has none. It is never an approval. A model reads the result of a tool, and
    /// not the error of a request.
    pub(super) fn failed(&self, why: &str) -> Value {
        if self.method != "tools/call" {
            let error = json!({ "code": INTERNAL_ERROR, "message": why });
            return json!({ "jsonrpc": "2.0", "id": self.id, "error": error });
        }
        let mut result = json!({ "content": [{ "type": "text", "text": why }], "isError": true });
        if let (Value::Object(fields), Some(_)) = (&mut result, &self.version) {
            fields.insert("resultType".to_owned(), "complete".into());
        }
        json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
    }
}

/// Returns the version that an answer to a handshake names.
pub(super) fn agreed(answer: &Value) -> Option<String> {
    answer.pointer("/result/protocolVersion").and_then(Value::as_str).map(str::to_owned)
}
