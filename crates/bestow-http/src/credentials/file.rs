//! The file of credentials in the state directory. Every program that changes it holds its lock.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use bestow::{
    event::Timestamp,
    journal::{Disk, RealDisk},
};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize, de};

use super::{
    Credential, CredentialError, CredentialId, NewCredential, Role,
    token::{self, SecretHash},
};

/// The name of the file in the state directory.
const FILE: &str = "credentials.json";

/// The name of the lock beside it.
const LOCK: &str = "credentials.lock";

/// The most credentials, revoked ones included.
const MOST: usize = 10_000;

/// The version of the form of the file.
const VERSION: u32 = 1;

/// The longest file that is read, in bytes. The most credentials fit.
const LONGEST: u64 = 16 << 20;

/// The time within which a link is used.
const LINK_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// The duration of a session that a link opens.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The most characters of a name.
const LONGEST_NAME: usize = 200;

/// The file of credentials in a state directory.
///
/// # Authority
///
/// Whoever can write the state directory can create a credential of any role. The engine protects the directory from
/// the agents.
#[derive(Clone, Debug)]
pub struct CredentialFile {
    directory: PathBuf,
}

/// A credential that was just created or rotated, with its token. Nobody can read the token again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Issued {
    /// The credential.
    pub credential: Credential,
    /// The token: what its holder sends.
    pub token: String,
}

/// A credential with the hash of its secret.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    #[serde(flatten)]
    pub(super) credential: Credential,
    pub(super) hash: SecretHash,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    credentials: Vec<Stored>,
}

impl CredentialFile {
    /// Names the file in a state directory. The directory is created when the first credential is.
    pub fn in_directory(directory: impl Into<PathBuf>) -> CredentialFile {
        CredentialFile { directory: directory.into() }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Creates a credential.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if the file cannot be read and written, if the name is not one line, or if there are too
    /// many credentials.
    pub fn create(&self, new: NewCredential, now: Timestamp) -> Result<Issued, CredentialError> {
        self.add(new, false, now)
    }

    /// Creates a link to a session: a credential that authenticates nobody. [`CredentialFile::open_session`] exchanges
    /// its token once, within five minutes.
    ///
    /// # Errors
    ///
    /// As for [`CredentialFile::create`].
    pub fn create_link(&self, role: Role, name: Option<String>, now: Timestamp) -> Result<Issued, CredentialError> {
        self.add(NewCredential { role, name, expires_at: Some(now.after(LINK_LIFETIME)) }, true, now)
    }

    /// Exchanges the token of a link for the token of a session, which lasts twelve hours. The link is used up. Returns
    /// none if the token is not that of a live link.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if the file cannot be read and written.
    pub fn open_session(&self, link: &str, now: Timestamp) -> Result<Option<Issued>, CredentialError> {
        let Some((id, secret)) = token::parts(link) else { return Ok(None) };
        let is_named =
            |stored: &Stored| stored.credential.id.as_str() == id && stored.hash.opens(&stored.credential, secret, now);
        self.change(|all| {
            let Some(stored) = all.iter_mut().find(|stored| is_named(stored)) else { return Ok(None) };
            let (token, hash) = token::issue(&stored.credential.id).map_err(CredentialError::Random)?;
            stored.hash = hash;
            let expires_at = Some(now.after(SESSION_LIFETIME));
            stored.credential = Credential { is_link: false, expires_at, created_at: now, ..stored.credential.clone() };
            Ok(Some(Issued { credential: stored.credential.clone(), token }))
        })
    }

    fn add(&self, new: NewCredential, is_link: bool, now: Timestamp) -> Result<Issued, CredentialError> {
        let NewCredential { role, name, expires_at } = new;
        if name.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(CredentialError::Name { most: LONGEST_NAME });
        }
        self.create_directory()?;
        self.change(|all| {
            // No record names a link that nobody used.
            all.retain(|stored| !stored.credential.is_link || stored.credential.is_live(now));
            if all.len() >= MOST {
                return Err(CredentialError::TooMany { most: MOST });
            }
            let id = new_id(all)?;
            let (token, hash) = token::issue(&id).map_err(CredentialError::Random)?;
            let credential =
                Credential { id, role, name, created_at: now, expires_at, is_link, rotations: 0, revoked_at: None };
            all.push(Stored { credential: credential.clone(), hash });
            Ok(Issued { credential, token })
        })
    }

    /// Returns all credentials, the oldest first. Revoked ones are included, because records name them.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if the file cannot be read.
    pub fn list(&self) -> Result<Vec<Credential>, CredentialError> {
        Ok(self.read()?.into_iter().map(|stored| stored.credential).collect())
    }

