//! The decision about one call: the engine is asked, the answer of a person is waited for, and an approval is used.

use std::{any::Any, sync::Arc, time::Duration};

use async_trait::async_trait;
use bestow::{
    Action, Agent, Outcome,
    action::Authorization,
    decision::Decision,
    request::{Resolution, Ticket},
};

use crate::{call::Unanswered, waits::Withdrawal};

/// The place where calls are decided: it does the work of the engine, and limits the calls that wait.
#[async_trait]
pub trait Desk: Send + Sync {
    /// The reason why there is no answer.
    type Error: Send;

    /// Asks the engine about an action of the agent ([`Agent::authorize`]). If no one waits for the result any more, a
    /// request that it opened is withdrawn, if `unanswered` says so ([`Withdrawal::of_asked`]).
    async fn authorize(
        &self,
        agent: &Agent,
        action: &Action,
        unanswered: Unanswered,
    ) -> Result<Authorization, Self::Error>;

    /// Does work that reads the disk.
    async fn read<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Self::Error>;

    /// Takes a place among the calls that wait for a person. A call without one does not wait. Dropping it frees the
    /// place.
    fn place_to_wait(&self) -> Option<Box<dyn Any + Send>>;

    /// Returns true if it is worth waiting for the answer to this request.
    fn is_worth_waiting(&self, _: &Ticket) -> bool {
        true
    }
}

/// The result of a call. Only [`Authorization::Allowed`] lets the call happen.
#[derive(Debug)]
#[must_use = "a call that is not allowed must not happen"]
#[allow(clippy::exhaustive_enums, reason = "a caller has to know all of them")]
pub enum Judged {
    /// The engine has decided, and waits for nobody.
    Settled(Authorization),
    /// A person must decide, and has not answered in time.
    Waits(Arc<Decision>, Ticket),
    /// The request ended without an approval.
    NotGranted(Arc<Decision>, Arc<Resolution>),
    /// A person approved another input instead.
    Changed(Arc<Decision>, Arc<Resolution>),
}

/// Decides about an action, and waits for a person up to `wait`. An approval is for exactly this action, and it is used
/// here. A request that waits is left to the caller.
///
/// # Cancellation
///
/// Dropping the future withdraws the request, if `unanswered` says so. Otherwise the request stays open.
///
/// # Errors
///
/// The engine has no answer. The action may not happen.
pub async fn judged<D: Desk>(
    desk: &D,
    agent: &Agent,
    action: &Action,
    wait: Duration,
    unanswered: Unanswered,
) -> Result<Judged, D::Error> {
    let authorized = desk.authorize(agent, action, unanswered).await?;
    let Authorization::Asked(decision, ticket) = authorized else { return Ok(Judged::Settled(authorized)) };
    let withdrawal = (unanswered == Unanswered::Withdraw).then(|| Withdrawal::of(agent, ticket.id()));
    let ended_in_time = waited(desk, &ticket, wait).await;
    // From here on, the request is answered, or the caller decides what happens to it.
    withdrawal.into_iter().for_each(Withdrawal::leave);
    match ended_in_time {
        None => Ok(Judged::Waits(decision, ticket)),
        Some(resolution) => ended(desk, agent, action, decision, resolution).await,
    }
}

async fn waited<D: Desk>(desk: &D, ticket: &Ticket, wait: Duration) -> Option<Arc<Resolution>> {
    let is_worth_it = !wait.is_zero() && desk.is_worth_waiting(ticket);
    let place = if is_worth_it { desk.place_to_wait() } else { None };
    // The place is held for the time of the wait.
    ticket.wait(if place.is_some() { wait } else { Duration::ZERO }).await
}

/// Returns the result of a request that has ended. An approval of the action as it is is used.
pub(crate) async fn ended<D: Desk>(
    desk: &D,
    agent: &Agent,
    action: &Action,
    decision: Arc<Decision>,
    resolution: Arc<Resolution>,
) -> Result<Judged, D::Error> {
    if resolution.outcome != Outcome::Granted {
        return Ok(Judged::NotGranted(decision, resolution));
    }
    if resolution.updated_input.is_some() {
        return Ok(Judged::Changed(decision, resolution));
    }
    let authorized = desk.authorize(agent, action, Unanswered::Leave).await?;
    let Authorization::Asked(decision, ticket) = authorized else { return Ok(Judged::Settled(authorized)) };
    Ok(Judged::Waits(decision, ticket))
}
