//! The directory in which a call happens.

use bestow::{
    host::{DiskPaths, Paths as _},
    path::SanitizedPath,
    text::Escaped,
};

use crate::{call::Caller, failure::Failure};

/// Returns the directory of a call. It has no link in its path: a shell that follows links by name would leave such a
/// directory with `cd ..` to another place than the real one.
pub(crate) fn directory(caller: &Caller) -> Result<SanitizedPath, Failure> {
    let wrong = |why: &dyn std::fmt::Display| {
        let shown = caller.working_dir.to_string_lossy();
        Failure::Directory(format!("`{}`: {why}", Escaped(&shown)))
    };
    let text = caller.working_dir.to_str().ok_or_else(|| wrong(&"it is not a text in UTF-8"))?;
    let directory: SanitizedPath = text.parse().map_err(|why| wrong(&why))?;
    let real = DiskPaths.real(directory.as_str()).map_err(|why| wrong(&why))?.path;
    if real == directory {
        return Ok(real);
    }
    Err(wrong(&format_args!("a link leads there: start the session in `{}`", Escaped(real.as_str()))))
}

/// Returns the last name of a directory, for people.
pub(crate) fn last_name(directory: &SanitizedPath) -> &str {
    directory.as_str().rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/")
}
