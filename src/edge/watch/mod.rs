//! Notices that a file changed, however it was saved, and says what it holds now.
//!
//! A save is many things: a write in place, a rename over the old file, a link turned to another directory. So the
//! directories on the way to the file are watched, never the file; what is found there is compared with what was
//! found before; and after each change the way is walked again. Nothing here knows what the file means.

#[cfg(feature = "schedule")]
mod directories;
mod eyes;
mod seen;
mod settle;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, mpsc},
    task::spawn_blocking,
    time::sleep,
};

use eyes::{Eyes, Notifier};
use seen::Seen;
use settle::settle;

/// How often a file is looked at when it cannot be watched.
const POLL: Duration = Duration::from_secs(2);

/// Changes that nobody has taken yet. When it is full the watch waits, and then tells the latest.
const UNTAKEN: usize = 4;

/// What happened to a watched file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a new kind of news must be told to people")]
pub enum Change<T, E> {
    /// It holds something else now, and that is understood.
    Loaded(T),
    /// It is gone, or what it holds now is wrong: what was loaded last is still the last that was good.
    Rejected(E),
    /// The system does not tell about every change, so the file is looked at every two seconds besides.
    Polling {
        /// What cannot be watched, and why.
        why: String,
    },
}

/// Watches the file at the absolute `path`, of which the caller knows `content`, until the receiver is dropped.
///
/// A change that happened before this was called is told too, because the file is read once everything is watched.
/// A file that is wrong is told once for each thing that is wrong with it. Needs a tokio runtime with time; reading
/// and understanding happen on its threads for blocking work.
pub(crate) fn watch<C, T, E>(
    path: PathBuf,
    content: C,
    read: impl Fn() -> Result<C, E> + Send + 'static,
    mut understand: impl FnMut(&C) -> Result<T, E> + Send + 'static,
) -> mpsc::Receiver<Change<T, E>>
where
    C: PartialEq + Send + 'static,
    T: Send + 'static,
    E: Clone + PartialEq + Send + 'static,
{
    let mut seen = Seen::new(content);
    let (changes, receiver) = mpsc::channel(UNTAKEN);
    tokio::spawn(run(Notifier::new(path), move || seen.look(read(), &mut understand), changes));
    receiver
}

/// Tells that something below `root` may have changed: at once, and then whenever something happens that `matters` in one of
/// the directories that `list` gives, until the receiver is dropped.
#[cfg(feature = "schedule")]
pub(crate) fn watch_directories(
    root: PathBuf,
    list: impl Fn() -> Vec<PathBuf> + Send + 'static,
    matters: impl Fn(&std::path::Path) -> bool + Clone + Send + 'static,
) -> mpsc::Receiver<Change<(), std::convert::Infallible>> {
    let (changes, receiver) = mpsc::channel(UNTAKEN);
    let eyes = directories::Directories::new(root, list, matters);
    tokio::spawn(run(eyes, || Some(Ok(())), changes));
    receiver
}

/// Looks, tells, waits, and looks again. `look` gives what is there now if it is not what was there before.
async fn run<T, E>(
    mut eyes: impl Eyes,
    mut look: impl FnMut() -> Option<Result<T, E>> + Send + 'static,
    changes: mpsc::Sender<Change<T, E>>,
) where
    T: Send + 'static,
    E: Send + 'static,
{
    let wake = Arc::new(Notify::new());
    let mut blind = None;
    loop {
        let woken = wake.clone();
        let work = spawn_blocking(move || {
            // INVARIANT: open before looking, or a change between the two is lost.
            let opened = eyes.open(&woken);
            let change = look();
            (eyes, look, opened, change)
        });
        // Fails only when the runtime ends.
        let Ok((same_eyes, same_look, opened, change)) = work.await else { return };
        (eyes, look) = (same_eyes, same_look);
        let why = opened.err();
        if why != blind
            && let Some(why) = why.clone()
            && changes.send(Change::Polling { why }).await.is_err()
        {
            return;
        }
        blind = why;
        let change = change.map(|change| change.map_or_else(Change::Rejected, Change::Loaded));
        if let Some(change) = change
            && changes.send(change).await.is_err()
        {
            return;
        }
        tokio::select! {
            () = changes.closed() => return,
            () = wake.notified() => settle(&wake).await,
            () = sleep(POLL), if blind.is_some() => {}
        }
    }
}
