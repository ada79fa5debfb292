//! The permitted role of a bot, and the conversation with it.

use std::{fmt, future::Future, sync::Arc};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    engine::process_order::Runner,
    engine::{Agent, Approver, Engine, Error},
    kernel::Refusal,
    model::{AgentId, ApproverId, OwnerId},
};

use super::{
    Limits,
    agent::AgentPart,
    connector::ConnectorPart,
    session::{Ended, converse},
    sinks::{Speech, TextSink},
};

/// The channel through which a connector's user answers. Every decision records it.
const MEANS: &str = "stdio";

/// A bot before its conversation starts: the role it has, and the limits on its resources.
pub struct Bot {
    engine: Engine,
    seat: Seat,
    pub(super) limits: Limits,
    pub(super) stderr: Option<TextSink>,
    said: Option<Speech>,
    faults: Option<Speech>,
    runner: Option<Arc<dyn Runner>>,
}

enum Seat {
    Agent(Agent),
    BesideOthers(Agent),
    Connector { agent: AgentId, owner: OwnerId, approver: Option<Approver> },
}

impl fmt::Debug for Bot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.seat {
            Seat::Agent(agent) | Seat::BesideOthers(agent) => write!(f, "Bot({agent:?})"),
            Seat::Connector { agent, approver, .. } => write!(f, "Bot(connector of {agent}, {approver:?})"),
        }
    }
}

impl Bot {
    /// Creates a bot that acts as `agent`, and as no other agent. The bot reads that agent's mailbox, so nothing else
    /// should read it meanwhile.
    ///
    /// # Authority
    ///
    /// The bot can do everything that the agent can. It cannot answer requests.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub fn agent(engine: &Engine, agent: &AgentId) -> Result<Bot, Error> {
        Ok(Bot::new(engine, Seat::Agent(engine.agent(agent)?)))
    }

    /// Creates one of several bots that act as `agent` at the same time, for as long as the agent holds `@events`
    /// (`sources/004`, "Events permission and unix sockets"). The agent's mailbox stays with its reader. Such a bot
    /// gets the results of its own requests, and none of the agent's other notifications.
    ///
    /// # Authority
    ///
    /// The bot has the authority described at [`Bot::agent`].
    pub fn beside_others(agent: Agent) -> Bot {
        Bot::new(&agent.engine(), Seat::BesideOthers(agent))
    }

    /// Creates a bot that shows requests to the user of the foreground agent `agent`, and may not answer them.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, or if it is not a foreground agent.
    pub fn connector(engine: &Engine, agent: &AgentId) -> Result<Bot, Error> {
        let profile = engine.agent(agent)?.profile()?;
        if !profile.kind.is_foreground() {
            return Err(Refusal::NotForeground(agent.clone()).into());
        }
        let (agent, owner) = (agent.clone(), profile.owner.clone());
        Ok(Bot::new(engine, Seat::Connector { agent, owner, approver: None }))
    }

    /// Returns this connector with the permission to decide: its decisions count as decisions of `by`. For a bot that
    /// acts as an agent, this changes nothing.
    ///
    /// # Authority
    ///
    /// The author of this bot's lines can give every agent of that owner any permission that is not protected.
    #[must_use]
    pub fn answering_as(mut self, by: ApproverId) -> Bot {
        if let Seat::Connector { owner, approver, .. } = &mut self.seat {
            *approver = Some(self.engine.approver(&*owner, by, MEANS));
        }
        self
    }

    /// Returns this bot with other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Bot {
        Bot { limits, ..self }
    }

    /// Returns this bot with a sink for standard error: once the bot is a process, `sink` receives each line of it.
    /// Without a sink, the command's own setting applies. Its default is the standard error of this process.
    #[must_use]
    pub fn stderr(self, sink: impl FnMut(&str) + Send + 'static) -> Bot {
        Bot { stderr: Some(Box::new(sink)), ..self }
    }

    /// Returns this bot with a receiver of what its agent says to its own user: `said` receives each text, in addition
    /// to the user, and no user has to be connected. For a connector, this changes nothing.
    #[must_use]
    pub fn saying_to(self, said: impl Fn(&str) + Send + Sync + 'static) -> Bot {
        Bot { said: Some(Arc::new(said)), ..self }
    }

    /// Returns this bot with a receiver of its mistakes: `faults` receives the explanation of each line that is no
    /// message. The bot gets it as well.
    #[must_use]
    pub fn telling_faults_to(self, faults: impl Fn(&str) + Send + Sync + 'static) -> Bot {
        Bot { faults: Some(Arc::new(faults)), ..self }
    }

    /// Returns this bot with a runner through which it may start processes.
    #[cfg(feature = "sandbox")]
    pub(crate) fn with_runner(self, runner: Arc<dyn Runner>) -> Bot {
        Bot { runner: Some(runner), ..self }
    }

    /// Returns the agent as which the bot acts, and its limits, if it acts as one.
    #[cfg(feature = "sandbox")]
    pub(crate) fn acting_as(&self) -> Option<(Agent, Limits)> {
        match &self.seat {
            Seat::Agent(agent) | Seat::BesideOthers(agent) => Some((agent.clone(), self.limits)),
            Seat::Connector { .. } => None,
        }
    }

    /// Takes the receiver of the lines of the bot's standard error.
    #[cfg(feature = "sandbox")]
    pub(crate) fn take_stderr(&mut self) -> Option<TextSink> {
        self.stderr.take()
    }

    fn new(engine: &Engine, seat: Seat) -> Bot {
        Bot {
            engine: engine.clone(),
            seat,
            limits: Limits::default(),
            stderr: None,
            said: None,
            faults: None,
            runner: None,
        }
    }

    /// Talks to a bot that writes to `reader` and reads from `writer`, until one side ends the conversation.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the conversation at once. Requests that were waiting for this connector's user go to
    /// the next connector.
    pub async fn serve(self, reader: impl AsyncRead + Unpin + Send, writer: impl AsyncWrite + Unpin + Send) -> Ended {
        self.serve_until(reader, writer, std::future::pending()).await
    }

    /// Talks to a bot as [`Bot::serve`] does, and says goodbye when `stop` completes.
    ///
    /// # Cancellation
    ///
    /// Dropping the future has the effect described at [`Bot::serve`].
    pub async fn serve_until(
        self,
        reader: impl AsyncRead + Unpin + Send,
        writer: impl AsyncWrite + Unpin + Send,
        stop: impl Future<Output = ()> + Send,
    ) -> Ended {
        let Bot { engine, seat, limits, stderr: _, said, faults, runner } = self;
        let faults = faults.as_ref();
        match seat {
            Seat::Agent(agent) => {
                let mut part = AgentPart::new(engine.clone(), agent).with_runner(runner).saying_to(said);
                converse(&mut part, &engine, &limits, reader, writer, stop, faults).await
            }
            Seat::BesideOthers(agent) => {
                let mut part = AgentPart::beside_others(engine.clone(), agent);
                converse(&mut part, &engine, &limits, reader, writer, stop, faults).await
            }
            Seat::Connector { agent, owner, approver } => {
                let Ok(connection) = engine.connect(&agent) else { return Ended::Superseded };
                let mut part = ConnectorPart::new(engine.clone(), owner, approver, connection);
                converse(&mut part, &engine, &limits, reader, writer, stop, faults).await
            }
        }
    }
}
