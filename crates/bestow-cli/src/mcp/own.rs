//! An engine of its own, for one client.

use std::path::Path;

use bestow::{AgentId, Engine, text::Escaped};
use bestow_mcp::{Lines, server};
use rmcp::{ServiceExt, service::ServerInitializeError};

use crate::{dashboard, exit::Exit, signals};

/// Serves an agent of an engine that this process runs.
pub(super) async fn serve(agent: &AgentId, config: &Path, state: &Path) -> Result<Exit, Exit> {
    let stop = signals::end().map_err(Exit::failed)?;
    let engine = Engine::open_durable(config, state).await.map_err(|why| not_opened(&why, agent, state))?;
    let served = tokio::select! {
        served = served(&engine, agent) => served,
        () = stop => Ok(Exit::Done),
    };
    engine.shutdown().await;
    served
}

async fn served(engine: &Engine, agent: &AgentId) -> Result<Exit, Exit> {
    engine.agent(agent).map_err(Exit::failed)?;
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout());
    match server(engine, agent.clone()).serve(lines).await {
        Ok(running) => running.waiting().await.map(|_| Exit::Done).map_err(Exit::failed),
        // The client left before its first request.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(Exit::Done),
        Err(why) => Err(Exit::failed(why)),
    }
}

/// Returns the reason why there is no engine. If a server runs on the state directory, it names the way to it.
fn not_opened(why: &dyn std::fmt::Display, agent: &AgentId, state: &Path) -> Exit {
    let shown = state.display().to_string();
    let shown = Escaped(&shown);
    if let Ok(url) = dashboard::running(state) {
        return Exit::failed(format!(
            "a server runs on the state directory {shown}, at {}: use it with `bestow mcp --ready-file \
             {shown}/server.json --token-file FILE`; `bestow token create --state {shown} --role agent --agent \
             {agent}` prints the token for the file",
            Escaped(&url)
        ));
    }
    Exit::failed(format!(
        "{why}; for several clients, start `bestow serve --state {shown}`, and each client with `bestow mcp \
         --ready-file {shown}/server.json --token-file FILE`"
    ))
}
