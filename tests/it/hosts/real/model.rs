//! The model of a coding agent, played by a test: it calls one tool in each conversation, and then it is done.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// The protocol between a coding agent and its model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dialect {
    /// The messages of Claude.
    Messages,
    /// The responses of OpenAI.
    Responses,
    /// The chat completions of OpenAI.
    Completions,
    /// The contents of Gemini.
    Contents,
}

/// The call of a tool: its name and its input.
pub(crate) type ToolCall = (String, Value);

/// Chooses the call of a tool by the first message of a conversation.
type Play = Arc<dyn Fn(&str) -> Option<ToolCall> + Send + Sync>;

/// A model that calls at most one tool in each conversation. It keeps what it is told.
pub(crate) struct Model {
    pub(crate) address: SocketAddr,
    dialect: Dialect,
    told: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Creates a model that makes this call. A tool of a server may have a longer name, which ends with this one.
    pub(crate) fn calling(dialect: Dialect, tool: &str, input: Value) -> Model {
        let call = (tool.to_owned(), input);
        Model::playing(dialect, move |_| Some(call.clone()))
    }

    pub(crate) fn playing(dialect: Dialect, play: impl Fn(&str) -> Option<ToolCall> + Send + Sync + 'static) -> Model {
        let play: Play = Arc::new(play);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&told);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, play) = (Arc::clone(&kept), Arc::clone(&play));
                thread::spawn(move || serve(&stream, dialect, &kept, &play));
            }
        });
        Model { address, dialect, told }
    }

    /// Returns the tools in the last request that has any: their names, and the schemas of their inputs.
    pub(crate) fn offered(&self) -> Vec<(String, Value)> {
        let told = self.told.lock().unwrap();
        told.iter().rev().map(|body| self.dialect.schemas(body)).find(|all| !all.is_empty()).unwrap_or_default()
    }

    /// Returns the first result of a tool, as the model gets it.
    pub(crate) fn result(&self) -> Value {
        self.results().first().unwrap().clone()
    }

    /// Returns the results of all tools, as the model gets them.
    pub(crate) fn results(&self) -> Vec<Value> {
        let told = self.told.lock().unwrap();
        let results: Vec<_> = told.iter().flat_map(|body| self.dialect.results(body)).collect();
        assert!(!results.is_empty(), "no result: {told:?}");
        results
    }
}

/// Serves the requests of one connection.
fn serve(stream: &TcpStream, dialect: Dialect, kept: &Mutex<Vec<Value>>, play: &Play) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line, mut first) = (0, String::new(), None);
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            first.get_or_insert_with(|| line.clone());
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let (status, kind, reply) = match serde_json::from_slice::<Value>(&body) {
            Ok(body) => {
                let (kind, reply) = dialect.reply(&first?, &body, play);
                kept.lock().unwrap().push(body);
                ("200 OK", kind, reply)
            }
            Err(_) => ("404 Not Found", "text/plain", String::new()),
        };
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", reply.len());
        (&mut &*stream).write_all(format!("{head}{reply}").as_bytes()).ok()?;
    }
}

impl Dialect {
    /// Returns the names of the tools in a request.
    fn offered(self, body: &Value) -> Vec<String> {
        let listed = |tools: &Value, name: &str| -> Vec<String> {
            let tools = tools.as_array().into_iter().flatten();
            tools.filter_map(|tool| Some(tool.pointer(name)?.as_str()?.to_owned())).collect()
        };
        match self {
            Dialect::Messages => listed(&body["tools"], "/name"),
            Dialect::Responses => {
                // The tools of a server are in a group with its name.
                let groups = body["tools"].as_array().into_iter().flatten().filter(|tool| tool["type"] == "namespace");
                let inner = groups.flat_map(|group| {
                    let name = group["name"].as_str().unwrap_or_default();
                    listed(&group["tools"], "/name").into_iter().map(move |tool| format!("{name}/{tool}"))
                });
                listed(&body["tools"], "/name").into_iter().chain(inner).collect()
            }
            Dialect::Completions => listed(&body["tools"], "/function/name"),
            Dialect::Contents => {
                let groups = body["tools"].as_array().into_iter().flatten();
                groups.flat_map(|group| listed(&group["functionDeclarations"], "/name")).collect()
            }
        }
    }

    /// Returns the tools in a request with the schemas of their inputs. The tools of a group have its name in front of
    /// theirs, as the hook is told it.
    fn schemas(self, body: &Value) -> Vec<(String, Value)> {
        let all = body["tools"].as_array().into_iter().flatten();
        let named = |group: &str, tool: &Value, schema: &str| {
            let name = tool["name"].as_str()?;
            Some((format!("{group}{name}"), tool[schema].clone()))
        };
        match self {
            Dialect::Messages => all.filter_map(|tool| named("", tool, "input_schema")).collect(),
            Dialect::Completions => all.filter_map(|tool| named("", &tool["function"], "parameters")).collect(),
            Dialect::Responses => all
                .flat_map(|tool| {
                    let group = tool["name"].as_str().filter(|_| tool["type"] == "namespace");
                    let inner = tool["tools"].as_array().cloned().unwrap_or_else(|| vec![tool.clone()]);
                    let inner = inner.iter().map(|tool| named(group.unwrap_or_default(), tool, "parameters"));
                    inner.collect::<Vec<_>>()
                })
                .flatten()
                .collect(),
            Dialect::Contents => all
                .flat_map(|group| group["functionDeclarations"].as_array().into_iter().flatten())
                .filter_map(|tool| {
                    let is_json = tool["parametersJsonSchema"].is_object();
                    named("", tool, if is_json { "parametersJsonSchema" } else { "parameters" })
                })
                .collect(),
        }
    }

