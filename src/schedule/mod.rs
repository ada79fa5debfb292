//! Scheduled tasks that people write into files (`sources/004`, "Scheduled tasks"). The module reads the files, finds
//! the due tasks, runs their gates, and gives the tasks to a runner.
//!
//! A file is `cron/<id>/TASK.md` or `heartbeat/<id>.md`, and has front matter and a prompt. A file never gives
//! authority. A [`Task`] has no field for permissions. The `permissions` that a file lists give nothing, and the engine
//! records that they were ignored. `docs/tasks.md` describes every key.

mod directory_lock;
mod dispatch;
mod event_loop;
mod expression;
mod files;
mod gate;
mod inspect;
mod key;
mod next_time;
mod orders;
mod package_registries;
mod plan;
mod problem;
mod prompt;
mod read;
mod read_gate;
mod reload;
mod run;
mod runner;
mod scheduler;
mod state_writer;
mod table;
mod task;
mod task_agent;
mod write_access;
mod yaml;

pub use expression::{CronExpression, InvalidExpression};
pub use files::{Happened, Last};
pub use inspect::{Surveyed, survey};
pub use orders::{NotStarted, TaskStatus};
pub use plan::{Due, Plan, Timing};
pub use problem::Problem;
#[doc(hidden)]
pub use read::task_in;
pub use runner::{Runner, TaskRun};
pub use scheduler::{Scheduler, SchedulerError, Tasks};
pub use task::{Gate, Task, When};

pub use crate::model::{Domain, InvalidDomain, TimeZone, UnknownTimeZone};

pub(crate) use {
    event_loop::{News, Watch, start},
    files::{directories, matters},
    gate::{Gatekeeper, NoSandbox},
};
#[cfg(feature = "sandbox")]
pub(crate) use {
    gate::{Asked, missing},
    prompt::{output, tail},
    task_agent::agent_of,
};
