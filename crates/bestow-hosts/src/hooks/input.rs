//! The fields of a JSON object that a host sends.

use std::{path::PathBuf, str::FromStr};

use bestow::text::{Escaped, StrictJson};
use serde_json::{Map, Value};

use super::event::{About, Event, Mistake};
use crate::{
    call::{Caller, Subagent},
    id::SessionId,
};

/// The fields of the object that a host sends.
pub(super) struct Fields {
    fields: Map<String, Value>,
    /// The point at which the host asks about a call, once that is known.
    pub(super) about: Option<About>,
}

/// The names of fields, which differ between hosts.
pub(super) struct Names {
    pub(super) session: &'static str,
    pub(super) agent: &'static str,
    pub(super) kind: &'static str,
}

/// The names of Claude Code, which others took over.
pub(super) const CLAUDE: Names = Names { session: "session_id", agent: "agent_id", kind: "agent_type" };

impl Fields {
    /// Reads the object. A key that comes twice is a mistake, because a host may read the other value.
    pub(super) fn of(text: &[u8]) -> Result<Fields, Mistake> {
        let wrong = |why: String| Mistake { why, about: None };
        let StrictJson(value) = StrictJson::read(text).map_err(|why| wrong(why.to_string()))?;
        match value {
            Value::Object(fields) => Ok(Fields { fields, about: None }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(wrong("it is one JSON object".to_owned()))
            }
        }
    }

    /// Passes over an event that needs no decision. An unknown one about a call that did not happen yet may need one.
    pub(super) fn other(&self) -> Result<Event, Mistake> {
        let name = self.required("hook_event_name")?;
        let is_past = name.starts_with("Post") || name.starts_with("After");
        if self.has("tool_name") && !is_past {
            return Err(self.mistake(format!("`hook_event_name` is unknown: `{}`", Escaped(name))));
        }
        Ok(Event::Other)
    }

    pub(super) fn mistake(&self, why: impl Into<String>) -> Mistake {
        Mistake { why: why.into(), about: self.about }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Returns true if there are no other fields than these.
    pub(super) fn has_only(&self, names: &[&str]) -> bool {
        self.fields.keys().all(|name| names.contains(&name.as_str()))
    }

    /// Returns a text that may be missing. `null` is no text, and an empty text is a mistake.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Mistake> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
            Some(_) => Err(self.mistake(format!("`{name}` is a text that is not empty"))),
        }
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, Mistake> {
        self.text(name)?.ok_or_else(|| self.mistake(format!("`{name}` is missing")))
    }

    /// Reads a text as a value of another type.
    pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, Mistake> {
        self.as_value(name, self.required(name)?)
    }

    fn as_value<T: FromStr<Err: std::fmt::Display>>(&self, name: &str, text: &str) -> Result<T, Mistake> {
        let shown: String = text.chars().take(100).collect();
        text.parse().map_err(|why| self.mistake(format!("`{name}` is `{}`: {why}", Escaped(&shown))))
    }

    /// Returns the input of a tool: an object. No input is an empty one.
    pub(super) fn object(&self, name: &str) -> Result<Value, Mistake> {
        match self.fields.get(name) {
            Some(Value::Null) => Ok(Value::Object(Map::new())),
            Some(object @ Value::Object(_)) => Ok(object.clone()),
            Some(_) => Err(self.mistake(format!("`{name}` is an object"))),
            None => Err(self.mistake(format!("`{name}` is missing"))),
        }
    }

    /// Returns the value in a field, whatever it is.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// Returns who calls.
    pub(super) fn caller(&self, names: &Names) -> Result<Caller, Mistake> {
        let session: SessionId = self.parsed(names.session)?;
        let working_dir = PathBuf::from(self.required("cwd")?);
        if !working_dir.is_absolute() {
            return Err(self.mistake("`cwd` must be an absolute path"));
        }
        let subagent = match self.text(names.agent)? {
            Some(id) => {
                let kind = self.text(names.kind)?.map(Into::into);
                Some(Subagent { id: self.as_value(names.agent, id)?, kind })
            }
            // A session that was started as an agent of some type has the type alone.
            None => None,
        };
        Ok(Caller { session, subagent, working_dir })
    }
}
