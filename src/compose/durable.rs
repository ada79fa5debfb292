//! An engine that stores its events in a state directory.

use std::{path::Path, sync::Arc};

use crate::{
    engine::{Engine, Error},
    fs,
    kernel::RunsAtOpen,
    model::{SanitizedPath, Settings},
    ports::{DiskPaths, SystemClock},
};

use super::OpenError;
use crate::{
    control,
    journal::{HeadNotes, Journal, JournalError, follows},
};

impl Engine {
    /// Creates an engine that continues from the content of the state directory `directory`, and stores everything
    /// there. Nothing that was acknowledged is lost. The directory is created if it is missing, belongs to one engine
    /// at a time, and is protected: no agent reaches it. A person reaches the engine through a socket there
    /// (`bestow requests`, `bestow approve` and other commands).
    ///
    /// Agents from earlier runs of the engine exist again. [`Engine::agent`] returns them.
    ///
    /// ```no_run
    /// # #[tokio::main] async fn main() -> Result<(), bestow::policy::OpenError> {
    /// let engine = bestow::Engine::durable(bestow::Settings::default(), "/var/lib/bestow").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Authority
    ///
    /// Every program that can write the directory can give any permission to any agent.
    ///
    /// # Errors
    ///
    /// [`OpenError::Journal`] with the process that uses the directory, or the place that is damaged;
    /// [`OpenError::Engine`] outside a runtime.
    pub async fn durable(settings: Settings, directory: impl AsRef<Path>) -> Result<Engine, OpenError> {
        let (journal, own) = opened(directory.as_ref(), None).await?;
        let engine = restored(Some(settings), journal, &own, RunsAtOpen::End).await?;
        let own = own.directory;
        follows(own.as_path(), None)?;
        serve(&engine, &own)?;
        Ok(engine)
    }

    /// Creates an engine as [`Engine::durable`] does, with the policy of the file at `path`. The engine follows that
    /// file as [`Engine::open`] does.
    ///
    /// # Authority
    ///
    /// Every program that can write the file or the directory can give any permission to any agent.
    ///
    /// # Errors
    ///
    /// The errors of [`Engine::durable`], and every mistake in the file.
    #[cfg(feature = "config")]
    pub async fn open_durable(
        path: impl Into<std::path::PathBuf>,
        directory: impl AsRef<Path>,
    ) -> Result<Engine, OpenError> {
        Engine::followed(path.into(), directory.as_ref(), None, RunsAtOpen::End).await
    }

    /// Creates an engine as [`Engine::open_durable`] does, for a program that opens one again and again, each time for
    /// a moment. The runs of the agents go on from one such engine to the next: an approval for one use, or for a
    /// session, is left to the next engine, until the run ends or the agent is retired. An engine that is opened in
    /// another way ends them.
    ///
    /// # Authority
    ///
    /// The authority of [`Engine::open_durable`].
    ///
    /// # Errors
    ///
    /// The errors of [`Engine::open_durable`].
    #[cfg(feature = "config")]
    pub async fn open_durable_continuing(
        path: impl Into<std::path::PathBuf>,
        directory: impl AsRef<Path>,
    ) -> Result<Engine, OpenError> {
        Engine::followed(path.into(), directory.as_ref(), None, RunsAtOpen::GoOn).await
    }

    /// Creates an engine as [`Engine::open_durable`] does, and notes the head of its trail outside of the directory. An
    /// older copy of the directory is refused. The files of the notes are protected: no agent reaches them.
    ///
    /// # Authority
    ///
    /// The authority of [`Engine::open_durable`]. A program that can write a note can hide an older copy.
    ///
    /// # Errors
    ///
    /// The errors of [`Engine::open_durable`] and of [`Journal::open_noting`].
    #[cfg(feature = "config")]
    pub async fn open_durable_noting(
        path: impl Into<std::path::PathBuf>,
        directory: impl AsRef<Path>,
        notes: HeadNotes,
    ) -> Result<Engine, OpenError> {
        Engine::followed(path.into(), directory.as_ref(), Some(notes), RunsAtOpen::End).await
    }

    #[cfg(feature = "config")]
    async fn followed(
        path: std::path::PathBuf,
        directory: &Path,
        notes: Option<HeadNotes>,
        runs: RunsAtOpen,
    ) -> Result<Engine, OpenError> {
        let file = crate::config::PolicyFile::new(path);
        // Mistakes in the file are reported before anything is changed.
        let _parsed = file.read()?.parse()?;
        let (journal, own) = opened(directory, notes).await?;
        let engine = restored(None, journal, &own, runs).await?;
        let own = own.directory;
        let path = file.absolute().to_owned();
        super::open::follow(&engine, file).await?;
        follows(own.as_path(), Some(&path))?;
        serve(&engine, &own)?;
        Ok(engine)
    }
}

/// Starts to serve orders from the command line.
fn serve(engine: &Engine, directory: &SanitizedPath) -> Result<(), OpenError> {
    let directory = directory.as_path();
    control::serve(engine, directory).map_err(|why| {
        let what = format!("its control socket cannot be made: {why}");
        OpenError::Journal(JournalError::Disk { path: directory.to_owned(), what })
    })
}

/// The paths that belong to the engine.
struct Own {
    directory: SanitizedPath,
    notes: Vec<SanitizedPath>,
}

async fn restored(
    settings: Option<Settings>,
    journal: Journal,
    own: &Own,
    runs: RunsAtOpen,
) -> Result<Engine, OpenError> {
    let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(DiskPaths));
    let own = own.notes.iter().chain([&own.directory]).cloned().collect();
    Ok(Engine::restore_keeping_out(settings, clock, paths, Arc::new(journal), own, runs).await?)
}

/// Opens the journal, and returns it with the real paths of the directory and of the notes.
async fn opened(directory: &Path, notes: Option<HeadNotes>) -> Result<(Journal, Own), OpenError> {
    let directory = std::path::absolute(directory).map_err(|why| disk(directory, &why))?;
    let open = move || {
        let places = notes.as_ref().map_or_else(|| Ok(Vec::new()), HeadNotes::real_files)?;
        let journal = match notes {
            Some(notes) => Journal::open_noting(&directory, notes),
            None => Journal::open(&directory),
        }?;
        let text = directory.to_str().ok_or_else(|| disk(&directory, &"its name is not UTF-8"))?;
        let real = fs::real(text).map_err(|why| disk(&directory, &why))?;
        Ok((journal, Own { directory: real.path().clone(), notes: places }))
    };
    tokio::task::spawn_blocking(open).await.unwrap_or(Err(OpenError::Engine(Error::Closed)))
}

fn disk(directory: &Path, why: &dyn std::fmt::Display) -> OpenError {
    let what = format!("it cannot be a state directory: {why}");
    OpenError::Journal(JournalError::Disk { path: directory.to_owned(), what })
}
