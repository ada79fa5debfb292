//! Which policy file the engine on a state directory follows, for whoever writes into that file.

use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{JournalError, files::Files};
use crate::seam::RealDisk;

/// Holds the path, and is not there if an engine follows no file.
const FOLLOWS: &str = "FOLLOWS";

/// The file that the engine on `directory` follows, or the last one there did; none if it followed none.
///
/// # Errors
///
/// Anything the disk says, and that somebody else may have written the directory.
pub fn followed(directory: impl AsRef<Path>) -> Result<Option<PathBuf>, JournalError> {
    let files = Files::at(Arc::new(RealDisk), directory.as_ref())?;
    match files.disk.read(&files.path(FOLLOWS)) {
        Ok(name) => Ok(Some(PathBuf::from(OsStr::from_bytes(&name)))),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(files.failed(FOLLOWS, "reading")(why)),
    }
}

/// Notes down what the engine that has `directory` follows.
pub(crate) fn follows(directory: &Path, file: Option<&Path>) -> Result<(), JournalError> {
    if followed(directory)?.as_deref() == file {
        return Ok(());
    }
    let files = Files::at(Arc::new(RealDisk), directory)?;
    match file {
        Some(file) => files.write_whole(FOLLOWS, file.as_os_str().as_bytes()),
        None => files.disk.remove(&files.path(FOLLOWS)).map_err(files.failed(FOLLOWS, "removing")),
    }
}
