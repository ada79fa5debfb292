//! The decision about a call of a tool, within the limits of the server.

use std::any::Any;

use bestow::{Action, Agent, action::Authorization, async_trait, request::Ticket};
use bestow_hosts::{Failure, Unanswered, Withdrawal, somebody_is_there};

use crate::{
    identity::{Caller, Entrance},
    problem::Problem,
};

/// The calls of one credential: they have their turn in the work of the engine, and a limited number of them waits.
pub(crate) struct Desk<'e> {
    pub(crate) entrance: &'e Entrance,
    pub(crate) caller: &'e Caller,
}

#[async_trait]
impl bestow_hosts::Desk for Desk<'_> {
    type Error = Problem;

    async fn authorize(
        &self,
        agent: &Agent,
        action: &Action,
        unanswered: Unanswered,
    ) -> Result<Authorization, Problem> {
        let (agent, action) = (self.caller.through(agent.clone()), action.clone());
        // The work goes on if the client is gone. Its result is dropped then, and the withdrawal with it.
        let work = async move {
            let authorized = agent.authorize(action).await?;
            let withdrawal = Withdrawal::of_asked(&agent, &authorized, unanswered);
            Ok::<_, bestow::Error>((authorized, withdrawal))
        };
        let (authorized, withdrawal) = self.entrance.work(self.caller, work).await??;
        withdrawal.into_iter().for_each(Withdrawal::leave);
        Ok(authorized)
    }

    async fn read<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        self.entrance.work(self.caller, async move { work() }).await
    }

    fn place_to_wait(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.entrance.place_to_wait(self.caller)?))
    }
}

/// The calls of one host. A call does not wait if no person is there.
pub(crate) struct HostDesk<'e>(pub(crate) Desk<'e>);

#[async_trait]
impl bestow_hosts::Desk for HostDesk<'_> {
    type Error = Problem;

    async fn authorize(
        &self,
        agent: &Agent,
        action: &Action,
        unanswered: Unanswered,
    ) -> Result<Authorization, Problem> {
        self.0.authorize(agent, action, unanswered).await
    }

    async fn read<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        self.0.read(work).await
    }

    fn place_to_wait(&self) -> Option<Box<dyn Any + Send>> {
        self.0.place_to_wait()
    }

    fn is_worth_waiting(&self, ticket: &Ticket) -> bool {
        somebody_is_there(self.0.entrance.engine(), ticket)
    }
}

/// There is no answer about a call of a host.
impl From<Failure> for Problem {
    fn from(why: Failure) -> Problem {
        let (status, code) = match why {
            Failure::Engine(why) => return why.into(),
            Failure::Id(_) | Failure::Directory(_) => (axum::http::StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Failure::Taken(_) | Failure::OtherOwner(_) => (axum::http::StatusCode::CONFLICT, "agent_exists"),
            Failure::Full(_) => (axum::http::StatusCode::TOO_MANY_REQUESTS, "too_many_children"),
            Failure::Server(_) | _ => (axum::http::StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        Problem::new(status, code, why.to_string())
    }
}
