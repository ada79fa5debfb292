//! The reason why a call has no answer, as a text for the model.

use std::fmt;

use bestow::{Error, decision::Refusal, text::Escaped};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The reason why a call has no answer. It names the thing and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(why: impl Into<String>) -> Failure {
        Failure(why.into())
    }

    /// Creates the failure of a request that is not there, or that belongs to another agent. Both give one text.
    pub(crate) fn no_request(named: &str) -> Failure {
        let named = Escaped(named);
        Failure(format!(
            "you have no request `{named}`: `request_permission` returns the id of a request, and `list_permissions` \
             lists those that wait"
        ))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Error> for Failure {
    fn from(why: Error) -> Failure {
        if let Error::Refused(Refusal::OtherOwner { agent, .. }) = &why {
            // An agent of another owner looks as if it did not exist.
            return Failure(Refusal::UnknownAgent(agent.clone()).to_string());
        }
        if let Error::Refused(Refusal::NotYours(request) | Refusal::UnknownRequest(request)) = &why {
            return Failure::no_request(&request.to_string());
        }
        if let Error::Refused(Refusal::NotYourGrant(grant) | Refusal::UnknownGrant(grant)) = &why {
            return Failure(format!(
                "you neither hold nor gave a grant `{grant}`: `list_permissions` lists the grants that you can revoke"
            ));
        }
        if matches!(why, Error::Closed) {
            return Failure("the engine has ended, so nothing is allowed: try again later".to_owned());
        }
        Failure(why.to_string())
    }
}

/// Reads the arguments of a call, and names the one that is wrong.
pub(crate) fn arguments<T: DeserializeOwned>(tool: &str, value: Value) -> Result<T, Failure> {
    serde_path_to_error::deserialize(value).map_err(|why| {
        let path = why.path().to_string();
        // An unknown field is named by the reason itself.
        let is_inside = path != "." && path != "?";
        let why = why.inner().to_string();
        let why = Escaped(&why);
        if is_inside {
            Failure(format!("`{tool}`: `{}`: {why}", Escaped(&path)))
        } else {
            Failure(format!("`{tool}`: {why}"))
        }
    })
}
