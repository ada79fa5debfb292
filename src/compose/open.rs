//! An engine with a policy file: the policy of the file is in force, and follows its changes.

use std::{path::PathBuf, time::Duration};

use crate::{
    config::{ConfigError, PolicyFile},
    engine::{Engine, Error, NoEvent, Subscription},
    model::Settings,
    watch::Change,
};

use super::{OpenError, follow::WithText};

impl Engine {
    /// Creates an engine with the policy of the file at `path`, and follows the file from then on. Each change takes
    /// effect as a whole. If it cannot, the last valid policy stays, and an event states the reason.
    ///
    /// # Authority
    ///
    /// Every program that can write the file can give any permission to any agent.
    ///
    /// # Errors
    ///
    /// Every mistake in the file; [`Error::NoRuntime`](crate::Error::NoRuntime) outside a runtime.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Engine, OpenError> {
        let engine = Engine::new(Settings::default())?;
        follow(&engine, PolicyFile::new(path)).await?;
        Ok(engine)
    }
}

/// The delay after which a change that could not be stored is tried again.
const ROOM_AGAIN: Duration = Duration::from_secs(2);

/// Applies the policy of `file`, and follows the file while the engine lives.
pub(super) async fn follow(engine: &Engine, file: PolicyFile) -> Result<(), OpenError> {
    let text = file.read()?;
    engine.configure(text.parse()?).await?;
    engine.note_policy_text(text.as_text())?;
    let mut changes = file.watch_with_text(text);
    let (weak, mut events) = (engine.downgrade(), engine.subscribe());
    tokio::spawn(async move {
        let mut unstored = None;
        while let Some(next) = next(&mut changes, &mut events, unstored.is_some()).await {
            let Some(engine) = weak.upgrade() else { return };
            unstored = match next {
                Next::Change(change) => match *change {
                    Change::Loaded(loaded) => take_over(&engine, loaded).await,
                    Change::Rejected(why) => {
                        // This fails only if the engine is closed. Then no file matters to it.
                        let _ = engine.reject_config(&why.to_string()).await;
                        unstored
                    }
                    Change::Polling { why } => {
                        let _ = engine.poll_config(&why.to_string()).await;
                        unstored
                    }
                },
                Next::Again => try_again(&engine, unstored).await,
            };
        }
    });
    Ok(())
}

/// The next task for a followed file.
enum Next {
    Change(Box<Change<WithText, ConfigError>>),
    /// Tries the last change again. It was not stored, and there may be room by now.
    Again,
}

/// Returns the next task for the file; `None` if the engine ends first.
async fn next(
    changes: &mut tokio::sync::mpsc::Receiver<Change<WithText, ConfigError>>,
    events: &mut Subscription,
    unstored: bool,
) -> Option<Next> {
    let later = tokio::time::sleep(ROOM_AGAIN);
    tokio::pin!(later);
    loop {
        tokio::select! {
            change = changes.recv() => return change.map(Box::new).map(Next::Change),
            event = events.next() => if event == Err(NoEvent::Ended) {
                return None;
            },
            () = &mut later, if unstored => return Some(Next::Again),
        }
    }
}

/// Applies a change. Returns it if it could not be stored; its restrictions are in force nevertheless.
async fn take_over(engine: &Engine, loaded: WithText) -> Option<WithText> {
    let why = configure(engine, &loaded).await.err()?;
    let is_unstored = matches!(why, Error::Store(_));
    let besides = if is_unstored {
        "; its restrictions took effect, and the rest follows when the store works again"
    } else {
        ""
    };
    let _ = engine.reject_config(&format!("{why}{besides}")).await;
    is_unstored.then_some(loaded)
}

/// Applies a change again whose failure was reported already.
async fn try_again(engine: &Engine, loaded: Option<WithText>) -> Option<WithText> {
    let loaded = loaded?;
    matches!(configure(engine, &loaded).await, Err(Error::Store(_))).then_some(loaded)
}

/// Applies a policy, and notes its text.
async fn configure(engine: &Engine, (policy, text): &WithText) -> Result<(), Error> {
    // A waiting text that a person agreed to counts as in force before this one replaces it.
    engine.policy_text()?;
    engine.configure(policy.clone()).await?;
    engine.note_policy_text(text.clone())
}
