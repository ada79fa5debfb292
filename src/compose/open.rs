//! An engine with a policy file: the policy of the file is in force, and follows its changes.

use std::{path::PathBuf, time::Duration};

use crate::{
    engine::{Engine, Error, NoEvent, Subscription},
    model::{Policy, Settings},
};

use super::{OpenError, PolicyChange};
use crate::{config::PolicyFile, watch::Change};

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
    let mut changes = file.watch(text);
    let (weak, mut events) = (engine.downgrade(), engine.subscribe());
    tokio::spawn(async move {
        let mut unstored = None;
        while let Some(next) = next(&mut changes, &mut events, unstored.is_some()).await {
            let Some(engine) = weak.upgrade() else { return };
            unstored = match next {
                Next::Change(change) => match *change {
                    Change::Loaded(policy) => take_over(&engine, policy).await,
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
    Change(Box<PolicyChange>),
    /// Tries the last change again. It was not stored, and there may be room by now.
    Again,
}

/// Returns the next task for the file; `None` if the engine ends first.
async fn next(
    changes: &mut tokio::sync::mpsc::Receiver<PolicyChange>,
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
async fn take_over(engine: &Engine, policy: Policy) -> Option<Policy> {
    let why = engine.configure(policy.clone()).await.err()?;
    let is_unstored = matches!(why, Error::Store(_));
    let besides = if is_unstored {
        "; its restrictions took effect, and the rest follows when the store works again"
    } else {
        ""
    };
    let _ = engine.reject_config(&format!("{why}{besides}")).await;
    is_unstored.then_some(policy)
}

/// Applies a change again whose failure was reported already.
async fn try_again(engine: &Engine, policy: Option<Policy>) -> Option<Policy> {
    let policy = policy?;
    matches!(engine.configure(policy.clone()).await, Err(Error::Store(_))).then_some(policy)
}
