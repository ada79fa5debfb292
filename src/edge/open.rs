//! An engine on a policy file: what the file says is in force, and stays in step with it.

use std::{path::PathBuf, time::Duration};

use crate::{
    engine::{Engine, Error, NoEvent, Subscription},
    model::{Policy, Settings},
};

use super::{OpenError, PolicyChange, config::PolicyFile, watch::Change};

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
    /// Everything that is wrong with the file; [`Error::NoRuntime`](crate::Error::NoRuntime) outside a runtime.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Engine, OpenError> {
        let engine = Engine::new(Settings::default())?;
        follow(&engine, PolicyFile::new(path)).await?;
        Ok(engine)
    }
}

/// How long a change that could not be stored waits for room.
const ROOM_AGAIN: Duration = Duration::from_secs(2);

/// Takes over what `file` says, and follows it while the engine lives.
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
                        // Fails only if the engine is closed; then no file matters to it.
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

/// What a file that is followed needs now.
enum Next {
    Change(Box<PolicyChange>),
    /// Its last change was not stored, and there may be room by now.
    Again,
}

/// The next thing to do about the file, unless the engine ends first.
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

/// Takes a change over; gives it back if it could not be stored, but for what it takes away.
async fn take_over(engine: &Engine, policy: Policy) -> Option<Policy> {
    let why = engine.configure(policy.clone()).await.err()?;
    let is_unstored = matches!(why, Error::Store(_));
    let besides =
        if is_unstored { "; what it takes away is in force, the rest follows once it can be stored" } else { "" };
    let _ = engine.reject_config(&format!("{why}{besides}")).await;
    is_unstored.then_some(policy)
}

/// The same for a change whose failure was told already.
async fn try_again(engine: &Engine, policy: Option<Policy>) -> Option<Policy> {
    let policy = policy?;
    matches!(engine.configure(policy.clone()).await, Err(Error::Store(_))).then_some(policy)
}
