//! The credentials as a running server knows them. They follow the file.

use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::MetadataExt,
    sync::{Arc, Mutex},
};

use bestow::event::Timestamp;

use super::{Credential, CredentialError, CredentialFile, CredentialId, Issued, NotAuthenticated, file::Stored, token};

/// The credentials in a file. They are read again when the file changes.
///
/// Each use compares the identity of the file with the one that was read. So a credential that another program revoked
/// is refused from the next use on.
#[derive(Clone, Debug)]
pub struct Credentials {
    file: CredentialFile,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    version: Option<FileVersion>,
    by_id: HashMap<CredentialId, Arc<Stored>>,
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
    Present { device: u64, inode: u64, size: u64, changed: (i64, i64) },
}

impl Credentials {
    /// Follows the credentials in a file.
    pub fn of(file: CredentialFile) -> Credentials {
        Credentials { file, known: Arc::default() }
    }

    /// Returns the live credential with this token.
    ///
    /// # Errors
    ///
    /// [`NotAuthenticated::Invalid`] if there is none. [`NotAuthenticated::Unreadable`] if the file cannot be read.
    pub fn authenticate(&self, token: &str, now: Timestamp) -> Result<Credential, NotAuthenticated> {
        let (id, secret) = token::parts(token).ok_or(NotAuthenticated::Invalid)?;
        let is_accepted = |stored: &Stored| {
            let credential = &stored.credential;
            stored.hash.is_of(secret) && credential.is_live(now) && !credential.is_link
        };
        let found = self.find(&id)?.filter(|stored| is_accepted(stored));
        found.map(|stored| stored.credential.clone()).ok_or(NotAuthenticated::Invalid)
    }

    /// Returns the live link with this token.
    pub(crate) fn link(&self, token: &str, now: Timestamp) -> Option<Credential> {
        let (id, secret) = token::parts(token)?;
        let found = self.find(&id).ok().flatten().filter(|stored| stored.is_open_link(secret, now));
        found.map(|stored| stored.credential.clone())
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
        let found = self.find(&credential.id).ok().flatten();
        found.is_some_and(|stored| stored.credential == *credential && credential.is_live(now))
    }

    fn find(&self, id: &CredentialId) -> Result<Option<Arc<Stored>>, NotAuthenticated> {
        let unreadable = |_: io::Error| NotAuthenticated::Unreadable;
        let version = version(&self.file).map_err(unreadable)?;
        let mut known = self.known.lock().map_err(|_| NotAuthenticated::Unreadable)?;
        if known.version != Some(version) {
            let all = self.file.read().map_err(|_| NotAuthenticated::Unreadable)?;
            let by_id = all.into_iter().map(|stored| (stored.credential.id.clone(), Arc::new(stored))).collect();
            *known = Known { version: Some(version), by_id };
        }
        Ok(known.by_id.get(id).cloned())
    }
}

/// Returns the version of the file before it is read. If it changes meanwhile, the next use reads it again.
fn version(file: &CredentialFile) -> io::Result<FileVersion> {
    match fs::symlink_metadata(file.path()) {
        Ok(found) => Ok(FileVersion::Present {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        }),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(FileVersion::Missing),
        Err(why) => Err(why),
    }
}
