//! The credentials of the clients of a server. The engine records each change, and its records alone say what counts.

use std::sync::Arc;

use super::{Engine, Error};
use crate::{
    kernel::{Command, CredentialRefusal},
    model::{ApproverId, CredentialOrder, Means, RecordedCredential},
};

impl Engine {
    /// Changes a credential. `by` is the person who ordered it, and `means` are the means of that person. The result is
    /// the credential as it is recorded: it counts from now on, and no longer than recorded.
    ///
    /// # Authority
    ///
    /// Whoever knows the secret of a new credential acts as its holder. The engine does not verify the person: the
    /// caller has done so.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with a [`CredentialRefusal`]; [`Refusal::OtherOwner`](crate::decision::Refusal::OtherOwner)
    /// if the agent of the credential belongs to another owner than the one named; [`Error::Store`] if it cannot be
    /// stored, [`Error::Closed`].
    pub async fn change_credential(
        &self,
        order: CredentialOrder,
        by: Option<ApproverId>,
        means: Means,
    ) -> Result<Arc<RecordedCredential>, Error> {
        let (CredentialOrder::Create { credential, .. }
        | CredentialOrder::Rotate { credential, .. }
        | CredentialOrder::OpenSession { credential, .. }
        | CredentialOrder::Revoke { credential }) = &order;
        let id = Arc::clone(credential);
        self.shared.execute(Command::ChangeCredential { order, by, means }).acknowledged().await?;
        self.credential(&id).ok_or_else(|| Error::Refused(CredentialRefusal::Unknown(id).into()))
    }

    /// Returns the credential with this id, live or not.
    pub fn credential(&self, id: &str) -> Option<Arc<RecordedCredential>> {
        self.shared.credentials.load().get(id).cloned()
    }

    /// Returns all credentials, the oldest first. Revoked ones are included, because records name them.
    pub fn credentials(&self) -> Vec<Arc<RecordedCredential>> {
        self.shared.credentials.load().in_order()
    }
}
