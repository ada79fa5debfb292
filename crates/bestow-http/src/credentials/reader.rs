//! The credentials as a running server knows them. They follow the file.

use std::{
    collections::HashMap,
    ffi::CString,
    io,
    os::unix::ffi::OsStrExt,
    sync::{Arc, Mutex},
};

use bestow::event::Timestamp;
use rustix::{fs::lstat, io::Errno};

use super::{Credential, CredentialError, CredentialFile, CredentialId, Issued, NotAuthenticated, live::Live, token};

/// The credentials in a file. They are read again when the file changes.
///
/// Each use compares the identity of the file with the one that was read. So a credential that another program revoked
/// is refused from the next use on.
#[derive(Clone, Debug)]
pub struct Credentials {
    file: CredentialFile,
    /// The path of the file, as the system takes it. None if it contains a NUL, so that there is no such file.
    path: Option<Arc<CString>>,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    version: Option<FileVersion>,
    by_id: HashMap<CredentialId, Arc<Live>>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Known({} credentials)", self.by_id.len())
    }
}

/// The identity of a file's content: a file is replaced as a whole, and never written in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileVersion {
    Missing,
    /// The device, the inode, the size, and the time of the last change in seconds and nanoseconds.
    Present([i128; 5]),
}

impl Credentials {
    /// Follows the credentials in a file.
    pub fn of(file: CredentialFile) -> Credentials {
        let path = CString::new(file.path().as_os_str().as_bytes()).ok().map(Arc::new);
        Credentials { file, path, known: Arc::default() }
    }

    /// Returns the live credential with this token.
    ///
    /// # Errors
    ///
    /// [`NotAuthenticated::Invalid`] if there is none. [`NotAuthenticated::Unreadable`] if the file cannot be read.
    pub fn authenticate(&self, token: &str, now: Timestamp) -> Result<Credential, NotAuthenticated> {
        self.live(token, now).map(|live| live.credential.clone())
    }

    /// Returns the live credential with this token, as a server uses it.
    pub(crate) fn live(&self, token: &str, now: Timestamp) -> Result<Arc<Live>, NotAuthenticated> {
        let (id, secret) = token::parts(token).ok_or(NotAuthenticated::Invalid)?;
        let found = self.find(id)?.filter(|live| live.accepts(secret, now));
        found.ok_or(NotAuthenticated::Invalid)
    }

    /// Returns the live link with this token.
    pub(crate) fn link(&self, token: &str, now: Timestamp) -> Option<Arc<Live>> {
        let (id, secret) = token::parts(token)?;
        self.find(id).ok().flatten().filter(|live| live.is_open_link(secret, now))
    }

    /// Exchanges the token of a link for that of a session ([`CredentialFile::open_session`]).
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if the file cannot be read and written.
    pub fn open_session(&self, link: &str, now: Timestamp) -> Result<Option<Issued>, CredentialError> {
        self.file.open_session(link, now)
    }

    /// Ends the session of a credential: it is revoked.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if it is revoked already, or if the file cannot be written.
    pub fn revoke(&self, credential: &Credential, now: Timestamp) -> Result<(), CredentialError> {
        self.file.revoke(&credential.id, now).map(drop)
    }

    /// Returns true if `credential` is still accepted: not revoked, not rotated, not expired. An open connection asks
    /// this before each message.
    pub fn still_accepts(&self, credential: &Credential, now: Timestamp) -> bool {
        let found = self.find(credential.id.as_str()).ok().flatten();
        found.is_some_and(|live| live.credential == *credential && credential.is_live(now))
    }

    /// Returns true if the file has this very credential and secret, and the credential is not expired.
    pub(crate) fn still_has(&self, live: &Arc<Live>, now: Timestamp) -> Result<bool, NotAuthenticated> {
        let found = self.find(live.credential.id.as_str())?;
        Ok(found.is_some_and(|found| Arc::ptr_eq(&found, live)) && live.credential.is_live(now))
    }

    fn find(&self, id: &str) -> Result<Option<Arc<Live>>, NotAuthenticated> {
        let unreadable = |_: io::Error| NotAuthenticated::Unreadable;
        let version = self.version().map_err(unreadable)?;
        let mut known = self.known.lock().map_err(|_| NotAuthenticated::Unreadable)?;
        if known.version != Some(version) {
            let all = self.file.read().map_err(|_| NotAuthenticated::Unreadable)?;
            let live = |stored| Live::of(stored, &known.by_id);
            let by_id = all.into_iter().map(live).map(|live| (live.credential.id.clone(), live)).collect();
            *known = Known { version: Some(version), by_id };
        }
        Ok(known.by_id.get(id).cloned())
    }

    /// Returns the version of the file before it is read. If it changes meanwhile, the next use reads it again.
    fn version(&self) -> io::Result<FileVersion> {
        let Some(path) = &self.path else { return Ok(FileVersion::Missing) };
        match lstat(path.as_c_str()) {
            Ok(found) => Ok(FileVersion::Present([
                i128::from(found.st_dev),
                i128::from(found.st_ino),
                i128::from(found.st_size),
                i128::from(found.st_ctime),
                i128::from(found.st_ctime_nsec),
            ])),
            Err(Errno::NOENT) => Ok(FileVersion::Missing),
            Err(why) => Err(why.into()),
        }
    }
}
