//! An engine of its own, open for the time of one hook.

use std::time::Duration;

use bestow::Engine;
use bestow_hosts::{OwnSessions, Sessions};

use crate::{args::OwnEngine, own_engine, suggest};

/// The reason if a program keeps the directory for longer than a hook waits.
const IN_USE: &str = "another program, such as `bestow mcp --agent`, runs an engine on the state directory: end it";

/// Opens an engine on the state directory, does `work` with the sessions of the host, and ends the engine. While
/// another command uses the directory, it waits, up to `patience`.
pub(super) async fn with_engine<T>(
    OwnEngine { agent, config, state }: &OwnEngine,
    patience: Duration,
    work: impl AsyncFnOnce(&dyn Sessions) -> Result<T, String>,
) -> Result<T, String> {
    let patience = patience.min(own_engine::PATIENCE);
    let open = || Engine::open_durable_continuing(config, state);
    let opened = own_engine::open_in_turn(state, patience, open).await;
    let engine = opened.map_err(|why| match own_engine::is_in_use(&why) {
        true => own_engine::not_opened(IN_USE, agent, state),
        false => why.to_string(),
    })?;
    let done = match suggest::registered(&engine, agent, config) {
        Ok(agent) => work(&OwnSessions::new(engine.clone(), agent)).await,
        Err(why) => Err(why),
    };
    // What was decided is on the disk before the host hears of it.
    engine.shutdown().await;
    done
}
