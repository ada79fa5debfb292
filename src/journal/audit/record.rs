//! One readable record for each event.

use std::fmt;

use serde::Serialize;

use super::super::{Hash, line::Line};
use crate::model::{Actor, Decider, Ended, Escaped, Event, Grant, Origin, Recorded, Timestamp, camel_case};

/// One event, with its decider and the means of the decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The event and its time.
    pub recorded: Recorded,
    /// The number of the event that put the current policy file into force.
    pub policy: Option<u64>,
    /// The hash of this record and of everything before it.
    pub hash: Hash,
}

/// A record as JSON.
#[derive(Serialize)]
struct Written {
    sequence: u64,
    at: Timestamp,
    r#type: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    decider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    means: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<u64>,
    event: serde_json::Value,
    h: String,
}

impl Record {
    pub(super) fn new(line: Line, policy: &mut Option<u64>) -> Record {
        if matches!(line.recorded.event, Event::ConfigReloaded { .. }) {
            *policy = Some(line.recorded.sequence);
        }
        Record { recorded: line.recorded, policy: *policy, hash: line.hash }
    }

    /// Returns the decider, if the event is a decision.
    pub fn decider(&self) -> Option<String> {
        decided(&self.recorded.event).map(|(who, _)| who)
    }

    /// Returns the means of the decision: `terminal`, `dashboard`, `file`, `grant`, `timeout` and so on.
    pub fn means(&self) -> Option<String> {
        decided(&self.recorded.event).map(|(_, means)| means)
    }

    /// Returns the record as one JSON object.
    ///
    /// # Errors
    ///
    /// An error of the serializer. It does not occur in practice: the event was written as JSON before.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let event = &self.recorded.event;
        serde_json::to_string(&Written {
            sequence: self.recorded.sequence,
            at: self.recorded.at,
            r#type: event.kind(),
            text: event.to_string(),
            decider: self.decider(),
            means: self.means(),
            via: self.recorded.via.as_deref().map(str::to_owned),
            policy: self.policy,
            event: camel_case(serde_json::to_value(event)?),
            h: self.hash.to_string(),
        })
    }
}

/// Writes one line for a person.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.recorded.at, self.recorded)?;
        // The text of a decision already includes its reason and its source.
        let is_told = matches!(self.recorded.event, Event::Evaluated { .. });
        if let Some((who, means)) = decided(&self.recorded.event).filter(|_| !is_told) {
            write!(f, " [{who}, {means}]")?;
        }
        if let Some(via) = &self.recorded.via {
            write!(f, " (via {})", Escaped(via))?;
        }
        Ok(())
    }
}

/// Returns the decider and the means.
fn decided(event: &Event) -> Option<(String, String)> {
    if let Event::Resolved { resolution, .. } = event {
        return Some(decider(&resolution.decider));
    }
    if let Event::GrantIssued { grant } = event {
        return Some(origin(grant));
    }
    if let Event::Evaluated { decision } = event {
        return Some(because(Escaped(&decision.decision_reason), decision.decision_source.as_str()));
    }
    if let Event::RulingMade { ruling } = event {
        return Some(because(&ruling.by, &ruling.means));
    }
    if let Event::GrantRevoked { ended, .. } | Event::RulingEnded { ended, .. } = event {
        return Some(end(ended));
    }
    if let Event::GrantExpired { .. } = event {
        return Some(because("it expired", "time"));
    }
    if let Event::Refused { by, .. } = event {
        return Some((format!("refused for {by}"), "rule".to_owned()));
    }
    None
}

fn because(who: impl fmt::Display, means: &str) -> (String, String) {
    (who.to_string(), means.to_owned())
}

fn decider(decider: &Decider) -> (String, String) {
    match decider {
        Decider::Person { by, means } | Decider::Policies { by, means } => because(by, means),
        Decider::AlreadyHeld => because(decider, "grant"),
        Decider::Asker => because(decider, "agent"),
        Decider::EngineGone | Decider::NextEngine | Decider::Retired | Decider::RunOver => because(decider, "end"),
        Decider::FreshRefusal => because(decider, "memory"),
        Decider::NobodyThere => because(decider, "setting"),
        Decider::Mode { .. } => because(decider, "mode"),
        Decider::Timeout => because(decider, "timeout"),
    }
}

fn origin(grant: &Grant) -> (String, String) {
    match &grant.origin {
        Origin::Agent { from } => because(from, "grant"),
        Origin::Config(place) => because(place, "file"),
        Origin::Operator => because("the host program", "program"),
        Origin::Person { by, means, .. } => because(by, means),
    }
}

fn end(ended: &Ended) -> (String, String) {
    match ended {
        Ended::Revoked { by: Actor::Person { by, means }, .. } => because(by, means),
        Ended::Revoked { by: Actor::Agent(agent), .. } => because(agent, "agent"),
        Ended::Revoked { by: Actor::Operator, .. } => because("the host program", "program"),
        Ended::SupportLost { .. } => because(ended, "grant"),
        Ended::Config => because(ended, "file"),
        Ended::Expired => because(ended, "time"),
        Ended::RunEnded(_) | Ended::EngineEnded | Ended::HolderRetired => because(ended, "end"),
    }
}
