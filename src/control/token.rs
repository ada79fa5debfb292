//! The secret of a person's surface. It replaces a terminal as proof that a person is present.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use crate::{fs::read_regular_file, sha256::Sha256};
use rustix::fs::OFlags;

/// The file with the secret, in the state directory. Its owner may move it away.
const TOKEN: &str = "approver-token";

/// The file with the digest of the secret. The engine checks against this file.
const DIGEST: &str = "approver-token.sha256";

/// The lock for the creation of both.
const LOCK: &str = "approver-token.lock";

/// The longest file of a digest that is read, in bytes.
const MOST_BYTES: u64 = 4096;

/// The number of random bytes in the secret.
const BYTES: usize = 32;

/// The engine's knowledge of the secret: a digest, which does not reveal it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digest(String);

impl Digest {
    fn of(token: &str) -> Digest {
        Digest(hex(&Sha256::hash(token.trim().as_bytes())))
    }

    /// Returns the digest in the state directory. Creates the digest and the secret if there is none.
    pub(super) fn in_directory(directory: &Path) -> io::Result<Digest> {
        match read_regular_file(directory.join(DIGEST), MOST_BYTES) {
            Ok(digest) => Ok(Digest(String::from_utf8_lossy(&digest).trim().to_owned())),
            Err(why) if why.kind() == io::ErrorKind::NotFound => made(directory),
            Err(why) => Err(why),
        }
    }

    /// Returns true if a person is verified: by the secret, or, where none is sent, by a terminal.
    pub(super) fn verifies(&self, token: Option<&str>, has_terminal: bool) -> bool {
        token.map_or(has_terminal, |token| self.is_of(token))
    }

    /// Returns true if `token` is the secret.
    fn is_of(&self, token: &str) -> bool {
        // The comparison is of digests, so its duration reveals nothing about the secret.
        *self == Digest::of(token)
    }
}

/// Creates the secret first and the digest second. If the process stops in between, the next start finds no digest and
/// creates both again.
fn made(directory: &Path) -> io::Result<Digest> {
    // Two programs that start at once create one secret. The digest is there before the lock is removed.
    let lock = directory.join(LOCK);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let held = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(&lock)?;
    held.lock()?;
    if let Ok(digest) = fs::read_to_string(directory.join(DIGEST)) {
        return Ok(Digest(digest.trim().to_owned()));
    }
    let mut random = [0; BYTES];
    fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    let token = hex(&random);
    let digest = Digest::of(&token);
    write(&directory.join(TOKEN), &token)?;
    write(&directory.join(DIGEST), &digest.0)?;
    fs::remove_file(&lock)?;
    Ok(digest)
}

/// Writes a file as a whole. A program that reads it at the same time finds all of it or nothing.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Ok(()) => {}
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(why) => return Err(why),
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    fs::rename(&new, path)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