    /// Gives a credential a new secret. The one before is refused from now on.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if there is no such credential, if it is revoked or a link, or if the file cannot be
    /// written.
    pub fn rotate(&self, id: &CredentialId, now: Timestamp) -> Result<Issued, CredentialError> {
        self.change(|all| {
            let stored = named(all, id)?;
            if stored.credential.revoked_at.is_some() {
                return Err(CredentialError::Revoked(id.clone()));
            }
            if stored.credential.is_link {
                return Err(CredentialError::Unknown(id.clone()));
            }
            let (token, hash) = token::issue(id).map_err(CredentialError::Random)?;
            stored.hash = hash;
            stored.credential.created_at = now;
            stored.credential.rotations = stored.credential.rotations.saturating_add(1);
            Ok(Issued { credential: stored.credential.clone(), token })
        })
    }

    /// Revokes a credential. A running server refuses it from now on.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] if there is no such credential, if it is revoked already, or if the file cannot be written.
    pub fn revoke(&self, id: &CredentialId, now: Timestamp) -> Result<Credential, CredentialError> {
        self.change(|all| {
            let stored = named(all, id)?;
            if stored.credential.revoked_at.is_some() {
                return Err(CredentialError::Revoked(id.clone()));
            }
            stored.credential.revoked_at = Some(now);
            Ok(stored.credential.clone())
        })
    }

    /// Returns the credentials with their hashes. A missing file holds none.
    pub(super) fn read(&self) -> Result<Vec<Stored>, CredentialError> {
        let path = self.path();
        // A file that this program wrote is much shorter.
        if fs::symlink_metadata(&path).is_ok_and(|found| found.len() > LONGEST) {
            let why = io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {LONGEST} bytes"));
            return Err(CredentialError::Io { path, why });
        }
        let bytes = match RealDisk.read(&path) {
            Ok(bytes) => bytes,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(why) => return Err(CredentialError::Io { path, why }),
        };
        let damaged = |why| CredentialError::Damaged { path, why };
        let content: Content = match serde_json::from_slice(&bytes) {
            Ok(content) => content,
            Err(why) => return Err(damaged(why)),
        };
        let mut ids = BTreeSet::new();
        if content.version != VERSION || !content.credentials.iter().all(|stored| ids.insert(&stored.credential.id)) {
            return Err(damaged(de::Error::custom("another version, or an id that comes twice")));
        }
        Ok(content.credentials)
    }

    /// Changes the file under its lock. Nothing is written if the change fails.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<Stored>) -> Result<T, CredentialError>,
    ) -> Result<T, CredentialError> {
        let lock = self.directory.join(LOCK);
        if let Err(why) = fs::metadata(&self.directory)
            && why.kind() == io::ErrorKind::NotFound
        {
            // There is nothing to change, and the change says so.
            return change(&mut Vec::new());
        }
        // The lock ends when its file is closed, at the end of this function.
        let _held = locked(&self.directory, &lock).map_err(|why| CredentialError::Io { path: lock, why })?;
        let mut all = self.read()?;
        let done = change(&mut all)?;
        self.write(all).map_err(|why| CredentialError::Io { path: self.path(), why })?;
        Ok(done)
    }

    fn write(&self, credentials: Vec<Stored>) -> io::Result<()> {
        let next = self.directory.join(format!("{FILE}.new"));
        match fs::remove_file(&next) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            Ok(()) | Err(_) => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next)?;
        serde_json::to_writer_pretty(&mut file, &Content { version: VERSION, credentials })?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&next, self.path())?;
        RealDisk.sync_dir(&self.directory)
    }

    fn create_directory(&self) -> Result<(), CredentialError> {
        match fs::DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => {
                Err(CredentialError::Io { path: self.directory.clone(), why })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Waits for the lock. Other users may not write the directory: they could replace the file.
fn locked(directory: &Path, lock: &Path) -> io::Result<File> {
    RealDisk.refuse_others(directory)?;
    // Neither a link nor a pipe is opened, so nobody can make this wait.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags.cast_signed());
    let file = options.open(lock)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    file.lock()?;
    Ok(file)
}

fn named<'s>(all: &'s mut [Stored], id: &CredentialId) -> Result<&'s mut Stored, CredentialError> {
    let found = all.iter_mut().find(|stored| stored.credential.id == *id);
    found.ok_or_else(|| CredentialError::Unknown(id.clone()))
}

/// Returns an id that no other credential has.
fn new_id(all: &[Stored]) -> Result<CredentialId, CredentialError> {
    loop {
        let id = token::new_id().map_err(CredentialError::Random)?;
        if all.iter().all(|stored| stored.credential.id != id) {
            return Ok(id);
        }
    }
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}
