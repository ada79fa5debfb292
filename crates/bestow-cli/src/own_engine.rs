//! An engine of its own for a command of one agent, and the reasons why there is none.

use std::{fmt, path::Path};

use bestow::{AgentId, Engine, journal::JournalError, policy::OpenError, text::Escaped};

use crate::{dashboard, exit::Exit};

/// Opens an engine. If another program uses the state directory, the error names the way out.
pub(crate) async fn opened(agent: &AgentId, config: &Path, state: &Path) -> Result<Engine, Exit> {
    Engine::open_durable(config, state).await.map_err(|why| {
        let in_use = matches!(why, OpenError::Journal(JournalError::InUse { .. }));
        if in_use { Exit::failed(not_opened(why, agent, state)) } else { Exit::failed(why) }
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
