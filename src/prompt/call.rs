//! The execution of a model's tool call, as the agent whose handle it is.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{
    engine::{Agent, Error, Notification},
    kernel::Check,
    model::{AgentId, Escaped, Hold, PermissionRequest, Permissions, Reason, RequestId, Resolution, Scope},
};

use super::tools::{Field, FieldKind, MAX_SECONDS, TOOLS, Tool};

/// Carries out one tool call of a model that acts as `agent`, and returns the result for the model to read.
///
/// The result is an object with a `status`. For a request it is `granted`, `denied`, `expired`, `cancelled`,
/// `unavailable` or `pending`. For a successful call it is `ok`. For a failed call it is `error`, with a `message`: the
/// input is wrong, or the engine refuses. The acting agent never depends on `input`.
///
/// # Cancellation
///
/// Dropping the future of a call that waits leaves the request pending.
pub async fn call(agent: &Agent, name: &str, input: &Value) -> Value {
    let done = match Input::read(name, input) {
        Ok(input) => carry_out(agent, &input).await,
        Err(why) => Err(why),
    };
    done.unwrap_or_else(|why| json!({ "status": "error", "message": why }))
}

/// Returns the text of a notification, for the agent's model to read. Returns `None` for a silent notification, which
/// should not make the model act.
pub fn news(mail: &Notification) -> Option<String> {
    (!mail.is_silent()).then(|| mail.to_string())
}

async fn carry_out(agent: &Agent, input: &Input<'_>) -> Result<Value, String> {
    match input.tool.name {
        "request_permission" => request(agent, input).await,
        "grant_permission" => grant(agent, input).await,
        "check_permission" => check(agent, input),
        "await_permission" => wait(agent, input).await,
        _ => list(agent),
    }
}

async fn request(agent: &Agent, input: &Input<'_>) -> Result<Value, String> {
    let mut ask = PermissionRequest::new(input.permissions()?, input.reason()?);
    if let Some(scope) = input.scope()? {
        ask = ask.at_most(scope);
    }
    let ticket = agent.request(ask).await.map_err(refused)?;
    let code = ticket.code().to_string();
    Ok(ticket.poll().map_or_else(|| pending(ticket.id(), &code), |resolution| ended(&resolution)))
}

async fn grant(agent: &Agent, input: &Input<'_>) -> Result<Value, String> {
    let to: AgentId = input.parsed("agent_id")?;
    let (permissions, scope) = (input.permissions()?, input.scope()?.unwrap_or(Scope::Always));
    let told = permissions.to_string();
    let grants = agent.grant_for(&to, permissions, scope, input.reason()?).await.map_err(refused)?;
    let ids: Vec<String> = grants.iter().map(ToString::to_string).collect();
    Ok(json!({ "status": "ok", "grant_ids": ids, "message": format!("{to} now holds {told}") }))
}

fn check(agent: &Agent, input: &Input<'_>) -> Result<Value, String> {
    let permissions = input.permissions()?;
    let held = permissions.iter().map(|permission| {
        let held = match agent.check(permission) {
            Check::Held => "held",
            Check::HeldOnce => "held_once",
            Check::NotHeld => "not_held",
        };
        json!({ "permission": permission.to_string(), "held": held })
    });
    Ok(json!({ "status": "ok", "permissions": held.collect::<Vec<_>>() }))
}

async fn wait(agent: &Agent, input: &Input<'_>) -> Result<Value, String> {
    let id: RequestId = input.parsed("request_id")?;
    let ticket = agent.ticket(id).map_err(refused)?;
    let seconds = input.value("seconds").and_then(Value::as_u64).unwrap_or_default().min(MAX_SECONDS);
    let over = if seconds == 0 { ticket.poll() } else { ticket.wait(Duration::from_secs(seconds)).await };
    let code = ticket.code().to_string();
    Ok(over.map_or_else(|| pending(id, &code), |resolution| ended(&resolution)))
}

fn list(agent: &Agent) -> Result<Value, String> {
    let (profile, grants) = (agent.profile().map_err(refused)?, agent.grants().map_err(refused)?);
    let held = grants.iter().map(|grant| {
        let mut held = Map::new();
        held.insert("permission".to_owned(), grant.pinned.permission.to_string().into());
        held.insert("scope".to_owned(), grant.scope.to_string().into());
        if grant.hold == Hold::PassOn {
            held.insert("only_to_pass_on".to_owned(), true.into());
        }
        Value::Object(held)
    });
    let (dir, kind) = (profile.working_dir.as_str(), profile.kind.to_string());
    let (id, held) = (agent.id().as_str(), held.collect::<Vec<_>>());
    Ok(json!({ "status": "ok", "agent_id": id, "working_dir": dir, "kind": kind, "permissions": held }))
}

