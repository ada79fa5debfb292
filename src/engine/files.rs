//! File operations of an agent: permission check, protection and opening in one step.

use std::{fs::File, io::ErrorKind, sync::Arc};

use tokio::runtime::Handle;

use super::{
    Agent, Error, FileFailure, agent::or_replaced, commit_handle::CommitHandle, hooks::HeardOfPath,
    plain_action::using_permission,
};
use crate::{
    fs::{self, Base, ContainedPath, Entry, FileError, Place},
    kernel::{Command, CompactGrant, EvaluationInput, HookVerdict, ResolvedAction, StaleGrants, evaluate},
    model::{Access, Effect, Event, Permission, SanitizedPath},
};

/// The maximum number of bytes that [`Files::read`] reads by default.
const READ_LIMIT: usize = 64 << 20;

/// The maximum number of entries that [`Files::list`] lists.
const LIST_LIMIT: usize = 100_000;

/// The files that one agent may use.
///
/// Each call resolves the path, looks up the permission for the real path, and opens the object that was found. The
/// object is held open in between, so it cannot be replaced. A one-time permission is consumed by the call that needed
/// it. A denied call creates, changes and removes no file.
///
/// A path with links names the target of the links, also for removing. Sensitive files (`docs/security.md`) can be read
/// like others, and written only with a permission that names them.
///
/// # Errors
///
/// Every call returns [`Error::Refused`] or [`Error::Replaced`] when it is denied, [`Error::Path`] when the path cannot
/// be followed, [`Error::File`] when the file system refuses it.
///
/// # Cancellation
///
/// A call whose future is dropped may still be carried out. A write happens completely or not at all.
#[derive(Clone, Debug)]
pub struct Files {
    agent: Agent,
    read_limit: usize,
}

impl Agent {
    /// Returns the files that this agent may use.
    pub fn fs(&self) -> Files {
        Files { agent: self.clone(), read_limit: READ_LIMIT }
    }
}

impl Files {
    /// Limits reading to files of at most `bytes` bytes. The default is 64 MiB.
    #[must_use]
    pub fn reading_at_most(self, bytes: usize) -> Files {
        Files { read_limit: bytes, ..self }
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let limit = self.read_limit;
        self.with(Access::Read, path, move |found| found.at(|place| place.read(limit))).await
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn open_read(&self, path: &str) -> Result<File, Error> {
        self.with(Access::Read, path, |found| found.at(|place| place.open_read())).await
    }

    /// Lists the entries of a directory by name. Links are listed, not followed.
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn list(&self, path: &str) -> Result<Vec<Entry>, Error> {
        self.with(Access::Read, path, |found| found.at(|place| place.list(LIST_LIMIT))).await
    }

    /// Replaces the content of a file in one step, and creates the file if it is missing. See [`Place::write`].
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn write(&self, path: &str, content: impl Into<Vec<u8>>) -> Result<(), Error> {
        let content = content.into();
        self.with(Access::Write, path, move |found| found.at(|place| place.write(&content))).await
    }

    /// Opens a file for writing and empties it, or creates it if it is missing. A file with several names is refused.
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn open_write(&self, path: &str) -> Result<File, Error> {
        self.with(Access::Write, path, |found| found.at(|place| place.open_write())).await
    }

    /// Creates a directory at this path, and every missing one above it that the permission covers.
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn create_dir_all(&self, path: &str) -> Result<(), Error> {
        self.with(Access::Write, path, Found::create_dir_all).await
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn remove_file(&self, path: &str) -> Result<(), Error> {
        self.with(Access::Write, path, |found| found.at(|place| place.remove_file())).await
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// The errors of every call, see [`Files`].
    pub async fn remove_dir(&self, path: &str) -> Result<(), Error> {
        self.with(Access::Write, path, |found| found.at(|place| place.remove_dir())).await
    }

    /// Runs a file operation on a blocking thread, since a disk may be slow.
    async fn with<T: Send + 'static>(
        &self,
        access: Access,
        path: &str,
        work: impl FnOnce(&Found) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let heard = self.agent.heard_of_path(access, path).await?;
        let (agent, path) = (self.agent.clone(), path.to_owned());
        let step = move || agent.find(access, &path, heard).and_then(|found| work(&found));
        away(step).await
    }
}

/// Runs a step on a blocking thread.
async fn away<T: Send + 'static>(step: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(step).await.unwrap_or(Err(Error::Closed)),
        Err(_) => step(),
    }
}

/// A file that an agent may use, held open.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) contained: ContainedPath,
    pub(super) permission: Permission,
    /// The path that the permission covers: its root, or this path alone.
    pub(super) root: SanitizedPath,
}

