//! The engine that answers: a running server, or one of its own.

use std::sync::Arc;

use bestow::Engine;
use bestow_hosts::{OwnSessions, Sessions};
use tokio::task;

use super::log::log;
use crate::{
    args::WrapArgs,
    exit::Exit,
    own_engine,
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
        let Some(own) = args.engine.own_engine().map_err(Exit::usage)? else {
            let source = Source::of(&args.engine.remote);
            warn_of_server(source.clone()).await?;
            return Ok(Judge { sessions: Arc::new(RemoteSessions(source)), own: None });
        };
        let engine = own_engine::open(&own).await?;
        let host = match suggest::registered(&engine, &own.agent, &own.config) {
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
