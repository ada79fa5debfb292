//! The background task that records the events that time causes. Permissions expire on time even without it.

use std::sync::{Arc, Weak};

use tokio::runtime::Handle;

use crate::kernel::Command;

use super::{events::wake_subscribers, shared::Shared};

/// Starts the background tasks of a new engine.
pub(super) fn start(shared: &Arc<Shared>, runtime: &Handle) {
    runtime.spawn(run(Arc::downgrade(shared)));
    runtime.spawn(wake_subscribers(Arc::clone(&shared.bell)));
}

/// Records expirations until the last handle is gone, or the engine is closed.
async fn run(shared: Weak<Shared>) {
    loop {
        let Some(engine) = shared.upgrade().filter(|shared| shared.is_open()) else { return };
        let (wake, clock, due) = (Arc::clone(&engine.wake), Arc::clone(&engine.clock), engine.next_alarm());
        // The engine must not be kept alive while the task waits.
        drop(engine);
        let reached = match due {
            None => {
                wake.notified().await;
                false
            }
            Some(due) => tokio::select! {
                () = wake.notified() => false,
                () = clock.reaches(due) => true,
            },
        };
        if reached && let Some(engine) = shared.upgrade() {
            // This fails only if the engine is closed, which ends the loop above.
            let _ = engine.execute_own(Command::Tick).at_once();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.wake.notify_one();
        self.outside.get().into_iter().for_each(|outside| outside.end());
    }
}
