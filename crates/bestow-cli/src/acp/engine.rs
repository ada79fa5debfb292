//! The engine that answers: a running server, or one of its own.

use std::{path::Path, sync::Arc};

use bestow::{AgentId, Engine, journal::JournalError, policy::OpenError, text::Escaped};
use bestow_hosts::{OwnSessions, Sessions};
use tokio::task;

use crate::{
    args::WrapArgs,
    dashboard,
    exit::Exit,
    remote::{RemoteSessions, Server, Source},
};

/// The sessions of a coding agent, and the engine to end after them.
pub(super) struct Judge {
    pub(super) sessions: Arc<dyn Sessions>,
    own: Option<Engine>,
}

impl Judge {
    pub(super) async fn of(args: &WrapArgs) -> Result<Judge, Exit> {
        let Some(agent) = &args.agent else {
            let source = Source::of(&args.remote);
            let server = task::spawn_blocking(move || Server::of(source)).await.map_err(Exit::failed)?;
            let sessions = RemoteSessions(server.map_err(Exit::Failed)?);
            return Ok(Judge { sessions: Arc::new(sessions), own: None });
        };
        let engine = opened(agent, &args.policy.config, &args.state).await?;
        let host = match engine.agent(agent) {
            Ok(host) => host,
            Err(why) => {
                engine.shutdown().await;
                return Err(Exit::failed(why));
            }
        };
        let sessions = OwnSessions::new(engine.clone(), host);
        Ok(Judge { sessions: Arc::new(sessions), own: Some(engine) })
    }

    pub(super) async fn end(self) {
        if let Some(engine) = self.own {
            engine.shutdown().await;
        }
    }
}

async fn opened(agent: &AgentId, config: &Path, state: &Path) -> Result<Engine, Exit> {
    match Engine::open_durable(config, state).await {
        Err(why @ OpenError::Journal(JournalError::InUse { .. })) => {
            let Ok(url) = dashboard::running(state) else { return Err(Exit::failed(why)) };
            let shown = Escaped(&state.to_string_lossy()).to_string();
            Err(Exit::failed(format_args!(
                "a server runs on the state directory {shown}, at {}: replace `--agent`, `--config` and `--state` by \
                 `--ready-file {shown}/server.json --token-file FILE`; `bestow token create --state {shown} --role \
                 agent --agent {agent}` prints the token for the file",
                Escaped(&url)
            )))
        }
        opened => opened.map_err(Exit::failed),
    }
}
