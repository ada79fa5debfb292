//! The path of the policy file that the engine on a state directory follows, for programs that write into that file.

use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    JournalError,
    files::{FOLLOWS, Files},
};
use crate::ports::RealDisk;

/// Returns the file that the engine on `directory` follows, or that the last engine there followed; `None` if it
/// followed none.
///
/// # Errors
///
/// [`JournalError::Disk`] if the directory cannot be read, or if another user may have written it.
pub fn followed(directory: impl AsRef<Path>) -> Result<Option<PathBuf>, JournalError> {
    let files = Files::at(Arc::new(RealDisk), directory.as_ref())?;
    match files.disk.read(&files.path(FOLLOWS)) {
        Ok(name) => Ok(Some(PathBuf::from(OsStr::from_bytes(&name)))),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(files.failed(FOLLOWS, "reading")(why)),
    }
}

/// Records the file that the engine of `directory` follows.
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
