//! Watches the directories on the way to a file.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use tokio::sync::Notify;

use crate::fs::Trail;

/// The number of attempts to watch the way while it keeps changing.
pub(super) const MAX_TRIES: usize = 8;

/// A watcher that notices changes.
pub(super) trait Eyes: Send + 'static {
    /// Starts watching. From when this returns, `wake` is notified of every change on the current way to the file.
    ///
    /// # Errors
    ///
    /// The directory that cannot be watched, and the reason. All others are watched.
    fn open(&mut self, wake: &Arc<Notify>) -> Result<(), String>;
}

/// A watcher that uses the notifications of the operating system.
pub(super) struct Notifier {
    path: PathBuf,
    watcher: Option<RecommendedWatcher>,
}

impl Notifier {
    /// Creates a watcher that does not watch yet. `path` is absolute.
    pub(super) fn new(path: PathBuf) -> Notifier {
        Notifier { path, watcher: None }
    }

    fn watch(&mut self, trail: &Trail, wake: &Arc<Notify>) -> Result<(), String> {
        let watcher = notify::recommended_watcher(waker(trail.names.clone(), wake.clone()));
        let mut watcher = watcher.map_err(|error| format!("cannot watch anything: {error}"))?;
        let watch = |directory: &PathBuf| watch(&mut watcher, directory);
        let blind = trail.directories.iter().map(watch).filter_map(Result::err).next();
        self.watcher = Some(watcher);
        blind.map_or(Ok(()), Err)
    }
}

impl Eyes for Notifier {
    /// Creates a new watcher each time: an old one would still watch a directory that was replaced.
    fn open(&mut self, wake: &Arc<Notify>) -> Result<(), String> {
        let mut opened = Ok(());
        for _ in 0..MAX_TRIES {
            let trail = Trail::as_far_as_possible(&self.path);
            opened = self.watch(&trail, wake);
            let now = Trail::as_far_as_possible(&self.path);
            if (&now.directories, &now.names) == (&trail.directories, &trail.names) {
                return opened;
            }
        }
        wake.notify_one();
        opened
    }
}

fn watch(watcher: &mut RecommendedWatcher, directory: &Path) -> Result<(), String> {
    let watched = watcher.watch(directory, RecursiveMode::NonRecursive);
    watched.map_err(|error| format!("cannot watch {}: {error}", directory.display()))
}

/// Returns a handler that wakes for events of one of `names`, and ignores events of their neighbours.
pub(super) fn waker(names: BTreeSet<PathBuf>, wake: Arc<Notify>) -> impl Fn(notify::Result<Event>) + Send + 'static {
    move |event| {
        let matters = match event {
            Ok(event) => {
                event.need_rescan() || (is_change(event.kind) && event.paths.iter().any(|path| names.contains(path)))
            }
            // Events were missed, and which ones is unknown.
            Err(_) => true,
        };
        if matters {
            wake.notify_one();
        }
    }
}

/// Returns true if an event can mean other content. Reads of this process are events too, and must not wake it.
pub(super) fn is_change(kind: EventKind) -> bool {
    !kind.is_access() || kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
}
