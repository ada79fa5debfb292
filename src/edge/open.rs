//! An engine on a policy file: what the file says is in force, and stays in step with it.

use std::{fmt, path::PathBuf};

use crate::{
    engine::{Engine, Error, NoEvent, Subscription},
    model::Settings,
};

use super::{
    PolicyChange,
    config::{ConfigError, PolicyFile},
    watch::Change,
};

/// Why no engine was opened.
#[non_exhaustive]
pub enum OpenError {
    /// Everything that is wrong with the file.
    Config(ConfigError),
    /// The engine does not take what the file says.
    Engine(Error),
}

/// As it is displayed: this is what a `main` that returns it prints.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Config(why) => why.fmt(f),
            OpenError::Engine(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpenError::Config(why) => Some(why),
            OpenError::Engine(why) => Some(why),
        }
    }
}

impl From<ConfigError> for OpenError {
    fn from(why: ConfigError) -> OpenError {
        OpenError::Config(why)
    }
}

impl From<Error> for OpenError {
    fn from(why: Error) -> OpenError {
        OpenError::Engine(why)
    }
}

impl Engine {
    /// An engine with what the file at `path` says, which follows the file from then on: each change is taken over as
    /// a whole, or the last good one stays and an event says why.
    ///
    /// # Authority
    ///
    /// Whoever can write the file can give every agent anything.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the file; [`Error::NoRuntime`] outside a runtime.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Engine, OpenError> {
        let engine = Engine::new(Settings::default())?;
        let file = PolicyFile::new(path);
        let text = file.read()?;
        engine.configure(text.parse()?).await?;
        let mut changes = file.watch(text);
        let (weak, mut events) = (engine.downgrade(), engine.subscribe());
        tokio::spawn(async move {
            while let Some(change) = next(&mut changes, &mut events).await {
                let Some(engine) = weak.upgrade() else { return };
                take_over(&engine, change).await;
            }
        });
        Ok(engine)
    }
}

/// The next change, unless the engine ends first.
async fn next(
    changes: &mut tokio::sync::mpsc::Receiver<PolicyChange>,
    events: &mut Subscription,
) -> Option<PolicyChange> {
    loop {
        tokio::select! {
            change = changes.recv() => return change,
            event = events.next() => if event == Err(NoEvent::Ended) {
                return None;
            },
        }
    }
}

/// Fails only if the engine is closed; then no file matters to it.
async fn take_over(engine: &Engine, change: PolicyChange) {
    let told = match change {
        Change::Loaded(policy) => match engine.configure(policy).await {
            Ok(()) => Ok(()),
            Err(why) => engine.reject_config(&why.to_string()).await,
        },
        Change::Rejected(why) => engine.reject_config(&why.to_string()).await,
        Change::Polling { why } => engine.poll_config(&why.to_string()).await,
    };
    drop(told);
}
