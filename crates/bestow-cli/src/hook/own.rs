//! An engine of its own, open for the time of one hook.

use std::{path::Path, time::Duration};

use bestow::{AgentId, Engine, journal::JournalError, policy::OpenError, text::Escaped};
use bestow_hosts::{OwnSessions, Sessions};

use crate::{dashboard, suggest};

/// The time after which a directory that another hook uses is tried again.
const AGAIN: Duration = Duration::from_millis(20);

/// The longest time to wait for other hooks.
const LONGEST: Duration = Duration::from_secs(10);

/// Opens an engine on the state directory, does `work` with the sessions of the host, and ends the engine. While
/// another hook uses the directory, it waits, up to `patience`.
pub(super) async fn with_engine<T>(
    host: &AgentId,
    config: &Path,
    state: &Path,
    patience: Duration,
    work: impl AsyncFnOnce(&dyn Sessions) -> Result<T, String>,
) -> Result<T, String> {
    let opened = tokio::time::timeout(patience.min(LONGEST), opened(host, config, state)).await;
    let engine = opened.map_err(|_| in_use(state))??;
    let done = match suggest::registered(&engine, host, config) {
        Ok(agent) => work(&OwnSessions::new(engine.clone(), agent)).await,
        Err(why) => Err(why),
    };
    // What was decided is on the disk before the host hears of it.
    engine.shutdown().await;
    done
}

/// Opens an engine on the state directory as soon as no other hook uses it.
async fn opened(host: &AgentId, config: &Path, state: &Path) -> Result<Engine, String> {
    loop {
        match Engine::open_durable(config, state).await {
            Ok(engine) => return Ok(engine),
            Err(OpenError::Journal(JournalError::InUse { .. })) => {}
            Err(why) => return Err(why.to_string()),
        }
        if let Ok(url) = dashboard::running(state) {
            return Err(ask_the_server(host, state, &url));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Names the way to the server that runs on the state directory.
fn ask_the_server(host: &AgentId, state: &Path, url: &str) -> String {
    let state = shown(state);
    format!(
        "a server runs on the state directory {state}, at {}: replace `--agent`, `--config` and `--state` of the hook \
         by `--ready-file {state}/server.json --token-file FILE`; `bestow token create --state {state} --role agent \
         --agent {host}` prints the token for the file",
        Escaped(url)
    )
}

/// Names the ways out if another program keeps an engine on the state directory.
fn in_use(state: &Path) -> String {
    let state = shown(state);
    format!(
        "another program, such as `bestow mcp --agent`, runs an engine on the state directory {state}: end it, or let \
         `bestow serve --state {state}` run the engine, and give both `--ready-file {state}/server.json`"
    )
}

fn shown(path: &Path) -> String {
    Escaped(&path.to_string_lossy()).to_string()
}
