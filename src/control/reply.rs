//! The replies to orders.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{engine::Error, kernel::Refusal};

/// One line of a reply, for people and for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Line {
    /// The text for people, with all untrusted text escaped.
    pub text: String,
    /// The data for programs.
    pub json: Value,
}

impl Line {
    pub(super) fn new(text: impl ToString, json: Value) -> Line {
        Line { text: text.to_string(), json }
    }
}

/// The reply to an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reply {
    /// The order was carried out.
    Done(Vec<Line>),
    /// The engine refuses the order.
    Refused(String),
    /// The order could not be carried out.
    Failed(String),
}

/// The reason why an order was not carried out.
pub(super) enum NotDone {
    Engine(Error),
    /// The order is understood, but makes no sense for its target.
    Refused(String),
}

impl NotDone {
    pub(super) fn into_reply(self) -> Reply {
        match self {
            // An unknown agent is a failure, as for every other command: it is not a refusal.
            NotDone::Engine(why @ Error::Refused(Refusal::UnknownAgent(_))) => Reply::Failed(why.to_string()),
            NotDone::Engine(why @ Error::Refused(_)) => Reply::Refused(why.to_string()),
            NotDone::Engine(why) => Reply::Failed(why.to_string()),
            NotDone::Refused(why) => Reply::Refused(why),
        }
    }
}

impl<E: Into<Error>> From<E> for NotDone {
    fn from(why: E) -> NotDone {
        NotDone::Engine(why.into())
    }
}
