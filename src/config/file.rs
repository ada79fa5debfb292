//! Reads the bytes of a policy file, after checking that only its owner or root could have written them.

use std::{
    fs::{File, Metadata},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

use rustix::fs::{Mode, OFlags};

use super::{Problem, diagnostics::system, file_location::PolicyLocation, owner};
use crate::fs::{Trail, identity_of};

/// The maximum length of a policy file. Ten thousand agents with twenty-five permissions each fit into it.
const MAX_LEN: u64 = 16 * 1024 * 1024;

/// The maximum number of attempts while the file is replaced between finding and opening it.
const MAX_TRIES: usize = 8;

/// A policy file that was read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) bytes: Vec<u8>,
    pub(super) ground: PolicyLocation,
    /// The ways in which other users could have written the file. If there is one, the file must not be used.
    pub(super) exposed: Vec<Problem>,
}

/// Reads the file at the absolute `path`.
pub(super) fn read(path: &Path) -> Result<Found, Vec<Problem>> {
    if path.as_os_str().is_empty() {
        return Err(vec![Problem::new("no file is named")]);
    }
    for _ in 0..MAX_TRIES {
        let trail = Trail::of(path).map_err(|error| [unreadable(&error)])?;
        let Some(file) = open(&trail).map_err(|problem| [problem])? else { continue };
        let found = file.metadata().map_err(|error| [unreadable(&error)])?;
        check_kind(&found).map_err(|problem| [problem])?;
        let mut exposed = owner::check_file(path, &found);
        exposed.extend(owner::check_way(&trail).map_err(|error| [unreadable(&error)])?);
        let ground = PolicyLocation::of(trail).map_err(|error| unreadable(&error));
        return match ground.and_then(|ground| Ok((bytes(&file)?, ground))) {
            Ok((bytes, ground)) => Ok(Found { bytes, ground, exposed }),
            Err(problem) => Err(exposed.into_iter().chain([problem]).collect()),
        };
    }
    Err(vec![Problem::new("the file is replaced again and again while it is opened")])
}

/// Opens the object that the trail found. Returns none if another object is there by now.
fn open(trail: &Trail) -> Result<Option<File>, Problem> {
    let Some(identity) = trail.identity else {
        return Err(Problem::new("the file does not exist")
            .help("`bestow init` writes one; `agents.example.toml` is an example"));
    };
    // Without O_NONBLOCK, opening a named pipe waits for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::open(&trail.real, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP) => return Ok(None),
        Err(rustix::io::Errno::NXIO) => return Err(Problem::new("this is a socket or a device, not a file")),
        Err(error) => return Err(unreadable(&error.into())),
    };
    let found = file.metadata().map_err(|error| unreadable(&error))?;
    // A file without a name has been replaced since.
    let now = identity_of(&file).map_err(|error| unreadable(&error))?;
    let same = found.nlink() > 0 && identity == now;
    Ok(same.then_some(file))
}

/// Reads the whole file.
fn bytes(file: &File) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    file.take(MAX_LEN + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_LEN {
        return Err(Problem::new("the file is larger than 16 MiB"));
    }
    Ok(bytes)
}

fn check_kind(found: &Metadata) -> Result<(), Problem> {
    let kind = found.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(Problem::new("this is a directory, not a file").help("name the file in this directory"));
    }
    let kind = if kind.is_fifo() { "a named pipe" } else { "a socket or a device" };
    Err(Problem::new(format!("this is {kind}, not a file")))
}

fn unreadable(error: &io::Error) -> Problem {
    Problem::new(format!("the file cannot be read: {}", system(error)))
}
