//! Tasks that people put into files: read, due, gated, handed to whoever runs them (`sources/004`, "Scheduled tasks").
//!
//! `cron/<id>/TASK.md` and `heartbeat/<id>.md`: front matter and a prompt. Authority never lives in content: a [`Task`] has
//! no field for it, and what a file lists as `permissions` gives nothing and leaves a fact. `docs/tasks.md` has every key.

mod expression;
mod files;
mod hosts;
mod plan;
mod problem;
mod read;
mod task;
mod yaml;
mod zone;

pub use expression::{CronExpression, InvalidExpression};
pub use files::{Happened, Last};
pub use plan::{Due, Plan, Timing};
pub use problem::Problem;
pub use task::{Gate, Task, When};
