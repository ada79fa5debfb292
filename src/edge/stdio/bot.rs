//! What a bot may act as, and talking to it.

use std::{fmt, future::Future, io, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    process::Command,
};

use crate::{
    edge::process_order::Runner,
    engine::{Agent, Approver, Engine, Error},
    kernel::Refusal,
    model::{AgentId, ApproverId, OwnerId},
};

use super::{
    Limits,
    agent::AgentPart,
    connector::ConnectorPart,
    process::{Running, Sink},
    session::{Ended, converse},
};

/// Through what a connector's user answers, as every decision records it.
const MEANS: &str = "stdio";

/// A bot that is about to be talked to: what it may act as, and how much it may do.
pub struct Bot {
    engine: Engine,
    seat: Seat,
    limits: Limits,
    pub(super) stderr: Option<Sink>,
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
    /// A bot that acts as `agent`, and as no other. It reads that agent's mailbox; let nobody else read it meanwhile.
    ///
    /// # Authority
    ///
    /// The bot can do everything that the agent can. It can answer nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub fn agent(engine: &Engine, agent: &AgentId) -> Result<Bot, Error> {
        Ok(Bot::new(engine, Seat::Agent(engine.agent(agent)?)))
    }

    /// One of several that act as `agent` at the same time, for as long as it holds `@events` (`sources/004`, "Events
    /// permission and unix sockets"). The agent's mail stays where it is: such a bot hears how the questions ended that
    /// it asked itself, and nothing else that reaches the agent.
    ///
    /// # Authority
    ///
    /// As [`Bot::agent`].
    pub fn beside_others(agent: Agent) -> Bot {
        Bot::new(&agent.engine(), Seat::BesideOthers(agent))
    }

    /// A bot that shows the questions for the user of the foreground agent `agent`, and may not answer them.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, or it is not a foreground agent.
    pub fn connector(engine: &Engine, agent: &AgentId) -> Result<Bot, Error> {
        let profile = engine.agent(agent)?.profile()?;
        if !profile.kind.is_foreground() {
            return Err(Refusal::NotForeground(agent.clone()).into());
        }
        let (agent, owner) = (agent.clone(), profile.owner.clone());
        Ok(Bot::new(engine, Seat::Connector { agent, owner, approver: None }))
    }

    /// The same connector, whose decisions count as those of `by`. For a bot that acts as an agent, this changes
    /// nothing.
    ///
    /// # Authority
    ///
    /// Whoever writes this bot's lines can give every agent of that owner anything that is not protected.
    #[must_use]
    pub fn answering_as(mut self, by: ApproverId) -> Bot {
        if let Seat::Connector { owner, approver, .. } = &mut self.seat {
            *approver = Some(self.engine.approver(owner, by, MEANS));
        }
        self
    }

    /// The same bot, within other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Bot {
        Bot { limits, ..self }
    }

    /// The same bot; once it is a process, each line of its standard error goes to `sink`. Without this it goes where
    /// the command says, which is where this process's goes.
    #[must_use]
    pub fn stderr(self, sink: impl FnMut(&str) + Send + 'static) -> Bot {
        Bot { stderr: Some(Box::new(sink)), ..self }
    }

    /// The same bot, which may start processes by way of `runner`.
    #[cfg(feature = "sandbox")]
    pub(in crate::edge) fn with_runner(self, runner: Arc<dyn Runner>) -> Bot {
        Bot { runner: Some(runner), ..self }
    }

    fn new(engine: &Engine, seat: Seat) -> Bot {
        Bot { engine: engine.clone(), seat, limits: Limits::default(), stderr: None, runner: None }
    }

    /// Talks to a bot that writes to `reader` and reads from `writer`, until one side ends it.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the conversation at once; what waited for this connector's user goes to the next.
    pub async fn serve(self, reader: impl AsyncRead + Unpin + Send, writer: impl AsyncWrite + Unpin + Send) -> Ended {
        self.serve_until(reader, writer, std::future::pending()).await
    }

    /// The same, and says goodbye when `stop` is there.
    ///
    /// # Cancellation
    ///
    /// As [`Bot::serve`].
    pub async fn serve_until(
        self,
        reader: impl AsyncRead + Unpin + Send,
        writer: impl AsyncWrite + Unpin + Send,
        stop: impl Future<Output = ()> + Send,
    ) -> Ended {
        let Bot { engine, seat, limits, stderr: _, runner } = self;
        match seat {
            Seat::Agent(agent) => {
                let mut part = AgentPart::new(engine.clone(), agent).with_runner(runner);
                converse(&mut part, &engine, &limits, reader, writer, stop).await
            }
            Seat::BesideOthers(agent) => {
                let mut part = AgentPart::beside_others(engine.clone(), agent);
                converse(&mut part, &engine, &limits, reader, writer, stop).await
            }
            Seat::Connector { agent, owner, approver } => {
                let Ok(connection) = engine.connect(&agent) else { return Ended::Superseded };
                let mut part = ConnectorPart::new(engine.clone(), owner, approver, connection);
                converse(&mut part, &engine, &limits, reader, writer, stop).await
            }
        }
    }

    /// Starts a process and talks to it over its standard input and output. It is killed if it does not end by itself
    /// within [`Limits::grace`] after the conversation did, or when the [`Running`] is dropped. Call it within a Tokio
    /// runtime that does I/O.
    ///
    /// # Errors
    ///
    /// When the process cannot be started; the error names the program.
    pub fn spawn(self, command: Command) -> io::Result<Running> {
        let grace = self.limits.grace;
        Running::start(self, command, grace)
    }
}
