//! The description (OpenAPI 3.1) of this dialect. Its bodies are read field by field, so it is written out.

use serde_json::{Value, json};

/// Returns the paths of this dialect, as they stand in a description.
pub(crate) fn paths() -> Value {
    let text = || json!({ "type": "string" });
    let request = "the id of a request, with its prefix `hook_` or `perm_`";
    json!({
        "/api/permissions": {
            "get": {
                "tags": ["permissions"], "operationId": "permissions_list",
                "summary": "Lists the requests that wait for an answer of the caller.",
                "parameters": [{ "name": "agentId", "in": "query", "required": false, "schema": text() }],
                "responses": answers(&open(&json!({
                    "pending": { "type": "array", "items": item() }, "message": text(),
                }), &["pending", "message"])),
            },
            "post": {
                "tags": ["permissions"], "operationId": "permissions_decide",
                "summary": "Answers a request. When the reply arrives, the answer is in force.",
                "requestBody": body(&json!({
                    "requestId": { "type": "string", "description": request },
                    "decision": { "enum": ["approve", "reject", "approve_always"] },
                    "feedback": text(), "modifiedInput": text(), "userId": text(),
                }), &["requestId", "decision"]),
                "responses": answers(&open(&json!({
                    "success": { "type": "boolean" }, "requestId": text(), "decision": text(), "tier": tier(),
                    "scope": { "enum": ["once", "always"], "description": "How long the approval is valid." },
                }), &["success", "requestId", "decision", "tier"])),
            },
        },
        "/api/permissions/enable": {
            "post": {
                "tags": ["permissions"], "operationId": "permissions_enable",
                "summary": "Enables exactly this call of this agent, once, even if it is destructive.",
                "requestBody": body(&json!({
                    "agentId": text(), "toolName": text(), "toolInput": object(), "reason": text(),
                }), &["agentId", "toolName", "reason"]),
                "responses": answers(&open(&json!({
                    "success": { "type": "boolean" }, "savedDecision": text(),
                }), &["success", "savedDecision"])),
            },
        },
        "/api/hooks/classify": {
            "post": {
                "tags": ["permissions"], "operationId": "permissions_classify",
                "summary": "Decides about a tool call of the agent, and waits at most `waitMs` for a person.",
                "requestBody": body(&json!({
                    "toolName": text(), "toolInput": object(), "agentId": text(), "userId": text(),
                    "waitMs": { "type": "integer", "minimum": 0 },
                }), &["toolName"]),
                "responses": answers_or(&open(&json!({
                    "allow": { "type": "boolean" }, "tier": tier(), "reason": text(),
                    "requestId": text(), "updatedInput": object(), "feedback": text(),
                }), &["allow", "tier", "reason"]), &open(&json!({
                    "allow": { "const": false }, "reason": text(), "code": text(), "detail": text(),
                }), &["allow", "reason", "code", "detail"])),
            },
        },
        "/api/hooks/requests/{request}": {
            "get": {
                "tags": ["permissions"], "operationId": "permissions_state",
                "summary": "Returns the state of a request that this agent made.",
                "parameters": [
                    { "name": "request", "in": "path", "required": true, "description": request, "schema": text() },
                ],
                "responses": answers(&open(&json!({
                    "requestId": text(),
                    "status": {
                        "enum": ["pending", "approved", "rejected", "expired", "cancelled", "unavailable"],
                    },
                    "reason": text(), "feedback": text(), "updatedInput": object(),
                }), &["requestId", "status"])),
            },
        },
        "/ws/permissions": {
            "get": {
                "tags": ["permissions"], "operationId": "permissions_socket",
                "summary": "A WebSocket with the requests that wait, for the decisions of a person.",
                "responses": { "101": { "description": "A WebSocket." }, "default": problem() },
            },
        },
    })
}

fn item() -> Value {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let always = json!({ "shape": text, "text": text });
    let item = json!({
        "id": text, "code": text, "agentId": text, "userId": text, "toolName": text, "toolInput": object(),
        "toolInputCut": { "type": "boolean" }, "tier": tier(), "reason": text,
        "permissions": { "type": "array", "items": text },
        "always": {
            "description": "What `approve_always` saves. Null if it is refused.",
            "oneOf": [{ "type": "null" }, open(&always, &["text"])],
        },
        "timestamp": number, "expiresAt": number, "status": text,
    });
    open(&item, &["id", "agentId", "userId", "toolName", "toolInput", "tier", "reason", "timestamp", "status"])
}

fn tier() -> Value {
    json!({ "enum": ["safe", "dangerous", "destructive"] })
}

/// An object with any fields.
fn object() -> Value {
    json!({ "type": "object", "additionalProperties": {} })
}

/// An object with these fields. Later versions may add more.
fn open(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": {} })
}

fn body(properties: &Value, required: &[&str]) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "required": true, "content": { "application/json": { "schema": schema } } })
}

fn answers(schema: &Value) -> Value {
    answers_or(schema, &json!({ "$ref": "#/components/schemas/Problem" }))
}

/// The answer, or an error with a body of its own.
fn answers_or(schema: &Value, error: &Value) -> Value {
    let answer = json!({ "description": "The answer.", "content": { "application/json": { "schema": schema } } });
    json!({ "200": answer, "default": error_with(error) })
}

fn problem() -> Value {
    error_with(&json!({ "$ref": "#/components/schemas/Problem" }))
}

fn error_with(schema: &Value) -> Value {
    json!({ "description": "An error.", "content": { "application/problem+json": { "schema": schema } } })
}
