//! Notices each change of a file, and returns its new content.
//!
//! A save may be a write in place, a rename over the old file, or a change of a link to another directory. So the
//! directories on the way to the file are watched, never the file itself. Their content is compared with the previous
//! one, and after each change the way is walked again. This module does not know the meaning of the file.

mod debounce;
mod dedup;
#[cfg(feature = "schedule")]
mod directories;
#[cfg(test)]
mod tests;
mod watcher;

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, mpsc},
    task::spawn_blocking,
    time::sleep,
};

use debounce::settle;
use dedup::Seen;
use watcher::{Eyes, Notifier};

/// The interval at which a file is read when it cannot be watched.
const POLL: Duration = Duration::from_secs(2);

/// The number of changes that may wait for the receiver. When they are that many, the watcher waits, and then reports
/// the latest state.
const UNTAKEN: usize = 4;

/// A change of a watched file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a new kind of news must be told to people")]
pub enum Change<T, E> {
    /// The file has other content now, and it was parsed.
    Loaded(T),
    /// The file is gone, or its content is invalid. The last loaded content is still the last valid one.
    Rejected(E),
    /// The operating system does not report every change, so the file is also read every two seconds.
    Polling {
        /// The directory that cannot be watched, and the reason.
        why: String,
    },
}

/// Watches the file at the absolute `path` until the receiver is dropped. The caller already has `content`.
///
/// A change before this call is reported too, because the file is read after the watch has started. Each problem of a
/// file is reported once. This needs a Tokio runtime with time; reading and parsing happen on its blocking threads.
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

/// Reports that the content below `root` may have changed: at once, and then after each event that `matters` accepts in
/// one of the directories that `list` returns. It ends when the receiver is dropped.
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

/// Reads, reports and waits in a loop. `look` returns the current content if it differs from the previous one.
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
            // INVARIANT: the watch starts before the read, otherwise a change between the two is lost.
            let opened = eyes.open(&woken);
            let change = look();
            (eyes, look, opened, change)
        });
        // This fails only when the runtime ends.
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
