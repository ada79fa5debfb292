//! The fields of each message. They serve to explain a wrong field in words, and to refuse a misspelled one.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::{
    model::{
        AgentId, CallId, GrantId, InvalidPermissions, Operation, OutputStream, Permission, Permissions, ProcessId,
        Reason, RunId, SanitizedPath, Scope, Tool, ToolName, Tools, Verdict,
    },
    quote::quoted,
    suggest::closest,
};

use super::{Decision, MAX_TEXT, PolicyMode, Role};

/// The mistake in a value; `None` if the value fits.
type Wrong = Option<String>;

struct Field {
    name: &'static str,
    /// True if the field is required.
    needed: bool,
    /// True if `null` means that the field is absent.
    null: bool,
    wrong: fn(&Value) -> Wrong,
}

/// The fields of one message, besides `type` and `requestId`.
pub(super) struct Shape {
    fields: Vec<Field>,
    /// True if no other field is allowed. Otherwise only names that look like a misspelled field are refused.
    strict: bool,
}

const fn needed(name: &'static str, wrong: fn(&Value) -> Wrong) -> Field {
    Field { name, needed: true, null: false, wrong }
}

const fn may(name: &'static str, wrong: fn(&Value) -> Wrong) -> Field {
    Field { name, needed: false, null: true, wrong }
}

/// Makes `null` an error: it does not mean that the field is absent.
const fn there(field: Field) -> Field {
    Field { null: false, ..field }
}

fn lenient(fields: impl Into<Vec<Field>>) -> Shape {
    Shape { fields: fields.into(), strict: false }
}

/// One tag or a list of tags. The message itself checks that exactly one of the two is given.
const TAG: Field = may("permission", tag);
const TAGS: Field = may("permissions", tags);
const REASON: Field = needed("reason", parsed::<Reason>);
const PROCESS: Field = needed("processId", parsed::<ProcessId>);
const SCOPE: Field = may("scope", parsed::<Scope>);

/// The fields that describe an action.
const ACTION: [Field; 6] = [
    may("operation", parsed::<Operation>),
    may("resource", words),
    may("toolName", parsed::<ToolName>),
    may("toolInput", object),
    may("details", content),
    TAGS,
];

/// Checks the content of an action: an object or a text.
fn content(value: &Value) -> Wrong {
    (!value.is_object() && !value.is_string()).then(|| "it must be an object or a text".to_owned())
}

/// Returns the shape of the messages of a type from bots of a role, or none for an unknown type.
pub(super) fn of(role: Role, kind: &str) -> Option<Shape> {
    Some(match kind {
        "hello" => lenient([needed("protocol", number)]),
        "request_permission" => lenient([TAG, TAGS, REASON, SCOPE]),
        "cancel_request" => lenient([needed("permissionRequestId", text)]),
        "grant_permission" => lenient([needed("agentId", parsed::<AgentId>), TAG, TAGS, REASON, SCOPE]),
        "revoke_permission" => lenient([needed("grantId", parsed::<GrantId>), may("reason", parsed::<Reason>)]),
        "check_permission" => lenient([TAG, TAGS]),
        "use_permission" => lenient([needed("permission", parsed::<Permission>)]),
        // The permissions of an action, and the request to ask a person again, must not get lost.
        "authorize" => {
            let besides = [may("reason", parsed::<Reason>), may("toolCallId", parsed::<CallId>), may("override", flag)];
            Shape { fields: ACTION.into_iter().chain(besides).collect(), strict: true }
        }
        // The permissions of a process must not get lost.
        "process_start" => Shape { fields: vec![needed("command", program), TAGS], strict: true },
        "process_read" => {
            lenient([PROCESS, may("stream", parsed::<OutputStream>), may("from", count), may("max", number)])
        }
        "process_write" => lenient([PROCESS, may("text", words), may("base64", text), may("close", flag)]),
        "process_stop" => lenient([PROCESS, may("graceMs", number)]),
        "process_restart" => lenient([PROCESS]),
        "message" => match role {
            Role::Agent => lenient([may("agentId", parsed::<AgentId>), needed("text", words)]),
            Role::Connector => lenient([needed("text", words)]),
        },
        "bye" => lenient([may("reason", text)]),
        // A field that narrows an answer must not get lost: without it, the answer would allow more than intended.
        "permission_decision" => Shape {
            fields: vec![
                needed("permissionRequestId", text),
                needed("decision", decision),
                may("runId", parsed::<RunId>),
                there(TAG),
                there(TAGS),
                SCOPE,
                may("feedback", parsed::<Reason>),
                there(may("modifiedInput", input)),
            ],
            strict: true,
        },
        // A field that denies, or that limits the place, must not get lost.
        "update_policy" => Shape {
            fields: vec![
                needed("runId", parsed::<RunId>),
                may("tool", parsed::<ToolName>),
                needed("mode", mode),
                there(may("allow", texts)),
                there(may("deny", texts)),
                may("default", parsed::<Verdict>),
                may("base", parsed::<SanitizedPath>),
            ],
            strict: true,
        },
        "list_policies" => lenient([needed("runId", parsed::<RunId>), may("tool", parsed::<ToolName>)]),
        "enable_action" => {
            let fields = [needed("agentId", parsed::<AgentId>)].into_iter().chain(ACTION).chain([REASON]);
            Shape { fields: fields.collect(), strict: true }
        }
        // A lost field of a declaration would hide an effect of the tool.
        "declare_tools" => Shape { fields: vec![needed("tools", tools)], strict: true },
        "begin_run" | "join_run" => lenient([needed("agentId", parsed::<AgentId>), needed("runId", parsed::<RunId>)]),
        "end_run" => lenient([needed("agentId", parsed::<AgentId>)]),
        "agree_to_widening" => lenient([needed("change", count)]),
        "permission_state" | "process_list" => lenient([]),
        _ => return None,
    })
}