fn pending(id: RequestId, code: &str) -> Value {
    let message = "The request goes to a person. Continue with work that does not need it. The decision reaches you \
        as a message.";
    json!({ "status": "pending", "request_id": id.to_string(), "code": code, "message": message })
}

fn ended(resolution: &Resolution) -> Value {
    let tags = |list: &[crate::model::Permission]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut told = Map::new();
    told.insert("status".to_owned(), resolution.outcome.to_string().into());
    told.insert("request_id".to_owned(), resolution.request.to_string().into());
    told.insert("granted".to_owned(), tags(&resolution.granted).into());
    told.insert("refused".to_owned(), tags(&resolution.refused).into());
    if let Some(scope) = resolution.scope {
        told.insert("scope".to_owned(), scope.to_string().into());
    }
    if let Some(feedback) = &resolution.feedback {
        told.insert("feedback".to_owned(), feedback.to_string().into());
    }
    told.insert("message".to_owned(), resolution.to_string().into());
    Value::Object(told)
}

fn refused(why: Error) -> String {
    why.to_string()
}

/// The input of a call. Every field is known and has the correct type.
#[derive(Debug)]
struct Input<'v> {
    tool: &'static Tool,
    fields: &'v Map<String, Value>,
}

impl<'v> Input<'v> {
    fn read(name: &str, input: &'v Value) -> Result<Input<'v>, String> {
        let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| {
            let known: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
            format!("tool `{}` does not exist: use one of {}", Escaped(name), known.join(", "))
        })?;
        let fields = input.as_object().ok_or("the input of a tool must be an object")?;
        let field = |name: &str| tool.fields.iter().find(|field| field.name == name);
        for (name, value) in fields {
            let Some(field) = field(name) else {
                let known: Vec<_> = tool.fields.iter().map(|field| field.name).collect();
                let name = Escaped(name);
                return Err(format!("`{}` has no field `{name}`: its fields are {}", tool.name, known.join(", ")));
            };
            fits(field, value)?;
        }
        let missing = tool.fields.iter().find(|field| field.required && !fields.contains_key(field.name));
        match missing {
            Some(field) => Err(format!("`{}` is missing", field.name)),
            None => Ok(Input { tool, fields }),
        }
    }

    fn value(&self, name: &str) -> Option<&'v Value> {
        self.fields.get(name)
    }

    fn text(&self, name: &str) -> Option<&'v str> {
        self.value(name)?.as_str()
    }

    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, String> {
        let text = self.text(name).ok_or_else(|| format!("`{name}` is missing"))?;
        text.parse().map_err(|why| format!("`{name}`: {why}"))
    }

    fn reason(&self) -> Result<Reason, String> {
        self.parsed("reason")
    }

    fn scope(&self) -> Result<Option<Scope>, String> {
        self.text("scope").map(|_| self.parsed("scope")).transpose()
    }

    fn permissions(&self) -> Result<Permissions, String> {
        let several = self.value("permissions").and_then(Value::as_array);
        let tags: Vec<&str> = match (self.text("permission"), several) {
            (Some(one), None) => vec![one],
            (None, Some(several)) => several.iter().filter_map(Value::as_str).collect(),
            (Some(_), Some(_)) => return Err("name either `permission` or `permissions`, not both".to_owned()),
            (None, None) => return Err("name a `permission`, or a list of `permissions`".to_owned()),
        };
        Permissions::from_tags(tags).map_err(|why| why.to_string())
    }
}

/// Checks that the value has the type of the field.
fn fits(field: &Field, value: &Value) -> Result<(), String> {
    let (fits, kind) = match field.kind {
        FieldKind::Tag | FieldKind::Reason | FieldKind::Scope | FieldKind::Agent | FieldKind::Request => {
            (value.is_string(), "a text")
        }
        FieldKind::Tags => {
            let texts = value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
            (texts, "a list of texts")
        }
        FieldKind::Seconds => {
            (value.as_u64().is_some_and(|number| number <= MAX_SECONDS), "a number of seconds, at most 60")
        }
    };
    if fits { Ok(()) } else { Err(format!("`{}` is {kind}", field.name)) }
}
