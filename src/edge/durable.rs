//! An engine whose events are kept in a state directory.

use std::{path::Path, sync::Arc};

use crate::{
    engine::{Engine, Error},
    fs,
    model::{SanitizedPath, Settings},
    seam::{DiskPaths, SystemClock},
};

use super::{
    OpenError, control,
    journal::{Journal, JournalError, follows},
};

impl Engine {
    /// An engine that goes on from what the state directory `directory` holds, and keeps everything there: nothing that was
    /// acknowledged is lost. The directory is made if it is missing, belongs to one engine at a time, and is protected: no
    /// agent reaches it. A person reaches the engine through a socket there (`bestow requests`, `bestow approve`, …).
    ///
    /// Agents that were there are there again; take them with [`Engine::agent`].
    ///
    /// ```no_run
    /// # #[tokio::main] async fn main() -> Result<(), bestow::OpenError> {
    /// let engine = bestow::Engine::durable(bestow::Settings::default(), "/var/lib/bestow").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Authority
    ///
    /// Whoever can write the directory can give every agent anything.
    ///
    /// # Errors
    ///
    /// [`OpenError::Journal`] with the process that has the directory, or the place that is damaged; [`OpenError::Engine`]
    /// outside a runtime.
    pub async fn durable(settings: Settings, directory: impl AsRef<Path>) -> Result<Engine, OpenError> {
        let (journal, own) = opened(directory.as_ref()).await?;
        let engine = restored(Some(settings), journal, &own).await?;
        follows(own.as_path(), None)?;
        serve(&engine, &own)?;
        Ok(engine)
    }

    /// The same, with what the file at `path` says, which the engine follows as [`Engine::open`] does.
    ///
    /// # Authority
    ///
    /// Whoever can write the file or the directory can give every agent anything.
    ///
    /// # Errors
    ///
    /// As [`Engine::durable`], and everything that is wrong with the file.
    #[cfg(feature = "config")]
    pub async fn open_durable(
        path: impl Into<std::path::PathBuf>,
        directory: impl AsRef<Path>,
    ) -> Result<Engine, OpenError> {
        let file = super::config::PolicyFile::new(path);
        // What is wrong with the file is told before anything is touched.
        let _parsed = file.read()?.parse()?;
        let (journal, own) = opened(directory.as_ref()).await?;
        let engine = restored(None, journal, &own).await?;
        let path = file.absolute().to_owned();
        super::open::follow(&engine, file).await?;
        follows(own.as_path(), Some(&path))?;
        serve(&engine, &own)?;
        Ok(engine)
    }
}

/// Takes orders from the command line.
fn serve(engine: &Engine, directory: &SanitizedPath) -> Result<(), OpenError> {
    let directory = directory.as_path();
    control::serve(engine, directory).map_err(|why| {
        let what = format!("its control socket cannot be made: {why}");
        OpenError::Journal(JournalError::Disk { path: directory.to_owned(), what })
    })
}

async fn restored(settings: Option<Settings>, journal: Journal, own: &SanitizedPath) -> Result<Engine, OpenError> {
    let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(DiskPaths));
    Ok(Engine::restore_keeping_out(settings, clock, paths, Arc::new(journal), Some(own.clone())).await?)
}

/// The journal there, and where the directory really is.
async fn opened(directory: &Path) -> Result<(Journal, SanitizedPath), OpenError> {
    let directory = std::path::absolute(directory).map_err(|why| disk(directory, &why))?;
    let open = move || {
        let journal = Journal::open(&directory)?;
        let text = directory.to_str().ok_or_else(|| disk(&directory, &"its name is not UTF-8"))?;
        let real = fs::real(text).map_err(|why| disk(&directory, &why))?;
        Ok((journal, real.path().clone()))
    };
    tokio::task::spawn_blocking(open).await.unwrap_or(Err(OpenError::Engine(Error::Closed)))
}

fn disk(directory: &Path, why: &dyn std::fmt::Display) -> OpenError {
    let what = format!("it cannot be a state directory: {why}");
    OpenError::Journal(JournalError::Disk { path: directory.to_owned(), what })
}
