//! The mapping from errors of the engine to errors that a bot receives.

use crate::{
    engine::Error,
    kernel::Refusal,
    model::{Escaped, RunId},
};

use super::message::ErrorCode;

/// An order that was not carried out.
#[derive(Debug)]
pub(super) struct NotDone {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl NotDone {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> NotDone {
        NotDone { code, message: message.into() }
    }

    /// Creates the error for a request that is not pending, or not accessible to this bot. Both give one message, so
    /// that a bot cannot tell them apart.
    pub(super) fn no_request(named: &str, run: Option<&RunId>) -> NotDone {
        let mut message = format!("No pending permission request {}", Escaped(named));
        if let Some(run) = run {
            message = format!("{message} for run {run}");
        }
        NotDone::new(ErrorCode::NoPendingPermission, message)
    }

    /// Creates the error for a request that could not be answered or cancelled. `named` is the bot's name for the
    /// request, and `run` the run that it stated.
    pub(super) fn about_request(named: &str, run: Option<&RunId>, error: &Error) -> NotDone {
        let foreign = matches!(
            error,
            Error::Refused(
                Refusal::UnknownRequest(_)
                    | Refusal::UnknownCode(_)
                    | Refusal::OtherOwner { .. }
                    | Refusal::NotYours(_)
            )
        );
        if foreign { NotDone::no_request(named, run) } else { NotDone::from(error) }
    }
}

impl From<&Error> for NotDone {
    fn from(error: &Error) -> NotDone {
        let code = match error {
            Error::Refused(Refusal::AlreadyResolved(_)) => ErrorCode::AlreadyResolved,
            Error::Refused(Refusal::UnknownRequest(_) | Refusal::UnknownCode(_) | Refusal::AmbiguousCode(_)) => {
                ErrorCode::NoPendingPermission
            }
            Error::Refused(Refusal::UnknownRun(run)) => {
                let message = format!("No active run found for runId {run}");
                return NotDone::new(ErrorCode::RunNotFound, message);
            }
            // An agent of another owner looks as if it did not exist.
            Error::Refused(Refusal::OtherOwner { agent, .. }) => {
                return NotDone::new(ErrorCode::Refused, Refusal::UnknownAgent(agent.clone()).to_string());
            }
            Error::Refused(_) | Error::Replaced { .. } => ErrorCode::Refused,
            Error::Path(_) | Error::Open(_) | Error::File(_) => ErrorCode::PathError,
            Error::Closed => ErrorCode::EngineClosed,
            Error::Clock(_)
            | Error::Commands(_)
            | Error::Text(_)
            | Error::HookExists(_)
            | Error::NoRuntime
            | Error::Store(_) => ErrorCode::InternalError,
        };
        NotDone::new(code, error.to_string())
    }
}

impl From<Error> for NotDone {
    fn from(error: Error) -> NotDone {
        NotDone::from(&error)
    }
}