impl Found {
    fn at<T>(&self, work: impl FnOnce(Place<'_>) -> Result<T, FileError>) -> Result<T, Error> {
        work(self.contained.place()).map_err(|why| self.failed(why))
    }

    fn create_dir_all(&self) -> Result<(), Error> {
        let path = self.contained.path();
        let (base, above) = (self.contained.base().path(), self.root.as_path().parent());
        if base.contains(&self.root) && base != &self.root && Some(base.as_path()) != above {
            // The base is above the root of the permission, and no directory may be created there.
            return self.create_below_root(path);
        }
        self.at(|place| place.create_dir_all())
    }

    fn create_below_root(&self, path: &SanitizedPath) -> Result<(), Error> {
        let above = self.root.as_path().parent().and_then(|above| above.to_str()).unwrap_or("/");
        let base = Base::hold(above).map_err(|_| Error::File(FileFailure::new(ErrorKind::NotFound, above)))?;
        if base.path().as_str() != above {
            return Err(self.replaced());
        }
        let rest = path.as_str().strip_prefix(above).unwrap_or_default().trim_start_matches('/');
        base.below(rest).and_then(|place| place.create_dir_all()).map_err(|why| self.failed(why))
    }

    /// Maps a file error. A link or another object on a path that was resolved a moment ago was put there since.
    fn failed(&self, why: FileError) -> Error {
        if matches!(why, FileError::Link(_) | FileError::BaseChanged(_)) {
            return self.replaced();
        }
        Error::File(FileFailure::from(&why))
    }

    fn replaced(&self) -> Error {
        Error::Replaced { permission: self.permission.clone(), path: self.contained.path().clone() }
    }
}

/// A use of a permission that is being recorded.
#[derive(Debug)]
pub(super) struct Using {
    done: CommitHandle,
    replaced: bool,
}

impl Using {
    /// Waits until the use is stored.
    pub(super) async fn acknowledged(self) -> Result<(), Error> {
        told(self.replaced, self.done.acknowledged().await)
    }

    /// Returns when a recorded evaluation is on its way to the disk. A use that consumes a permission waits until it is
    /// stored.
    fn noted(self) -> Result<(), Error> {
        told(self.replaced, self.done.noted())
    }

    /// Waits like `acknowledged`, on a thread that may block.
    fn waited(self) -> Result<(), Error> {
        told(self.replaced, self.done.wait())
    }
}

fn told(replaced: bool, done: Result<Vec<Event>, Error>) -> Result<(), Error> {
    done.map(drop).map_err(|why| if replaced { or_replaced(why) } else { why })
}

/// Returns the hook results, if the path still leads to the place that the hooks saw.
fn opinions_at(path: &SanitizedPath, access: Access, heard: Option<HeardOfPath>) -> Result<Vec<HookVerdict>, Error> {
    match heard {
        Some(heard) if heard.path == *path => Ok(heard.opinions),
        Some(_) => Err(Error::Replaced { permission: Permission::Path(access, path.clone()), path: path.clone() }),
        None => Ok(Vec::new()),
    }
}

/// Finds the answer without waiting for anything but the disk.
impl Agent {
    /// Finds the file like `find`, on a blocking thread if each use must be stored first.
    pub(super) async fn found_away(
        &self,
        access: Access,
        path: &str,
        heard: Option<HeardOfPath>,
    ) -> Result<Found, Error> {
        if !self.shared.keeps() {
            return self.find(access, path, heard);
        }
        let (agent, path) = (self.clone(), path.to_owned());
        away(move || agent.find(access, &path, heard)).await
    }

    pub(super) fn find(&self, access: Access, path: &str, heard: Option<HeardOfPath>) -> Result<Found, Error> {
        let real = self.shared.paths.real(path)?;
        let permission = Permission::Path(access, real.path.clone());
        let opinions = opinions_at(&real.path, access, heard)?;
        let action = self.shared.using(access, real.clone());
        self.refuse_what_is_being_taken(&action, &opinions)?;
        let (is_free, roots) = self.look(|state, agent, now| {
            let case = EvaluationInput {
                state,
                agent,
                action: &action,
                broken: &StaleGrants::new(),
                opinions: &opinions,
                now,
            };
            let judged = evaluate(&case);
            let is_allowed = judged.conclusion.ruled.verdict() == Effect::Allow;
            let is_free = is_allowed && judged.missing.is_empty() && state.readable_by_all(&permission);
            (is_free, state.usable(agent, &permission, now).cloned().collect::<Vec<_>>())
        })?;
        // A read that every agent may do uses no permission. Every other use is recorded, and consumes one-time
        // permissions.
        if !is_free {
            let used = self.act(action, opinions)?;
            // A read changes no file, so its record may reach the disk a moment later.
            if access == Access::Read { used.noted() } else { used.waited() }?;
        }
        if is_free || roots.is_empty() {
            return self.found("/", permission, real.path.clone());
        }
        let broken = self.shared.broken(&self.id, std::iter::once(&permission))?;
        let counts = |grant: &&Arc<CompactGrant>| self.look(|state, _, now| state.counts(grant, &broken, now));
        let Some(grant) = roots.iter().find(|grant| broken.is_empty() || counts(grant).unwrap_or(false)) else {
            return Err(Error::Replaced { permission, path: real.path });
        };
        let root = grant.pinned.permission.path().unwrap_or(&real.path).clone();
        match grant.pinned.pinned_object() {
            // The base is held open from here on, so it cannot be replaced.
            Some((base, identity)) => {
                let found = self.found(base.as_str(), permission, root.clone())?;
                let Found { contained, permission, root } = found;
                match contained.expecting_base(identity) {
                    Ok(contained) => Ok(Found { contained, permission, root }),
                    Err(_) => Err(Error::Replaced { permission, path: real.path }),
                }
            }
            _ => self.found("/", permission, root),
        }
    }