    /// Returns the messages of a conversation.
    fn messages(self, body: &Value) -> Vec<Value> {
        let all = match self {
            Dialect::Messages | Dialect::Completions => &body["messages"],
            Dialect::Responses => &body["input"],
            Dialect::Contents => &body["contents"],
        };
        all.as_array().cloned().unwrap_or_default()
    }

    /// Returns the results of tools in a conversation.
    fn results(self, body: &Value) -> Vec<Value> {
        let messages = self.messages(body);
        let parts = |name: &str| -> Vec<Value> {
            messages.iter().filter_map(|message| message[name].as_array()).flatten().cloned().collect()
        };
        match self {
            Dialect::Messages => parts("content").into_iter().filter(|part| part["type"] == "tool_result").collect(),
            Dialect::Responses => messages.into_iter().filter(|it| it["type"] == "function_call_output").collect(),
            Dialect::Completions => messages.into_iter().filter(|message| message["role"] == "tool").collect(),
            Dialect::Contents => {
                parts("parts").into_iter().filter(|part| !part["functionResponse"].is_null()).collect()
            }
        }
    }

    /// Returns what the model says to a request, and the type of it.
    fn reply(self, first_line: &str, body: &Value, play: &Play) -> (&'static str, String) {
        let offered = self.offered(body);
        let may_call = !offered.is_empty() && self.results(body).is_empty();
        let first = self.messages(body).into_iter().find(|message| message["role"] == "user").unwrap_or_default();
        let call = if may_call { play(&first.to_string()) } else { None };
        let call = call.map(|(name, input)| {
            let exact = offered.contains(&name);
            let longer = offered.iter().find(|offered| offered.ends_with(&name)).cloned();
            (if exact { name } else { longer.unwrap_or_else(|| panic!("no {name}: {offered:?}")) }, input)
        });
        let in_one = matches!(self, Dialect::Contents) && !first_line.contains("stream");
        let events = match self {
            Dialect::Messages => in_messages(body, call),
            Dialect::Responses => in_responses(call),
            Dialect::Completions => in_completions(body, call),
            Dialect::Contents => vec![in_contents(call)],
        };
        if in_one {
            return ("application/json", events.first().unwrap().to_string());
        }
        let named = |event: &Value| match event["type"].as_str() {
            Some(name) => format!("event: {name}\n"),
            None => String::new(),
        };
        let events: String = events.iter().map(|event| format!("{}data: {event}\n\n", named(event))).collect();
        let end = if matches!(self, Dialect::Completions) { "data: [DONE]\n\n" } else { "" };
        ("text/event-stream", events + end)
    }
}

fn in_messages(body: &Value, call: Option<ToolCall>) -> Vec<Value> {
    let (block, delta, stop) = match call {
        Some((tool, input)) => (
            json!({ "type": "tool_use", "id": "toolu_1", "name": tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            "tool_use",
        ),
        None => (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": "done" }), "end_turn"),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ]
}

fn in_responses(call: Option<ToolCall>) -> Vec<Value> {
    let item = match call {
        Some((tool, input)) => {
            let (group, tool) = tool.split_once('/').map_or((None, &*tool), |(group, tool)| (Some(group), tool));
            json!({
                "type": "function_call", "id": "fc_1", "call_id": "call_1", "namespace": group, "name": tool,
                "arguments": input.to_string(),
            })
        }
        None => json!({
            "type": "message", "role": "assistant", "id": "msg_1",
            "content": [{ "type": "output_text", "text": "done" }],
        }),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    vec![
        json!({ "type": "response.created", "response": { "id": "resp_1" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "resp_1", "usage": usage } }),
    ]
}

fn in_completions(body: &Value, call: Option<ToolCall>) -> Vec<Value> {
    let (delta, end) = match call {
        Some((tool, input)) => {
            let function = json!({ "name": tool, "arguments": input.to_string() });
            let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
        None => (json!({ "role": "assistant", "content": "done" }), "stop"),
    };
    let chunk = |delta: Value, end: Value| {
        json!({
            "id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"],
            "choices": [{ "index": 0, "delta": delta, "finish_reason": end }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
        })
    };
    vec![chunk(delta, Value::Null), chunk(json!({}), json!(end))]
}

fn in_contents(call: Option<ToolCall>) -> Value {
    let part = match call {
        Some((tool, input)) => json!({ "functionCall": { "name": tool, "args": input } }),
        None => json!({ "text": "done" }),
    };
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
    })
}
