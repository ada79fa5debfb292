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

/// How often the way may change under our eyes before we blink.
pub(super) const MAX_TRIES: usize = 8;

/// Something that notices changes.
pub(super) trait Eyes: Send + 'static {
    /// From when this returns, `wake` is notified of every change on the way to the file as it is now.
    ///
    /// # Errors
    ///
    /// What cannot be watched, and why; everything else is.
    fn open(&mut self, wake: &Arc<Notify>) -> Result<(), String>;
}

/// Watches through what the operating system offers.
pub(super) struct Notifier {
    path: PathBuf,
    watcher: Option<RecommendedWatcher>,
}

impl Notifier {
    /// Watches nothing yet. `path` is absolute.
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
    /// A fresh watcher each time: one that watched a directory that was replaced would watch the old one.
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

/// Wakes for what happens to one of `names`; a busy neighbour is no reason to look.
pub(super) fn waker(names: BTreeSet<PathBuf>, wake: Arc<Notify>) -> impl Fn(notify::Result<Event>) + Send + 'static {
    move |event| {
        let matters = match event {
            Ok(event) => {
                event.need_rescan() || (is_change(event.kind) && event.paths.iter().any(|path| names.contains(path)))
            }
            // Something was missed, nobody knows what.
            Err(_) => true,
        };
        if matters {
            wake.notify_one();
        }
    }
}

/// Whether an event can mean other content. Our own reading is an event too, and must not wake us.
pub(super) fn is_change(kind: EventKind) -> bool {
    !kind.is_access() || kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
}