    /// Opens the path of `permission` below `base` and holds it. The path must still lead to the place where it was
    /// found.
    fn found(&self, base: &str, permission: Permission, root: SanitizedPath) -> Result<Found, Error> {
        let path = permission.path().unwrap_or(&root);
        let contained = fs::resolve(&[base], path.as_str()).map_err(|why| Error::Open(why.to_string()))?;
        let contained = if path.as_str().starts_with("/proc") { contained } else { contained.off_proc() };
        if contained.path() == path {
            Ok(Found { contained, permission, root })
        } else {
            Err(Error::Replaced { path: path.clone(), permission })
        }
    }

    /// Refuses an action that a decision already denies, while that decision is still being stored.
    fn refuse_what_is_being_taken(&self, action: &ResolvedAction, opinions: &[HookVerdict]) -> Result<(), Error> {
        let judged = self.shared.look_ahead(&self.id, |state, agent, now| {
            let case = EvaluationInput { state, agent, action, broken: &StaleGrants::new(), opinions, now };
            let judged = evaluate(&case);
            let allowed = judged.conclusion.ruled.verdict() == Effect::Allow;
            if allowed { Ok(()) } else { Err(state.not_allowed(&case, &judged)) }
        })?;
        Ok(judged.unwrap_or(Ok(()))?)
    }

    /// Executes `action` now and consumes one-time permissions. The action is evaluated again, since time has passed.
    fn act(&self, action: ResolvedAction, opinions: Vec<HookVerdict>) -> Result<Using, Error> {
        let broken = self.shared.broken(&self.id, action.permissions())?;
        let (agent, action, replaced) = (self.id.clone(), Arc::new(action), !broken.is_empty());
        Ok(Using { done: self.carry_out(Command::Act { agent, action, opinions, broken }), replaced })
    }

    /// Uses `path` without opening it. The use is evaluated like every use of a file.
    pub(super) fn use_path(
        &self,
        access: Access,
        path: &SanitizedPath,
        heard: Option<HeardOfPath>,
    ) -> Result<Using, Error> {
        let real = self.shared.paths.real_of(path)?;
        let opinions = opinions_at(&real.path, access, heard)?;
        let action = self.shared.using(access, real);
        self.refuse_what_is_being_taken(&action, &opinions)?;
        self.act(action, opinions)
    }

    /// Uses a permission that is about no path. The use is evaluated like every action, with hooks.
    pub(super) async fn use_permission(&self, permission: &Permission) -> Result<Using, Error> {
        let action = using_permission(self.shared.pin(permission)?);
        let opinions = self.heard_of_permission(&action).await?;
        self.refuse_what_is_being_taken(&action, &opinions)?;
        self.act(action, opinions)
    }
}

impl From<&FileError> for FileFailure {
    fn from(why: &FileError) -> FileFailure {
        let kind = match why {
            FileError::Invalid(_) | FileError::NotCanonical(_) | FileError::NotAFile(_) => ErrorKind::InvalidInput,
            FileError::Link(_)
            | FileError::HardLinked(_)
            | FileError::BaseChanged(_)
            | FileError::IsBase(_)
            | FileError::Denied(_) => ErrorKind::PermissionDenied,
            FileError::NotFound(_) => ErrorKind::NotFound,
            FileError::NotADirectory(_) => ErrorKind::NotADirectory,
            FileError::NotEmpty(_) => ErrorKind::DirectoryNotEmpty,
            FileError::TooLong(_) => ErrorKind::InvalidFilename,
            FileError::TooLarge(..) => ErrorKind::FileTooLarge,
            FileError::Unsteady(_) => ErrorKind::ResourceBusy,
            FileError::Io(_, error) => error.kind(),
        };
        FileFailure { kind, what: Arc::from(why.to_string()) }
    }
}
