//! The engine that answers: a running server, or one of its own.

use std::{path::Path, sync::Arc};

use bestow::{AgentId, Engine, journal::JournalError, policy::OpenError, text::Escaped};
use bestow_hosts::{OwnSessions, Sessions};
use tokio::task;

use super::log::log;
use crate::{
    args::WrapArgs,
    dashboard,
    exit::Exit,
    remote::{RemoteSessions, Server, Source, holder},
    suggest,
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
            warn_of_server(source.clone()).await?;
            return Ok(Judge { sessions: Arc::new(RemoteSessions(source)), own: None });
        };
        let engine = opened(agent, &args.policy.config, &args.state).await?;
        let host = match suggest::registered(&engine, agent, &args.policy.config) {
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

/// Warns if the server cannot be asked now. It may start later, and each request is refused until then.
async fn warn_of_server(source: Source) -> Result<(), Exit> {
    let checked = source.clone();
    // Settings that are wrong end the command.
    task::spawn_blocking(move || checked.token_is_there()).await.map_err(Exit::failed)?.map_err(Exit::Failed)?;
    let server = task::spawn_blocking(move || Server::of(source)).await.map_err(Exit::failed)?;
    let asked = match server {
        Ok(server) => holder(&server, "agent").await,
        Err(why) => Err(why),
    };
    if let Err(why) = asked {
        log()(&format!("{why}; until that is mended, every request of the agent is refused"));
    }
    Ok(())
}

async fn opened(agent: &AgentId, config: &Path, state: &Path) -> Result<Engine, Exit> {
    match Engine::open_durable(config, state).await {
        Err(why @ OpenError::Journal(JournalError::InUse { .. })) => {
            let shown = Escaped(&state.to_string_lossy()).to_string();
            let Ok(url) = dashboard::running(state) else {
                return Err(Exit::failed(format_args!(
                    "{why}; for several wrappers, start `bestow serve --state {shown}`, and each wrapper with \
                     `--ready-file {shown}/server.json --token-file FILE`"
                )));
            };
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
