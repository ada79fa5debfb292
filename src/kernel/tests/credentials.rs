//! Credentials in the kernel: what counts is what was recorded, and it ends with its agent.

use std::sync::Arc;

use super::*;
#[cfg(feature = "journal")]
use crate::kernel::LostRevocations;
use crate::model::{CredentialEvent, CredentialHolder, CredentialOrder, RecordedCredential};

const ID: &str = "0a1b2c3d4e5f";

fn change(order: CredentialOrder) -> Command {
    Command::ChangeCredential { order, by: None, means: "test".into() }
}

fn created(agent: &str) -> CredentialOrder {
    CredentialOrder::Create {
        credential: ID.into(),
        secret: [1; 32].into(),
        holder: CredentialHolder::Agent { agent: id(agent), owner: None },
        name: None,
        expires_at: Some(NOW.after(std::time::Duration::from_secs(60))),
        is_link: false,
    }
}

fn rotated(owner: Option<&str>, expires_at: Option<Timestamp>) -> CredentialOrder {
    let owner = owner.map(|owner| owner.parse().unwrap());
    CredentialOrder::Rotate { credential: ID.into(), secret: [2; 32].into(), owner, expires_at }
}

fn revoked() -> CredentialOrder {
    CredentialOrder::Revoke { credential: ID.into() }
}

fn known(state: &State) -> Arc<RecordedCredential> {
    Arc::clone(state.credentials.get(ID).unwrap())
}

fn world() -> State {
    let mut state = State::new(settings(|_| {}));
    state.execute(register("bot", "you", Kind::Subagent, &[]), NOW).unwrap();
    state
}

#[test]
fn a_credential_of_an_earlier_record_counts_once_it_is_rotated() {
    let mut state = world();
    let old = format!(
        r#"{{"type":"credential.changed","credential":"{ID}","change":"created",
            "holder":{{"role":"agent","agent":"bot"}},"means":"cli"}}"#
    );
    state.apply(&serde_json::from_str(&old).unwrap());
    assert_eq!(known(&state).secret, None, "no secret opens it");
    state.execute(change(rotated(None, None)), NOW).unwrap();
    assert_eq!(known(&state).secret, Some([2; 32].into()));
    let CredentialHolder::Agent { owner, .. } = known(&state).holder.clone() else { panic!() };
    assert_eq!(owner, Some("you".parse().unwrap()), "it is bound to the owner of its agent");
}

/// Records of an earlier version name neither the owner of an agent nor an end.
#[test]
fn a_rotation_binds_a_credential_of_an_unregistered_agent() {
    let mut state = world();
    let old = format!(
        r#"{{"type":"credential.changed","credential":"{ID}","change":"created",
            "holder":{{"role":"agent","agent":"later"}},"means":"cli"}}"#
    );
    state.apply(&serde_json::from_str(&old).unwrap());
    let end = NOW.after(std::time::Duration::from_secs(60));
    let refused = state.clone().execute(change(rotated(None, Some(end))), NOW).unwrap_err();
    assert!(refused.to_string().contains("owner"), "{refused}");
    state.execute(change(rotated(Some("you"), Some(end))), NOW).unwrap();
    let bound = CredentialHolder::Agent { agent: id("later"), owner: Some("you".parse().unwrap()) };
    assert_eq!((&known(&state).holder, known(&state).expires_at), (&bound, Some(end)));
    let refused = state.execute(change(rotated(Some("them"), None)), NOW).unwrap_err();
    assert!(matches!(refused, Refusal::OtherOwner { .. }), "the recorded owner stays: {refused}");
    let later = NOW.after(std::time::Duration::from_secs(10));
    state.execute(change(rotated(None, None)), later).unwrap();
    assert_eq!(known(&state).expires_at, Some(later.after(std::time::Duration::from_secs(60))), "as long again");
}

#[test]
fn a_retired_agent_ends_its_credentials_in_the_same_step() {
    let mut state = world();
    state.execute(change(created("bot")), NOW).unwrap();
    let events = state.execute(Command::Retire { agent: id("bot") }, NOW).unwrap();
    let ends = |event: &&Event| {
        let Event::CredentialChanged { change } = event else { return false };
        change.change == CredentialEvent::Revoked
    };
    assert_eq!(events.iter().filter(ends).count(), 1, "the trail says so");
    assert!(known(&state).revoked_at.is_some());
}

#[test]
fn a_revocation_is_published_before_it_is_stored() {
    let mut ahead = world();
    ahead.execute(change(created("bot")), NOW).unwrap();
    let mut published = ahead.clone();
    for event in ahead.execute(change(revoked()), NOW).unwrap() {
        published.lose(&event, &ahead);
    }
    assert!(known(&published).revoked_at.is_some());
}

#[test]
fn a_created_credential_that_is_revoked_by_now_is_never_live() {
    let (mut ahead, mut published) = (world(), world());
    let mut events = ahead.execute(change(created("bot")), NOW).unwrap();
    events.extend(ahead.execute(change(revoked()), NOW).unwrap());
    published.catch_up(&events[0], &ahead);
    assert!(known(&published).revoked_at.is_some(), "its revocation is decided, and not stored yet");
}

/// The records after a cut do not count. What they took away stays away.
#[cfg(feature = "journal")]
#[test]
fn records_that_are_set_aside_revive_no_secret() {
    let mut kept = world();
    kept.execute(change(created("bot")), NOW).unwrap();
    for order in [revoked(), rotated(None, None)] {
        let (mut later, mut state, mut lost) = (kept.clone(), kept.clone(), LostRevocations::default());
        later.execute(change(order), NOW).unwrap().iter().for_each(|event| lost.hear(event));
        state.take_away_again(&lost, None, NOW);
        assert!(known(&state).revoked_at.is_some());
    }
}

#[test]
fn a_state_read_from_an_image_has_its_credentials() {
    let mut state = world();
    state.execute(change(created("bot")), NOW).unwrap();
    let image = serde_json::to_vec(&state).unwrap();
    assert_eq!(State::from_image(&image).unwrap().link().into_state().credentials, state.credentials);
}
