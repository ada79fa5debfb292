//! The begin and the end of a session.

use axum::http::StatusCode;
use bestow::{
    Error,
    decision::{CredentialRefusal, Refusal},
};

use super::{Caller, Entrance};
use crate::{
    credentials::{CredentialError, Issued},
    problem::Problem,
};

impl Entrance {
    /// Exchanges the secret of a link for a session.
    pub(crate) async fn open_session(&self, link: String) -> Result<Issued, Problem> {
        let now = self.engine.now()?;
        // Without this look, anybody could make the engine write.
        let Some(found) = self.credentials.link(&link, now) else { return Err(no_link()) };
        // While this server did not run, another program at its address may have got the link.
        if self.began.is_none_or(|began| found.credential.created_at < began) {
            return Err(no_link());
        }
        match self.credentials.open_session(&found, now, "http, by a link".into()).await {
            // Another client was first.
            Err(CredentialError::NotRecorded(Error::Refused(Refusal::Credential(_)))) => Err(no_link()),
            opened => opened.map_err(unrecorded),
        }
    }

    /// Ends the session of a caller.
    pub(crate) async fn end_session(&self, caller: &Caller) -> Result<(), Problem> {
        match self.credentials.revoke(&caller.live.credential.id, None, caller.means()).await {
            // Somebody else revoked it first.
            Err(CredentialError::NotRecorded(Error::Refused(Refusal::Credential(CredentialRefusal::Revoked(_))))) => {
                Ok(())
            }
            ended => ended.map_err(unrecorded),
        }
    }
}

fn no_link() -> Problem {
    let detail = "the link is not valid: a link works once, within five minutes. `bestow dashboard` makes a new one";
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

fn unrecorded(why: CredentialError) -> Problem {
    if let CredentialError::NotRecorded(why) = why {
        return why.into();
    }
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", why.to_string())
}
