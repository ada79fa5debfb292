//! The identity of a sender. It comes from the sender's credential, never from a parameter or a body.

mod authenticate;
mod counts;
mod session;

use std::{path::PathBuf, pin::pin, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, StatusCode},
};
use bestow::{
    Agent, Approver, Engine, Error,
    control::Admin,
    decision::Refusal,
    event::{KeyedWrite, Timestamp, WriteKey},
    grant::Means,
    user::{ApproverId, OwnerId},
};
use futures_util::FutureExt;
use serde_json::{Map, Value};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};

use crate::{
    body::{self, Fields},
    credentials::{Credential, CredentialId, Credentials, Live, Role},
    frames::Frames,
    hosts::Hosts,
    options::{Options, SocketTimes},
    problem::Problem,
    rate::Rate,
    revocations::Revocations,
    runs::Runs,
    shares::Shares,
    tickets::Tickets,
    v1::{Answers, EventLog, Parts},
};

/// The name of an operator in records. The id of its credential is there as well.
const OPERATOR: &str = "operator";

/// The pieces of work of the engine at the same time. Reading a large directory takes seconds.
const WORKERS: usize = 8;

/// The pieces of work for the credentials of one owner at the same time.
const OF_ONE_OWNER: usize = 4;

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
    socket_times: SocketTimes,
    /// The turns of each credential in the work of the engine.
    turns: Shares<CredentialId>,
    /// The places of each owner in that work. The agents of one owner do not delay those of another.
    owners: Shares<OwnerId>,
    /// The places for work of the engine at the same time.
    workers: Arc<Semaphore>,
    waiting: Shares<CredentialId>,
    sockets: Shares<CredentialId>,
    connections: Shares<CredentialId>,
    rate: Rate,
    runs: Arc<Runs>,
    /// The state directory with the audit trail.
    trail: Option<PathBuf>,
    /// The policy file.
    config: Option<PathBuf>,
    events: Arc<EventLog>,
    tickets: Tickets,
    answers: Answers,
    frames: Frames,
    parts: Parts,
    hosts: Hosts,
    revocations: Revocations,
    /// The begin of this server. A link that is older was made for another one.
    began: Option<Timestamp>,
}

/// A sender whose credential is valid.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    engine: Engine,
    live: Arc<Live>,
}

impl Entrance {
    pub(crate) fn new(engine: Engine, options: Options) -> Entrance {
        let socket_times = options.socket_times();
        let Options { credentials, body_time, trail, config, sandbox, .. } = options;
        let (connections, rate) = (options.connections_per_credential, options.requests_per_second);
        Entrance {
            credentials,
            body_time,
            socket_times,
            turns: Shares::of(1),
            owners: Shares::of(OF_ONE_OWNER),
            workers: Arc::new(Semaphore::new(WORKERS)),
            waiting: Shares::of(WAITING),
            sockets: Shares::of(SOCKETS),
            connections: Shares::of(connections),
            rate: Rate::per_second(rate),
            runs: Arc::new(Runs::new(&engine, sandbox)),
            events: EventLog::of(&engine, trail.clone()),
            trail,
            config,
            tickets: Tickets::default(),
            answers: Answers::default(),
            frames: Frames::default(),
            parts: Parts::default(),
            hosts: Hosts::default(),
            revocations: Revocations::default(),
            began: engine.now().ok(),
            engine,
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the times of each WebSocket.
    pub(crate) fn socket_times(&self) -> SocketTimes {
        self.socket_times
    }

    pub(crate) fn runs(&self) -> Arc<Runs> {
        Arc::clone(&self.runs)
    }

    /// Returns the state directory with the audit trail, if the server has one.
    pub(crate) fn trail(&self) -> Option<PathBuf> {
        self.trail.clone()
    }

    /// Returns the policy file, if the server has one.
    pub(crate) fn config(&self) -> Option<PathBuf> {
        self.config.clone()
    }

    /// Returns the recent events of the engine.
    pub(crate) fn events(&self) -> &Arc<EventLog> {
        &self.events
    }

    /// Returns the answers to writes with a key.
    pub(crate) fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Returns the parts of the command lines that wait for a person.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the sessions of coding agents.
    pub(crate) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Returns the revocations that can be undone now.
    pub(crate) fn revocations(&self) -> &Revocations {
        &self.revocations
    }

    /// Returns the texts of frames that go to many clients.
    pub(crate) fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Reads the object in the body of a request of `caller`. The caller's credential is still valid then.
    pub(crate) async fn object(&self, caller: &Caller, headers: &HeaderMap, body: Body) -> Result<Fields, Problem> {
        let fields = self.in_time(caller, body::object(headers, body)).await?;
        Ok(Fields::of(fields))
    }

    /// Reads the text of the JSON in the body of a request of `caller`. The caller's credential is still valid then.
    pub(crate) async fn json(&self, caller: &Caller, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
        body::json_is_said(headers)?;
        self.in_time(caller, body::bytes(body)).await
    }

    /// Reads the body of a request of `caller`. The caller's credential is still valid then.
    pub(crate) async fn bytes(&self, caller: &Caller, body: Body) -> Result<Bytes, Problem> {
        self.in_time(caller, body::bytes(body)).await
    }

    /// Reads the object in the body of a request that needs no credential.
    pub(crate) async fn object_of_anybody(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Map<String, Value>, Problem> {
        time::timeout(self.body_time, body::small_object(headers, body)).await.map_err(late)?
    }

    /// Waits for a body. The caller's credential was valid when the wait began, and is checked again after it.
    async fn in_time<T>(&self, caller: &Caller, read: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
        let mut read = pin!(read);
        // A body that arrived with its head is there without a wait, and the credential was checked just now.
        if let Some(read) = read.as_mut().now_or_never() {
            return read;
        }
        let read = time::timeout(self.body_time, read).await.map_err(late)??;
        self.refuse_revoked(caller)?;
        Ok(read)
    }

    /// Runs work of the engine that reads the disk or a long text, so that it delays no other request. The calls of one
    /// credential have their turn one after the other. The credential is still valid when the work begins.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Problem> {
        let full = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the server is not able to work");
        let turn = self.turns.take(&caller.live.credential.id).await.ok_or_else(full)?;
        let own = match caller.owner() {
            Some(owner) => Some(self.owners.take(&owner).await.ok_or_else(full)?),
            None => None,
        };
        let place = Arc::clone(&self.workers).acquire_owned().await.map_err(|_| full())?;
        self.refuse_revoked(caller)?;
        let runtime = Handle::current();
        let working = move || {
            // The work goes on if the client is gone, and keeps its turn and its place until it ends.
            let _places = (turn, own, place);
            runtime.block_on(work)
        };
        tokio::task::spawn_blocking(working).await.map_err(|_| full())
    }

    /// Takes one of the places that a credential has for calls that wait for a person.
    pub(crate) fn place_to_wait(&self, caller: &Caller) -> Option<OwnedSemaphorePermit> {
        self.waiting.try_take(&caller.live.credential.id)
    }

    /// Takes one of the places that a credential has for WebSockets and streams.
    pub(crate) fn place_for_socket(&self, caller: &Caller) -> Result<OwnedSemaphorePermit, Problem> {
        let too_many = || {
            let detail =
                format!("this credential has {SOCKETS} open WebSockets and streams, which is the limit: close one");
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sockets", detail)
        };
        self.sockets.try_take(&caller.live.credential.id).ok_or_else(too_many)
    }
}

fn late(_: time::error::Elapsed) -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", "the body did not arrive in time")
}

impl Caller {
    pub(crate) fn credential(&self) -> &Credential {
        &self.live.credential
    }

