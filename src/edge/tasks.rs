//! Scheduled tasks, the watch on their files, and the sandbox for their gates, fitted together.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{
    schedule::{self, Gatekeeper, News, Scheduler, SchedulerError, Tasks, Watch},
    watch::{self, Change},
};
use crate::{engine::Engine, model::SanitizedPath};

/// News that nobody has taken yet.
const UNTAKEN: usize = 4;

impl Scheduler {
    /// Reads the files and starts: what is due runs from now on, and what people change in the files takes effect, until
    /// the handle is dropped or the engine ends.
    ///
    /// # Authority
    ///
    /// Whoever can write the files says what agents do, within what those agents may do. Files that an agent can write are
    /// not taken.
    ///
    /// # Errors
    ///
    /// If nobody says where the tasks are, or the time zone does not exist. A file that is wrong is no error: it leaves a
    /// fact (`task.rejected`), and the others run.
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
    let why = "this program was built without the feature `sandbox`, and no gate runs outside of one";
    Arc::new(schedule::NoSandbox(why.into()))
}
