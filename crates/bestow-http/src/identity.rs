//! The identity of a sender. It comes from the sender's credential, never from a parameter or a body.

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
};
use bestow::{Agent, Approver, Engine, Error, control::Admin, decision::Refusal, user::ApproverId};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};

use crate::{
    body::{self, Fields},
    credentials::{Credential, CredentialId, Credentials, NotAuthenticated, Role},
    options::Options,
    problem::Problem,
    shares::Shares,
    v1::EventLog,
};

/// The prefix of a WebSocket subprotocol that contains a token. Browsers cannot send the `Authorization` header.
const TOKEN_PROTOCOL: &str = "bearer.";

/// The name of an operator in records. The id of its credential is there as well.
const OPERATOR: &str = "operator";

/// The pieces of work of the engine at the same time. Reading a large directory takes seconds.
const WORKERS: usize = 8;

/// The calls of one credential that wait for a person at the same time. A further one is answered at once.
const WAITING: usize = 32;

/// The open WebSockets and streams of one credential.
const SOCKETS: usize = 32;

/// The engine, and the credentials that its clients use.
#[derive(Debug)]
pub(crate) struct Entrance {
    engine: Engine,
    credentials: Credentials,
    body_time: Duration,
    /// The turns of each credential in the work of the engine.
    turns: Shares<CredentialId>,
    /// The places for work of the engine at the same time.
    workers: Arc<Semaphore>,
    waiting: Shares<CredentialId>,
    sockets: Shares<CredentialId>,
    /// The state directory with the audit trail.
    trail: Option<PathBuf>,
    events: Arc<EventLog>,
}

/// A sender whose credential is valid.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    engine: Engine,
    credential: Credential,
}

impl Entrance {
    pub(crate) fn new(engine: Engine, options: Options) -> Entrance {
        let Options { credentials, body_time, trail, .. } = options;
        Entrance {
            credentials,
            body_time,
            turns: Shares::of(1),
            workers: Arc::new(Semaphore::new(WORKERS)),
            waiting: Shares::of(WAITING),
            sockets: Shares::of(SOCKETS),
            trail,
            events: EventLog::of(&engine),
            engine,
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the state directory with the audit trail, if the server has one.
    pub(crate) fn trail(&self) -> Option<PathBuf> {
        self.trail.clone()
    }

    /// Returns the recent events of the engine.
    pub(crate) fn events(&self) -> &Arc<EventLog> {
        &self.events
    }

    /// Reads the object in the body of a request of `caller`. The caller's credential is still valid then.
    pub(crate) async fn object(&self, caller: &Caller, headers: &HeaderMap, body: Body) -> Result<Fields, Problem> {
        let read = time::timeout(self.body_time, body::object(headers, body)).await;
        let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", "the body did not arrive in time");
        let fields = read.map_err(late)??;
        self.refuse_revoked(caller)?;
        Ok(Fields(fields))
    }

    /// Runs work of the engine that reads the disk or a long text, so that it delays no other request. The calls of one
    /// credential have their turn one after the other. The credential is still valid when the work begins.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Problem> {
        let full = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the server is not able to work");
        let turn = self.turns.take(&caller.credential.id).await.ok_or_else(full)?;
        let place = Arc::clone(&self.workers).acquire_owned().await.map_err(|_| full())?;
        self.refuse_revoked(caller)?;
        let runtime = Handle::current();
        let working = move || {
            // The work goes on if the client is gone, and keeps its turn and its place until it ends.
            let _places = (turn, place);
            runtime.block_on(work)
        };
        tokio::task::spawn_blocking(working).await.map_err(|_| full())
    }

    /// Takes one of the places that a credential has for calls that wait for a person.
    pub(crate) fn place_to_wait(&self, caller: &Caller) -> Option<OwnedSemaphorePermit> {
        self.waiting.try_take(&caller.credential.id)
    }

    /// Takes one of the places that a credential has for WebSockets and streams.
    pub(crate) fn place_for_socket(&self, caller: &Caller) -> Result<OwnedSemaphorePermit, Problem> {
        let too_many = || {
            let detail = format!("this credential has {SOCKETS} open WebSockets and streams, which is the limit: close one");
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sockets", detail)
        };
        self.sockets.try_take(&caller.credential.id).ok_or_else(too_many)
    }

    /// Returns the sender of a request, by its `Authorization` header.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        self.authenticated(bearer(headers)?)
    }

