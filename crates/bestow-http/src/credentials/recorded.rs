//! The credentials of an engine: what its records say counts, and nothing else.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bestow::{
    Engine,
    event::{CredentialHolder, CredentialOrder, Timestamp},
    grant::Means,
    user::{ApproverId, OwnerId},
};

use super::{Credential, CredentialError, CredentialId, NewCredential, NotAuthenticated, Role, live::Live, token};

/// The time within which a link is used.
const LINK_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// The duration of a session that a link opens.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The credentials of an engine. Clones share them.
#[derive(Clone, Debug)]
pub struct Credentials {
    engine: Engine,
    known: Arc<Mutex<HashMap<CredentialId, Arc<Live>>>>,
}

/// A credential that was just created or rotated, with its token. Nobody can read the token again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Issued {
    /// The credential.
    pub credential: Credential,
    /// The token: what its holder sends.
    pub token: String,
}

/// A new secret, and the order that makes it count once the engine has recorded it.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnrecordedToken {
    /// The order for the engine. It has only a hash of the secret.
    pub order: CredentialOrder,
    /// The token: what the holder will send.
    pub token: String,
}

impl UnrecordedToken {
    /// Prepares the creation of a credential.
    ///
    /// # Errors
    ///
    /// An I/O error if the system gives no random bytes.
    pub fn create(new: NewCredential) -> io::Result<UnrecordedToken> {
        UnrecordedToken::new_credential(new, false)
    }

    /// Prepares the creation of a link to a session: a credential that authenticates nobody. A server exchanges its
    /// token once, within five minutes.
    ///
    /// # Errors
    ///
    /// The error of [`UnrecordedToken::create`].
    pub fn create_link(role: Role, name: Option<String>, now: Timestamp) -> io::Result<UnrecordedToken> {
        let expires_at = Some(now.after(LINK_LIFETIME));
        UnrecordedToken::new_credential(NewCredential { role, owner: None, name, expires_at }, true)
    }

    fn new_credential(new: NewCredential, is_link: bool) -> io::Result<UnrecordedToken> {
        let NewCredential { role, owner, name, expires_at } = new;
        let id = token::new_id()?;
        let (token, secret) = token::issue(&id)?;
        let (credential, holder, name) = (id.as_str().into(), holder(role, owner), name.map(Into::into));
        Ok(UnrecordedToken {
            order: CredentialOrder::Create { credential, secret, holder, name, expires_at, is_link },
            token,
        })
    }

    /// Prepares a new secret of a credential. The one before is refused once the order is recorded. `owner` and
    /// `expires_at` are as in [`CredentialOrder::Rotate`].
    ///
    /// # Errors
    ///
    /// The error of [`UnrecordedToken::create`].
    pub fn rotate(
        id: &CredentialId,
        owner: Option<OwnerId>,
        expires_at: Option<Timestamp>,
    ) -> io::Result<UnrecordedToken> {
        let (token, secret) = token::issue(id)?;
        let credential = id.as_str().into();
        Ok(UnrecordedToken { order: CredentialOrder::Rotate { credential, secret, owner, expires_at }, token })
    }
}

fn holder(role: Role, owner: Option<OwnerId>) -> CredentialHolder {
    match role {
        Role::Agent { agent } => CredentialHolder::Agent { agent, owner },
        Role::Approver { owner, by } => CredentialHolder::Approver { owner, person: by },
        Role::Operator => CredentialHolder::Operator,
    }
}

impl Credentials {
    /// Returns the credentials of an engine.
    pub fn of(engine: &Engine) -> Credentials {
        Credentials { engine: engine.clone(), known: Arc::default() }
    }

    /// Lets the engine record a new secret, by order of `by` through `means`. It counts from then on.
    ///
    /// # Authority
    ///
    /// Whoever knows the token acts as the holder of the credential. The caller has verified the person.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if the engine refuses the order, or cannot store it.
    pub async fn record(
        &self,
        new: UnrecordedToken,
        by: Option<ApproverId>,
        means: Means,
    ) -> Result<Issued, CredentialError> {
        let recorded = self.engine.change_credential(new.order, by, means).await?;
        let credential = Credential::of(&recorded).ok_or_else(|| io::Error::other("the credential has no valid id"))?;
        Ok(Issued { credential, token: new.token })
    }

    /// Exchanges the token of a link for the token of a session, which lasts twelve hours. The link is used up. Returns
    /// none if the token is not that of a live link.
    pub(crate) async fn open_session(
        &self,
        link: &Live,
        now: Timestamp,
        means: Means,
    ) -> Result<Issued, CredentialError> {
        let id = &link.credential.id;
        let (token, secret) = token::issue(id)?;
        let (credential, expires_at) = (id.as_str().into(), now.after(SESSION_LIFETIME));
        let order = CredentialOrder::OpenSession { credential, secret, expires_at };
        self.record(UnrecordedToken { order, token }, None, means).await
    }

    /// Revokes a credential. It is refused from now on.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if there is no such credential, if it is revoked already, or if this cannot be stored.
    pub async fn revoke(&self, id: &CredentialId, by: Option<ApproverId>, means: Means) -> Result<(), CredentialError> {
        let order = CredentialOrder::Revoke { credential: id.as_str().into() };
        Ok(self.engine.change_credential(order, by, means).await.map(drop)?)
    }

    /// Returns all credentials, the oldest first. Revoked ones are included, because records name them.
    pub fn list(&self) -> Vec<Credential> {
        self.engine.credentials().iter().filter_map(|recorded| Credential::of(recorded)).collect()
    }

    /// Returns the live credential with this token.
    ///
    /// # Errors
    ///
    /// [`NotAuthenticated`] if there is none.
    pub fn authenticate(&self, token: &str, now: Timestamp) -> Result<Credential, NotAuthenticated> {
        self.live(token, now).map(|live| live.credential.clone())
    }

    /// Returns the live credential with this token, as a server uses it.
    pub(crate) fn live(&self, token: &str, now: Timestamp) -> Result<Arc<Live>, NotAuthenticated> {
        let (id, secret) = token::parts(token).ok_or(NotAuthenticated)?;
        self.find(id).filter(|live| live.accepts(secret, now)).ok_or(NotAuthenticated)
    }

    /// Returns the live link with this token.
    pub(crate) fn link(&self, token: &str, now: Timestamp) -> Option<Arc<Live>> {
        let (id, secret) = token::parts(token)?;
        self.find(id).filter(|live| live.is_open_link(secret, now))
    }

    /// Returns true if this credential is still accepted: not revoked, not rotated, not expired. An open connection
    /// asks this before each message.
    pub(crate) fn still_accepts(&self, live: &Live, now: Timestamp) -> bool {
        live.is_recorded(&self.engine) && live.recorded.is_live(now)
    }

    fn find(&self, id: &str) -> Option<Arc<Live>> {
        let recorded = self.engine.credential(id)?;
        // Each change is whole, so a panic elsewhere leaves no half of one.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.get(id);
        if let Some(before) = before.filter(|before| Arc::ptr_eq(&before.recorded, &recorded)) {
            return Some(Arc::clone(before));
        }
        let live = Arc::new(Live::new(recorded, before)?);
        known.retain(|id, _| self.engine.credential(id.as_str()).is_some());
        known.insert(live.credential.id.clone(), Arc::clone(&live));
        Some(live)
    }
}