impl Shape {
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name).chain(["type", "requestId"])
    }

    /// Returns the mistakes in the field names of an object.
    pub(super) fn foreign(&self, given: &BTreeMap<String, IgnoredAny>) -> Vec<String> {
        let unknown = given.keys().filter(|name| !self.names().any(|known| known == *name));
        let mistake = |name: &String| match closest(name, self.names()) {
            Some(known) => Some(format!("there is no field {}; did you mean `{known}`?", quoted(name))),
            None if self.strict => {
                let known: Vec<_> = self.names().collect();
                Some(format!("there is no field {}; it has `{}`", quoted(name), known.join("`, `")))
            }
            None => None,
        };
        unknown.filter_map(mistake).collect()
    }

    /// Returns the mistakes in the fields themselves. It is empty if the mistake shows only in the message as a whole.
    pub(super) fn wrong(&self, given: &Map<String, Value>) -> Vec<String> {
        // A field that is there under a misspelled name is not missing, too.
        let is_meant = |field: &str| {
            let mut foreign = given.keys().filter(|name| !self.names().any(|known| known == *name));
            foreign.any(|name| closest(name, self.names()) == Some(field))
        };
        let mistake = |Field { name, needed, null, wrong }: &Field| match given.get(*name) {
            None if *needed && !is_meant(name) => Some(format!("missing field `{name}`")),
            None => None,
            Some(Value::Null) if *null => None,
            Some(value) => wrong(value).map(|why| format!("`{name}` is {}: {why}", shown(value))),
        };
        self.fields.iter().filter_map(mistake).collect()
    }
}

fn shown(value: &Value) -> String {
    if let Value::String(text) = value { quoted(text) } else { quoted(&value.to_string()) }
}

fn object(value: &Value) -> Wrong {
    (!value.is_object()).then(|| "it must be an object".to_owned())
}

fn input(value: &Value) -> Wrong {
    (!value.is_object() && !value.is_string()).then(|| "it must be a text, or an object".to_owned())
}

fn mode(value: &Value) -> Wrong {
    PolicyMode::deserialize(value).is_err().then(|| "it must be `read` or `write`".to_owned())
}

fn texts(value: &Value) -> Wrong {
    let all_texts = value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
    (!all_texts).then(|| "it must be a list of texts".to_owned())
}

/// Checks each declaration by itself, and then all of them together.
fn tools(value: &Value) -> Wrong {
    let Value::Array(given) = value else { return Some("it must be a list of declarations".to_owned()) };
    for (place, one) in given.iter().enumerate() {
        if let Err(why) = Tool::deserialize(one) {
            return Some(format!("of declaration {}: {why}", place + 1));
        }
    }
    Tools::deserialize(value).err().map(|why| why.to_string())
}

fn flag(value: &Value) -> Wrong {
    (!value.is_boolean()).then(|| "it must be true or false".to_owned())
}

fn text(value: &Value) -> Wrong {
    (!value.is_string()).then(|| "it must be a text".to_owned())
}

fn parsed<T: FromStr<Err: fmt::Display>>(value: &Value) -> Wrong {
    let Value::String(given) = value else { return text(value) };
    given.parse::<T>().err().map(|why| why.to_string())
}

fn program(value: &Value) -> Wrong {
    let is_list = value.as_array().is_some_and(|words| !words.is_empty() && words.iter().all(Value::is_string));
    (!is_list).then(|| "it must be a list of texts that begins with a program".to_owned())
}

fn count(value: &Value) -> Wrong {
    (!value.is_u64()).then(|| "it must be a whole number".to_owned())
}

fn number(value: &Value) -> Wrong {
    let small = value.as_u64().is_some_and(|number| u32::try_from(number).is_ok());
    (!small).then(|| "it must be a whole number".to_owned())
}

fn decision(value: &Value) -> Wrong {
    let known = "it must be `allow`, `allow-once`, `allow-session`, `allow-always`, `deny` or `deny-session`";
    Decision::deserialize(value).is_err().then(|| known.to_owned())
}

fn words(value: &Value) -> Wrong {
    let Value::String(given) = value else { return text(value) };
    (given.len() > MAX_TEXT).then(|| format!("it has at most {MAX_TEXT} bytes"))
}

fn tag(value: &Value) -> Wrong {
    let Value::String(given) = value else { return Some("it must be one tag, as a text".to_owned()) };
    Permissions::from_tags([given]).err().map(|why| match why {
        InvalidPermissions::Tag { why, .. } => why.to_string(),
        InvalidPermissions::Empty | InvalidPermissions::TooMany => why.to_string(),
    })
}

fn tags(value: &Value) -> Wrong {
    let texts = || value.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
    let Some(given) = texts() else { return Some("it must be a list of tags, each a text".to_owned()) };
    Permissions::from_tags(given).err().map(|why| match why {
        InvalidPermissions::Tag { tag, why } => format!("{} is not a permission: {why}", quoted(&tag)),
        InvalidPermissions::Empty | InvalidPermissions::TooMany => why.to_string(),
    })
}