    /// Returns the sender of a WebSocket upgrade, by its `Authorization` header or its subprotocol.
    pub(crate) fn caller_of_socket(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        if headers.contains_key(header::AUTHORIZATION) {
            return self.caller(headers);
        }
        let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
        let mut tokens = offered
            .filter_map(|offered| offered.to_str().ok())
            .flat_map(|offered| offered.split(','))
            .filter_map(|offered| offered.trim().strip_prefix(TOKEN_PROTOCOL));
        match (tokens.next(), tokens.next()) {
            (Some(token), None) => self.authenticated(token),
            (Some(_), Some(_)) => Err(unauthorized("offer one subprotocol with a token")),
            (None, _) => Err(unauthorized(
                "send `Authorization: Bearer TOKEN`, or offer the WebSocket subprotocol `bearer.TOKEN`",
            )),
        }
    }

    /// Returns the sender of a request that may have a ticket in place of the `Authorization` header.
    pub(crate) fn caller_with_ticket(&self, headers: &HeaderMap, ticket: Option<&str>) -> Result<Caller, Problem> {
        match ticket {
            Some(_) => Err(unauthorized("this server takes no ticket")),
            None => self.caller(headers),
        }
    }

    /// Refuses a sender whose credential is no longer valid.
    pub(crate) fn refuse_revoked(&self, caller: &Caller) -> Result<(), Problem> {
        if self.still_accepts(caller) { Ok(()) } else { Err(NotAuthenticated::Invalid.into()) }
    }

    /// Returns true if the sender's credential is still valid.
    pub(crate) fn still_accepts(&self, caller: &Caller) -> bool {
        self.engine.now().is_ok_and(|now| self.credentials.still_accepts(&caller.credential, now))
    }

    fn authenticated(&self, token: &str) -> Result<Caller, Problem> {
        let now = self.engine.now()?;
        let credential = self.credentials.authenticate(token, now)?;
        Ok(Caller { engine: self.engine.clone(), credential })
    }
}

fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(given), None) = (given.next(), given.next()) else {
        return Err(unauthorized("send one header `Authorization: Bearer TOKEN`"));
    };
    let (scheme, token) = given.to_str().ok().and_then(|given| given.split_once(' ')).unwrap_or_default();
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(unauthorized("the scheme is `Bearer`")) }
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

impl Caller {
    pub(crate) fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Returns the handle of the agent, if the credential is an agent's.
    pub(crate) fn agent(&self) -> Result<Agent, Problem> {
        let Role::Agent { agent } = &self.credential.role else {
            return Err(Problem::forbidden("this needs the credential of an agent"));
        };
        match self.engine.agent(agent) {
            Ok(agent) => Ok(agent),
            Err(Error::Refused(Refusal::UnknownAgent(_))) => {
                let detail =
                    format!("the agent {agent} of this credential is not registered: add it to the policy file");
                Err(Problem::new(StatusCode::FORBIDDEN, "unknown_agent", detail))
            }
            Err(why) => Err(why.into()),
        }
    }

    /// Returns the orders of the sender, if the credential is an approver's or the operator's, and the name under which
    /// records show the sender.
    pub(crate) fn admin(&self) -> Result<(Admin, ApproverId), Problem> {
        let means = self.credential.means();
        match &self.credential.role {
            Role::Approver { owner, by } => Ok((Admin::of_owner(&self.engine, owner.clone(), means), by.clone())),
            Role::Operator => {
                let internal = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "no name for records");
                Ok((Admin::of_every_owner(&self.engine, means), OPERATOR.parse().map_err(internal)?))
            }
            Role::Agent { .. } => {
                Err(Problem::forbidden("this needs the credential of an approver or operator: an agent decides nothing"))
            }
        }
    }

    /// Returns the handle of the person, if the credential is an approver's.
    pub(crate) fn approver(&self) -> Result<Approver, Problem> {
        match &self.credential.role {
            Role::Approver { owner, by } => Ok(self.engine.approver(owner, by, self.credential.means())),
            Role::Agent { .. } | Role::Operator => {
                Err(Problem::forbidden("only the credential of an approver can see requests and answer them"))
            }
        }
    }
}
