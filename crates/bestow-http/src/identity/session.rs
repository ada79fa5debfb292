//! The begin and the end of a session.

use std::sync::Arc;

use axum::http::StatusCode;
use bestow::event::CredentialEvent;

use super::{Caller, Entrance};
use crate::{
    credentials::{CredentialError, Issued},
    problem::Problem,
};

impl Entrance {
    /// Exchanges the secret of a link for a session.
    pub(crate) async fn open_session(&self, link: String) -> Result<Issued, Problem> {
        let now = self.engine.now()?;
        // Without this look, anybody could make the file be written.
        let Some(found) = self.credentials.link(&link, now) else { return Err(no_link()) };
        // While this server did not run, another program at its address may have got the link.
        if self.began.is_none_or(|began| found.credential.created_at < began) {
            return Err(no_link());
        }
        let credentials = self.credentials.clone();
        let issued = self.on_the_file(move || credentials.open_session(&link, now)).await?.ok_or_else(no_link)?;
        let change = issued.credential.changed(CredentialEvent::Created, None, "http, by a link".into());
        self.engine.record_credential(change).await?;
        Ok(issued)
    }

    /// Ends the session of a caller.
    pub(crate) async fn end_session(&self, caller: &Caller) -> Result<(), Problem> {
        let now = self.engine.now()?;
        let (credentials, live) = (self.credentials.clone(), Arc::clone(&caller.live));
        match self.on_the_file(move || Ok(credentials.revoke(&live.credential, now))).await? {
            Ok(()) => {
                let means = caller.means();
                let change = caller.credential().changed(CredentialEvent::Revoked, None, means);
                Ok(self.engine.record_credential(change).await?)
            }
            // Somebody else revoked it first.
            Err(CredentialError::Revoked(_)) => Ok(()),
            Err(why) => Err(unwritable(&why)),
        }
    }

    /// Reads or changes the file of credentials, so that waiting for its lock delays no other request.
    async fn on_the_file<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, CredentialError> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = self.workers.clone().acquire_owned().await.map_err(|_| unable())?;
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        done.await.map_err(|_| unable())?.map_err(|why| unwritable(&why))
    }
}

fn no_link() -> Problem {
    let detail = "the link is not valid: a link works once, within five minutes. `bestow dashboard` makes a new one";
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

fn unable() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the server is not able to work")
}

fn unwritable(why: &CredentialError) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", format!("the credentials cannot be changed: {why}"))
}
