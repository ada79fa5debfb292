//! Tasks that people put into files: read, due, gated, handed to whoever runs them (`sources/004`, "Scheduled tasks").
//!
//! `cron/<id>/TASK.md` and `heartbeat/<id>.md`: front matter and a prompt. Authority never lives in content: a [`Task`] has
//! no field for it, and what a file lists as `permissions` gives nothing and leaves a fact. `docs/tasks.md` has every key.

mod actors;
mod alone;
mod begin;
mod expression;
mod files;
mod gate;
mod hosts;
mod plan;
mod problem;
mod prompt;
mod read;
mod read_gate;
mod run;
mod runner;
mod scheduler;
mod scribe;
mod survey;
mod table;
mod take;
mod task;
mod work;
mod writers;
mod yaml;
mod zone;

pub use expression::{CronExpression, InvalidExpression};
pub use files::{Happened, Last};
pub use plan::{Due, Plan, Timing};
pub use problem::Problem;
pub use runner::{Runner, TaskRun};
pub use scheduler::{NotStarted, Scheduler, SchedulerError, TaskStatus, Tasks};
pub use survey::{Surveyed, survey};
pub use task::{Gate, Task, When};

pub use crate::model::{Domain, InvalidDomain};

#[cfg(feature = "sandbox")]
pub(crate) use {
    actors::agent_of,
    gate::{Asked, missing},
    prompt::{output, tail},
};
pub(crate) use {
    files::{directories, matters},
    gate::{Gatekeeper, NoSandbox},
    work::{News, Watch, start},
};
