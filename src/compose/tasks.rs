//! The connection of scheduled tasks with the watcher for their files and with the sandbox for their gates.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::{engine::Engine, model::SanitizedPath};
use crate::{
    schedule::{self, Gatekeeper, News, Scheduler, SchedulerError, Tasks, Watch},
    watch::{self, Change},
};

/// The capacity of the channel for news.
const UNTAKEN: usize = 4;

impl Scheduler {
    /// Reads the task files and starts the scheduler. From now on, due tasks run, and changes by people in the files
    /// take effect, until the handle is dropped or the engine ends.
    ///
    /// # Authority
    ///
    /// The authors of the files decide the work of agents, within the permissions of those agents. A file that an agent
    /// can write is not accepted.
    ///
    /// # Errors
    ///
    /// An error if the directory of tasks is not set, cannot be read or is in use by another program, or if the time
    /// zone does not exist. A file with mistakes is no error: it is recorded (`task.rejected`), and the other tasks
    /// run.
    pub async fn start(self, engine: &Engine) -> Result<Tasks, SchedulerError> {
        let keeper = self.keeper.clone().unwrap_or_else(usual_keeper);
        let watch: Watch = Box::new(watch_tasks);
        schedule::start(self, engine, keeper, watch).await
    }
}

fn watch_tasks(dir: SanitizedPath) -> mpsc::Receiver<News> {
    let (news, receiver) = mpsc::channel(UNTAKEN);
    let (listed, concerned) = (dir.clone(), dir.clone());
    let mut changes = watch::watch_directories(
        dir.as_path().to_owned(),
        move || schedule::directories(&listed),
        move |path| schedule::matters(&concerned, path),
    );
    tokio::spawn(async move {
        while let Some(change) = changes.recv().await {
            let told = match change {
                Change::Loaded(()) => news.send(News::Changed).await,
                Change::Rejected(never) => match never {},
                Change::Polling { why } => news.send(News::Polling(why)).await,
            };
            if told.is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(feature = "sandbox")]
fn usual_keeper() -> Arc<dyn Gatekeeper> {
    super::gates::usual()
}

#[cfg(not(feature = "sandbox"))]
fn usual_keeper() -> Arc<dyn Gatekeeper> {
    let why = "this program was built without the feature `sandbox`, and a gate runs only inside a sandbox";
    Arc::new(schedule::NoSandbox(why.into()))
}
