//! The secret of a person's surface, for where no terminal shows that a person is there.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use hmac_sha256::Hash as Sha256;

/// The file with the secret, in the state directory. Its owner may move it away.
const TOKEN: &str = "approver-token";

/// The file with the digest of the secret. The engine goes by this one.
const DIGEST: &str = "approver-token.sha256";

/// How many random bytes the secret has.
const BYTES: usize = 32;

/// What the engine knows of the secret: not enough to say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digest(String);

impl Digest {
    fn of(token: &str) -> Digest {
        Digest(hex(&Sha256::hash(token.trim().as_bytes())))
    }

    /// The digest that the state directory holds. Makes it, with the secret, if there is none.
    pub(super) fn in_directory(directory: &Path) -> io::Result<Digest> {
        match fs::read_to_string(directory.join(DIGEST)) {
            Ok(digest) => Ok(Digest(digest.trim().to_owned())),
            Err(why) if why.kind() == io::ErrorKind::NotFound => made(directory),
            Err(why) => Err(why),
        }
    }

    /// Whether that is the secret.
    pub(super) fn is_of(&self, token: &str) -> bool {
        // Of digests, the time that comparing takes tells nothing about the secret.
        *self == Digest::of(token)
    }
}

/// The secret goes first: whoever is stopped in between finds no digest, and makes both anew.
fn made(directory: &Path) -> io::Result<Digest> {
    let mut random = [0; BYTES];
    fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    let token = hex(&random);
    let digest = Digest::of(&token);
    write(&directory.join(TOKEN), &token)?;
    write(&directory.join(DIGEST), &digest.0)?;
    Ok(digest)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(why) => return Err(why),
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
