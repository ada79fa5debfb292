//! The selection of records.

use serde_json::Value;

use super::Record;
use crate::model::{AgentId, GrantId, RequestId, SavedDecisionId, Timestamp};

/// A selection of records. A record must meet all of its conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "made by naming what is wanted, and the default for the rest")]
pub struct Filter {
    /// Selects records that name this agent.
    pub agent: Option<AgentId>,
    /// Selects records that name this request, by its id or its short code.
    pub request: Option<String>,
    /// Selects records that name this grant.
    pub grant: Option<GrantId>,
    /// Selects records that name this saved decision.
    pub ruling: Option<SavedDecisionId>,
    /// Selects records at or after this time.
    pub since: Option<Timestamp>,
    /// Selects records before this time.
    pub until: Option<Timestamp>,
}

impl Filter {
    /// Returns true if `record` meets all conditions.
    pub fn wants(&self, record: &Record) -> bool {
        let at = record.recorded.at;
        if self.since.is_some_and(|since| at < since) || self.until.is_some_and(|until| until <= at) {
            return false;
        }
        if !self.names_something() {
            return true;
        }
        // The check reads the content of the event and not its kind, so that no kind of event is forgotten.
        let event = serde_json::to_value(&record.recorded.event).unwrap_or(Value::Null);
        let names = |wanted: &str| says(&event, &|text| text == wanted);
        let asked = |wanted: &str| {
            let is_code = |text: &str| text.parse::<RequestId>().is_ok_and(|id| id.code().to_string() == wanted);
            says(&event, &|text| text == wanted || is_code(text))
        };
        self.agent.as_ref().is_none_or(|agent| names(agent.as_str()))
            && self.request.as_ref().is_none_or(|request| asked(&request.to_ascii_lowercase()))
            && self.grant.is_none_or(|grant| names(&grant.to_string()))
            && self.ruling.is_none_or(|ruling| names(&ruling.to_string()))
    }

    /// Returns this filter without its time limits.
    #[must_use]
    pub fn at_any_time(&self) -> Filter {
        Filter { since: None, until: None, ..self.clone() }
    }

    /// Returns true if the filter requires a record to name something.
    pub fn names_something(&self) -> bool {
        self.agent.is_some() || self.request.is_some() || self.grant.is_some() || self.ruling.is_some()
    }
}

fn says(value: &Value, wanted: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => wanted(text),
        Value::Array(all) => all.iter().any(|value| says(value, wanted)),
        Value::Object(all) => all.values().any(|value| says(value, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
