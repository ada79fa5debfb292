//! An engine on a policy file: what the file says is in force, and stays in step with it.

use std::path::PathBuf;

use crate::{
    engine::{Engine, NoEvent, Subscription},
    model::{Policy, SanitizedPath, Settings},
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
        follow(&engine, PolicyFile::new(path), None).await?;
        Ok(engine)
    }
}

/// Takes over what `file` says, and follows it while the engine lives. `own` is the engine's, and nobody else's.
pub(super) async fn follow(engine: &Engine, file: PolicyFile, own: Option<SanitizedPath>) -> Result<(), OpenError> {
    let text = file.read()?;
    engine.configure(keeping_out(&own, text.parse()?)).await?;
    let mut changes = file.watch(text);
    let (weak, mut events) = (engine.downgrade(), engine.subscribe());
    tokio::spawn(async move {
        while let Some(change) = next(&mut changes, &mut events).await {
            let Some(engine) = weak.upgrade() else { return };
            let change =
                if let Change::Loaded(policy) = change { Change::Loaded(keeping_out(&own, policy)) } else { change };
            take_over(&engine, change).await;
        }
    });
    Ok(())
}

/// The policy, with `own` protected.
fn keeping_out(own: &Option<SanitizedPath>, mut policy: Policy) -> Policy {
    let protected = policy.settings.protected.iter().chain(own).cloned();
    policy.settings.protected = protected.collect();
    policy
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
