//! News about the requests that wait for an answer.

use std::{fmt, sync::Arc};

use bestow_command::{Part, Tier};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Admin, Line};
use crate::model::{AgentId, CommandShape, HeldChange, Operation, Pending, Request, RequestId, Resolution, Route};

/// One change of what waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequestNews {
    /// A request waits.
    Waiting(Box<WaitingRequest>),
    /// A request waits at another place.
    Moved {
        /// The code of the request.
        code: String,
        /// The id of the request.
        id: RequestId,
        /// The new place.
        route: Route,
    },
    /// A request waits no more.
    Ended {
        /// The code of the request.
        code: String,
        /// The id of the request.
        id: RequestId,
        /// The end of the request. None if the engine does not remember it.
        resolution: Option<Arc<Resolution>>,
    },
    /// A change of the policy file waits for a person, or none does any more.
    HeldBack {
        /// The change that waits now.
        held_back: Option<HeldChange>,
    },
}

/// A request that waits, with everything that a person needs for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WaitingRequest {
    /// The code of the request.
    pub code: String,
    /// The request.
    pub request: Arc<Request>,
    /// The place where it waits.
    pub route: Route,
    /// The agents above the asker: its creator first, and the creators of that one after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<AgentId>,
    /// The parts of the command line, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CommandPart>,
}

/// One thing that a command line does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CommandPart {
    /// The text of the part, cut short if it is long. Show it through [`crate::text::Escaped`].
    pub text: String,
    /// The tier of the part alone.
    pub tier: Tier,
    /// The rule that decided the tier. Show it through [`crate::text::Escaped`].
    pub reason: String,
}

impl WaitingRequest {
    pub(super) fn of(pending: &Pending, admin: &Admin) -> WaitingRequest {
        let Pending { request, route } = pending;
        WaitingRequest {
            code: request.code().to_string(),
            request: Arc::clone(request),
            route: route.clone(),
            above: admin.creators(&request.from),
            parts: parts(request, admin),
        }
    }

    /// Returns the shape that an approval for good would allow, if the request is about a command that has one.
    pub fn shape(&self) -> Option<&CommandShape> {
        self.request.lasting_shape()
    }

    /// Returns the request for people and for programs.
    pub(super) fn line(&self) -> Line {
        Line::new(self, json!(self))
    }
}

/// Returns the parts of the requested command line, as it is shown.
fn parts(request: &Request, admin: &Admin) -> Vec<CommandPart> {
    let command = request.action.as_ref().filter(|action| action.operation == Operation::Command);
    let parts = command.map(|action| admin.classify(&action.resource).parts).unwrap_or_default();
    let part = |Part { command, tier, rule, .. }: Part| CommandPart { text: command, tier, reason: rule.into_owned() };
    parts.into_iter().map(part).collect()
}

/// Formats the request for people, on one line. Foreign text is quoted and escaped.
impl fmt::Display for WaitingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitingRequest { code, request, route, above, .. } = self;
        write!(f, "[{code}] {request}, until {}, routed {route}", request.deadline)?;
        if let Some(lasting) = request.lasting() {
            write!(f, "; {lasting}")?;
        }
        for (place, agent) in above.iter().enumerate() {
            write!(f, "{} {agent}", if place == 0 { "; created by" } else { ", itself by" })?;
        }
        Ok(())
    }
}

impl RequestNews {
    /// Returns the news for people and for programs.
    pub(super) fn line(&self) -> Line {
        Line::new(self, json!(self))
    }
}

/// Formats the news for people, on one line. Foreign text is quoted and escaped.
impl fmt::Display for RequestNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestNews::Waiting(waiting) => waiting.fmt(f),
            RequestNews::Moved { code, route, .. } => write!(f, "[{code}] is routed {route} now"),
            RequestNews::Ended { code, resolution: Some(resolution), .. } => {
                write!(f, "[{code}] of {} has ended: {resolution}", resolution.from)
            }
            RequestNews::Ended { code, resolution: None, .. } => write!(f, "[{code}] has ended"),
            RequestNews::HeldBack { held_back: Some(held_back) } => held_back.fmt(f),
            RequestNews::HeldBack { held_back: None } => f.write_str("no change of the policy file waits any more"),
        }
    }
}