    /// Returns the sender for one write with a key: each handle that it gets acts for that write. `before` are the
    /// steps of an earlier call that this one continues.
    pub(crate) fn writing(self, key: WriteKey, before: &[Arc<KeyedWrite>]) -> Caller {
        Caller { engine: self.engine.writing(key, before), live: self.live }
    }

    /// Returns the means by which the sender acts, for the records.
    pub(crate) fn means(&self) -> Means {
        Arc::clone(&self.live.means)
    }

    /// Returns the handle of the agent, if the credential is an agent's.
    pub(crate) fn agent(&self) -> Result<Agent, Problem> {
        let Role::Agent { agent } = &self.live.credential.role else {
            return Err(Problem::forbidden("this needs the credential of an agent"));
        };
        match self.engine.agent(agent) {
            Ok(agent) => Ok(self.through(agent)),
            Err(Error::Refused(Refusal::UnknownAgent(_))) => {
                let detail =
                    format!("the agent {agent} of this credential is not registered: add it to the policy file");
                Err(Problem::new(StatusCode::FORBIDDEN, "unknown_agent", detail))
            }
            Err(why) => Err(why.into()),
        }
    }

    /// Returns the handle of an agent as the sender holds it: records name the credential.
    pub(crate) fn through(&self, agent: Agent) -> Agent {
        agent.through(self.means())
    }

    /// Returns the orders of the sender, if the credential is an approver's or the operator's, and the name under which
    /// records show the sender.
    pub(crate) fn admin(&self) -> Result<(Admin, ApproverId), Problem> {
        let means = self.means();
        match &self.live.credential.role {
            Role::Approver { owner, by } => Ok((Admin::of_owner(&self.engine, owner.clone(), means), by.clone())),
            Role::Operator => {
                let internal = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "no name for records");
                Ok((Admin::of_every_owner(&self.engine, means), OPERATOR.parse().map_err(internal)?))
            }
            Role::Agent { .. } => Err(Problem::forbidden(
                "this needs the credential of an approver or operator: an agent decides nothing",
            )),
        }
    }

    /// Returns the owner for whom the credential acts. An operator acts for every owner.
    pub(crate) fn owner(&self) -> Option<OwnerId> {
        match &self.live.credential.role {
            Role::Approver { owner, .. } => Some(owner.clone()),
            Role::Agent { agent } => {
                let profile = self.engine.agent(agent).and_then(|agent| agent.profile());
                profile.ok().map(|profile| profile.owner.clone())
            }
            Role::Operator => None,
        }
    }

    /// Refuses an owner that the client names and that is not the owner of its credential.
    pub(crate) fn refuse_other_owner(&self, named: Option<&str>) -> Result<(), Problem> {
        let is_own =
            |named: &str| matches!(&self.live.credential.role, Role::Approver { owner, .. } if owner.as_str() == named);
        if named.is_none_or(is_own) {
            return Ok(());
        }
        Err(Problem::forbidden("this credential belongs to another `userId`"))
    }

    /// Returns the handle of the person, if the credential is an approver's.
    pub(crate) fn approver(&self) -> Result<Approver, Problem> {
        match &self.live.credential.role {
            Role::Approver { owner, by } => Ok(self.engine.approver(owner, by, self.means())),
            Role::Agent { .. } | Role::Operator => {
                Err(Problem::forbidden("only the credential of an approver can see requests and answer them"))
            }
        }
    }
}
