//! An engine of its own for a command of one agent, and the reasons why there is none.

use std::{fmt, path::Path, time::Duration};

use bestow::{AgentId, Engine, journal::JournalError, policy::OpenError, text::Escaped};
use tokio::time::Instant;

use crate::{args::OwnEngine, dashboard, exit::Exit};

/// The longest time to wait for other commands on the same directory. Such a command takes a moment.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The time after which a directory that another command uses is tried again.
const AGAIN: Duration = Duration::from_millis(20);

/// The time after which a person hears what a command waits for.
const NOTED_AFTER: Duration = Duration::from_secs(1);

/// Opens an engine as soon as no other command uses its state directory. An engine that serves there is not awaited.
///
/// # Errors
///
/// Those of `open`; that of a directory in use if it is in use for longer than `patience`.
pub(crate) async fn open_in_turn(
    state: &Path,
    patience: Duration,
    open: impl AsyncFn() -> Result<Engine, OpenError>,
) -> Result<Engine, OpenError> {
    let begin = Instant::now();
    let mut is_noted = false;
    loop {
        let why = match open().await {
            Err(why) if is_in_use(&why) => why,
            done => return done,
        };
        if begin.elapsed() >= patience || dashboard::running(state).is_ok() {
            return Err(why);
        }
        if begin.elapsed() >= NOTED_AFTER && !is_noted {
            eprintln!("bestow: note: {why}: waiting for up to {} seconds", patience.as_secs());
            is_noted = true;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Returns true if another process uses the state directory.
pub(crate) fn is_in_use(why: &OpenError) -> bool {
    matches!(why, OpenError::Journal(JournalError::InUse { .. }))
}

/// Opens an engine. If another program uses the state directory, the error names the way out.
pub(crate) async fn open(own: &OwnEngine) -> Result<Engine, Exit> {
    open_for(&own.agent, &own.config, &own.state).await
}

/// Opens an engine for a command of this agent.
pub(crate) async fn open_for(agent: &AgentId, config: &Path, state: &Path) -> Result<Engine, Exit> {
    let opened = open_in_turn(state, PATIENCE, || Engine::open_durable(config, state)).await;
    opened.map_err(|why| match is_in_use(&why) {
        true => Exit::failed(not_opened(why, agent, state)),
        false => Exit::failed(why),
    })
}

/// Returns the reason for a state directory that another program uses, with the way out.
pub(crate) fn not_opened(why: impl fmt::Display, agent: &AgentId, state: &Path) -> String {
    running(agent, state).unwrap_or_else(|| {
        let state = shown(state);
        format!(
            "{why}; for several programs at once, start `bestow serve --state {state}`, and each of them with \
             `--ready-file {state}/server.json --token-file FILE`"
        )
    })
}

/// Names the way to the server that runs on the state directory, if there is one.
pub(crate) fn running(agent: &AgentId, state: &Path) -> Option<String> {
    let url = dashboard::running(state).ok()?;
    let state = shown(state);
    Some(format!(
        "a server runs on the state directory {state}, at {}: replace `--agent`, `--config` and `--state` by \
         `--ready-file {state}/server.json --token-file FILE`; `bestow token create --state {state} --role agent \
         --agent {agent}` prints the token for the file",
        Escaped(&url)
    ))
}

/// Returns a directory for people.
fn shown(directory: &Path) -> String {
    Escaped(&directory.to_string_lossy()).to_string()
}
