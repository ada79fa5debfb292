//! The keys of the plan.

use crate::model::{TaskId, TaskKind};

/// The keys of the plan: each cron task, and the heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Task(TaskId),
    Heartbeat,
}

/// Returns the key of a task in the plan.
pub(super) fn key(id: &TaskId) -> Key {
    match id.kind() {
        TaskKind::Cron => Key::Task(id.clone()),
        TaskKind::Heartbeat => Key::Heartbeat,
    }
}
