//! Watches a directory and some directories below it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::watcher::{Eyes, MAX_TRIES, is_change};
use crate::fs::Trail;

/// A watcher of the directories that a function lists, and of the way to the root directory.
pub(super) struct Directories<L, M> {
    root: PathBuf,
    list: L,
    matters: M,
    watcher: Option<RecommendedWatcher>,
}

impl<L, M> Directories<L, M>
where
    L: Fn() -> Vec<PathBuf>,
    M: Fn(&Path) -> bool + Clone + Send + 'static,
{
    pub(super) fn new(root: PathBuf, list: L, matters: M) -> Directories<L, M> {
        Directories { root, list, matters, watcher: None }
    }

    fn all(&self) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
        let Trail { mut directories, names, .. } = Trail::as_far_as_possible(&self.root);
        directories.extend((self.list)().into_iter().filter(|directory| directory.is_dir()));
        (directories, names)
    }

    fn watch(
        &mut self,
        directories: &BTreeSet<PathBuf>,
        names: &BTreeSet<PathBuf>,
        wake: &Arc<Notify>,
    ) -> Result<(), String> {
        let (wake, matters, names) = (Arc::clone(wake), self.matters.clone(), names.clone());
        let woken = move |event: notify::Result<Event>| {
            let concerns = |path: &PathBuf| names.contains(path) || matters(path);
            // After an error, the missed events are unknown.
            let is_news = event
                .map_or(true, |event| event.need_rescan() || is_change(event.kind) && event.paths.iter().any(concerns));
            if is_news {
                wake.notify_one();
            }
        };
        let watcher = notify::recommended_watcher(woken);
        let mut watcher = watcher.map_err(|why| format!("cannot watch anything: {why}"))?;
        let mut blind = None;
        for directory in directories {
            let watched = watcher.watch(directory, RecursiveMode::NonRecursive);
            // A directory that is gone by now is noticed through the one above it.
            if let Err(why) = watched
                && directory.is_dir()
            {
                blind = blind.or(Some(format!("cannot watch {}: {why}", directory.display())));
            }
        }
        self.watcher = Some(watcher);
        blind.map_or(Ok(()), Err)
    }
}

impl<L, M> Eyes for Directories<L, M>
where
    L: Fn() -> Vec<PathBuf> + Send + 'static,
    M: Fn(&Path) -> bool + Clone + Send + 'static,
{
    fn open(&mut self, wake: &Arc<Notify>) -> Result<(), String> {
        let mut opened = Ok(());
        for _ in 0..MAX_TRIES {
            let (directories, names) = self.all();
            opened = self.watch(&directories, &names, wake);
            if self.all().0 == directories {
                return opened;
            }
        }
        wake.notify_one();
        opened
    }
}
