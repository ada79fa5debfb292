//! An engine of its own, open for the time of one hook.

use std::{path::Path, time::Duration};

use bestow::{AgentId, Engine, journal::JournalError, policy::OpenError};
use bestow_hosts::{OwnSessions, Sessions};

use crate::{own_engine, suggest};

/// The time after which a directory that another hook uses is tried again.
const AGAIN: Duration = Duration::from_millis(20);

/// The longest time to wait for other hooks.
const LONGEST: Duration = Duration::from_secs(10);

/// The reason if a program keeps the directory that long.
const IN_USE: &str = "another program, such as `bestow mcp --agent`, runs an engine on the state directory: end it";

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
    let engine = opened.map_err(|_| own_engine::not_opened(IN_USE, host, state))??;
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
        match Engine::open_durable_continuing(config, state).await {
            Ok(engine) => return Ok(engine),
            Err(OpenError::Journal(JournalError::InUse { .. })) => {}
            Err(why) => return Err(why.to_string()),
        }
        if let Some(why) = own_engine::running(host, state) {
            return Err(why);
        }
        tokio::time::sleep(AGAIN).await;
    }
}
