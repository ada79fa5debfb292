//! Changes of credentials. A credential of an agent is bound to the agent's owner, and ends with the agent.

use std::{collections::BTreeSet, sync::Arc};

use crate::model::{
    AgentId, ApproverId, CredentialChange, CredentialEvent, CredentialHolder, CredentialOrder, Event, Means, OwnerId,
    RecordedCredential, Timestamp,
};

use super::super::{CredentialRefusal, Refusal, State};

/// The length of the id of a credential.
const ID_DIGITS: usize = 12;

/// The most characters of the remark about a credential.
const MAX_NAME_CHARS: usize = 200;

impl State {
    pub(super) fn change_credential(
        &self,
        order: CredentialOrder,
        by: Option<ApproverId>,
        means: Means,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let mut change = match order {
            CredentialOrder::Create { credential, secret, holder, name, expires_at, is_link } => {
                if self.credentials.get(&credential).is_some() {
                    return Err(CredentialRefusal::Exists(credential).into());
                }
                if !is_id(&credential) {
                    return Err(CredentialRefusal::Id.into());
                }
                if name.as_deref().is_some_and(|name| !is_name(name)) {
                    return Err(CredentialRefusal::Name { max: MAX_NAME_CHARS }.into());
                }
                if self.credentials.is_full(now) {
                    return Err(CredentialRefusal::TooMany { max: super::super::credentials::MAX_CREDENTIALS }.into());
                }
                let (holder, secret) = (self.with_owner(holder)?, Some(secret));
                let change = CredentialEvent::Created;
                CredentialChange { credential, change, holder, name, by, means, at: None, secret, expires_at, is_link }
            }
            CredentialOrder::Rotate { credential, secret, owner, expires_at } => {
                let known = self.find_unrevoked(&credential)?;
                if known.is_link {
                    return Err(CredentialRefusal::Unknown(credential).into());
                }
                let lifetime = known.expires_at.map(|end| known.created_at.until(end));
                CredentialChange {
                    holder: self.with_owner(with_named_owner(known.holder.clone(), owner)?)?,
                    secret: Some(secret),
                    expires_at: expires_at.or(lifetime.map(|lifetime| now.after(lifetime))),
                    ..secret_change(known, CredentialEvent::Rotated, by, means)
                }
            }
            CredentialOrder::OpenSession { credential, secret, expires_at } => {
                let known = self.find_unrevoked(&credential)?;
                if !known.is_link || !known.is_live(now) {
                    return Err(CredentialRefusal::Unknown(credential).into());
                }
                let change = secret_change(known, CredentialEvent::SessionOpened, by, means);
                CredentialChange { secret: Some(secret), expires_at: Some(expires_at), ..change }
            }
            CredentialOrder::Revoke { credential } => {
                secret_change(self.find_unrevoked(&credential)?, CredentialEvent::Revoked, by, means)
            }
        };
        change.at = Some(now);
        Ok(vec![Event::CredentialChanged { change: Arc::new(change) }])
    }

    /// Returns the revocations of the credentials that end with an agent, or whose name another owner took.
    pub(in super::super) fn credentials_follow(&self, events: &[Event], now: Timestamp) -> Vec<Event> {
        let changes_agents = |event: &Event| {
            matches!(event, Event::AgentRegistered { .. } | Event::AgentChanged { .. } | Event::AgentRetired { .. })
        };
        if self.credentials.is_empty() || !events.iter().any(changes_agents) {
            return Vec::new();
        }
        let retired: BTreeSet<_> = events.iter().filter_map(Event::retired).collect();
        let mut follow = Vec::new();
        for known in self.credentials.iter_unrevoked() {
            let CredentialHolder::Agent { agent, owner } = &known.holder else { continue };
            let there = self.agents.get(agent).map(|there| &there.profile.owner);
            if retired.contains(agent) {
                follow.push(revocation_event(known, "the agent was retired", now));
            } else if there.zip(owner.as_ref()).is_some_and(|(there, owner)| there != owner) {
                follow.push(revocation_event(known, "another owner has the agent of this name", now));
            }
        }
        follow
    }

    /// Returns the revocations of credentials that records took away which do not count any more.
    #[cfg(feature = "journal")]
    pub(in super::super) fn credentials_lost_again<'s>(
        &'s self,
        lost: impl Iterator<Item = &'s Arc<str>>,
        now: Timestamp,
    ) -> Vec<Event> {
        let known = lost.filter_map(|id| self.credentials.get(id)).filter(|known| known.revoked_at.is_none());
        known.map(|known| revocation_event(known, "records that were set aside had changed it", now)).collect()
    }

    /// Returns the holder with the owner of its agent.
    fn with_owner(&self, holder: CredentialHolder) -> Result<CredentialHolder, Refusal> {
        let CredentialHolder::Agent { agent, owner } = holder else { return Ok(holder) };
        let owner = self.owner_of_holder(&agent, owner)?;
        Ok(CredentialHolder::Agent { agent, owner: Some(owner) })
    }

    fn owner_of_holder(&self, agent: &AgentId, named: Option<OwnerId>) -> Result<OwnerId, Refusal> {
        match (self.agents.get(agent).map(|known| &known.profile.owner), named) {
            (Some(owner), Some(named)) if *owner != named => {
                Err(Refusal::OtherOwner { agent: agent.clone(), owner: named })
            }
            (Some(owner), _) => Ok(owner.clone()),
            (None, Some(named)) => Ok(named),
            (None, None) => Err(CredentialRefusal::NoOwner(agent.clone()).into()),
        }
    }

    fn find_unrevoked(&self, id: &Arc<str>) -> Result<&RecordedCredential, Refusal> {
        match self.credentials.get(id) {
            None => Err(CredentialRefusal::Unknown(Arc::clone(id)).into()),
            Some(known) if known.revoked_at.is_some() => Err(CredentialRefusal::Revoked(Arc::clone(id)).into()),
            Some(known) => Ok(known),
        }
    }
}

/// Adds the owner that an order names, if the records do not name one. They never name another one.
fn with_named_owner(holder: CredentialHolder, named: Option<OwnerId>) -> Result<CredentialHolder, Refusal> {
    match (holder, named) {
        (CredentialHolder::Agent { agent, owner: None }, named) => Ok(CredentialHolder::Agent { agent, owner: named }),
        (CredentialHolder::Agent { agent, owner: Some(recorded) }, Some(named)) if recorded != named => {
            Err(Refusal::OtherOwner { agent, owner: named })
        }
        (holder, _) => Ok(holder),
    }
}

fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// Returns a change that keeps everything but the secret.
fn secret_change(
    known: &RecordedCredential,
    change: CredentialEvent,
    by: Option<ApproverId>,
    means: Means,
) -> CredentialChange {
    CredentialChange {
        credential: Arc::clone(&known.id),
        change,
        holder: known.holder.clone(),
        name: known.name.clone(),
        by,
        means,
        at: None,
        secret: None,
        expires_at: known.expires_at,
        is_link: false,
    }
}

fn revocation_event(known: &RecordedCredential, means: &'static str, now: Timestamp) -> Event {
    let change = secret_change(known, CredentialEvent::Revoked, None, means.into());
    Event::CredentialChanged { change: Arc::new(CredentialChange { at: Some(now), ..change }) }
}
