//! Scheduled tasks that people write into files (`sources/004`, "Scheduled tasks"). The module reads the files, finds
//! the due tasks, runs their gates, and gives the tasks to a runner.
//!
//! A file is `cron/<id>/TASK.md` or `heartbeat/<id>.md`, and has front matter and a prompt. A file never gives
//! authority. A [`Task`] has no field for permissions. The `permissions` that a file lists give nothing, and the engine
//! records that they were ignored. `docs/tasks.md` describes every key.

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
