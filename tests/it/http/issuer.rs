//! The credentials of an engine in this process, as its operator changes them.

use bestow::{Engine, event::Timestamp};
use bestow_http::credentials::{
    Credential, CredentialError, CredentialId, Credentials, Issued, NewCredential, Role, UnrecordedToken,
};
use futures_util::FutureExt as _;

/// The credentials of an engine in this process.
#[derive(Clone)]
pub(crate) struct Issuer(Credentials);

impl Issuer {
    pub(crate) fn of(engine: &Engine) -> Issuer {
        Issuer(Credentials::of(engine))
    }

    pub(crate) fn create(&self, role: Role, expires_at: Option<Timestamp>) -> Result<Issued, CredentialError> {
        self.record(UnrecordedToken::create(NewCredential { role, owner: None, name: None, expires_at }).unwrap())
    }

    pub(crate) fn create_for(&self, role: Role, owner: &str) -> Result<Issued, CredentialError> {
        let owner = Some(owner.parse().unwrap());
        self.record(UnrecordedToken::create(NewCredential { role, owner, name: None, expires_at: None }).unwrap())
    }

    pub(crate) fn create_link(&self, role: Role, now: Timestamp) -> Issued {
        self.record(UnrecordedToken::create_link(role, Some("dashboard".to_owned()), now).unwrap()).unwrap()
    }

    pub(crate) fn rotate(&self, id: &CredentialId) -> Result<Issued, CredentialError> {
        self.record(UnrecordedToken::rotate(id, None, None).unwrap())
    }

    pub(crate) fn revoke(&self, id: &CredentialId) -> Result<(), CredentialError> {
        waited(self.0.revoke(id, None, "test".into()))
    }

    pub(crate) fn list(&self) -> Vec<Credential> {
        self.0.list()
    }

    fn record(&self, new: UnrecordedToken) -> Result<Issued, CredentialError> {
        waited(self.0.record(new, None, "test".into()))
    }
}

/// Waits for the engine. One in memory answers at once, and one with a store on threads of its own.
fn waited<T>(done: impl Future<Output = T>) -> T {
    let mut done = std::pin::pin!(done);
    loop {
        match done.as_mut().now_or_never() {
            Some(done) => return done,
            None => std::thread::yield_now(),
        }
    }
}
