//! Paths as written in the policy file, made absolute. This module does not read the disk.

use std::path::Path;

use super::{Problem, diagnostics::quoted};
use crate::model::SanitizedPath;

/// The directories to which paths in a file are relative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base<'a> {
    /// The directory that holds the file.
    pub(super) directory: &'a Path,
    /// The directory that `~` names.
    pub(super) home: Option<&'a SanitizedPath>,
}

impl Base<'_> {
    /// Returns `text` as an absolute path.
    pub(super) fn absolute(self, text: &str) -> Result<String, Problem> {
        if text.trim().is_empty() {
            return Err(Problem::new("the path is empty").help("`.` is the directory of this file"));
        }
        if text.starts_with(char::is_whitespace) {
            return Err(Problem::new(format!("the path {} starts with white space", quoted(text))));
        }
        if text.starts_with('$') || text.contains("${") {
            return Err(Problem::new(format!("variables are not expanded in {}", quoted(text)))
                .help("write the full path, or begin it with `~/`"));
        }
        if text.starts_with('/') {
            return Ok(text.to_owned());
        }
        if text == "~" {
            return self.home().map(str::to_owned);
        }
        if let Some(rest) = text.strip_prefix("~/") {
            return self.home().map(|home| format!("{home}/{rest}"));
        }
        if text.starts_with('~') {
            return Err(Problem::new(format!("only `~/` names a home directory, not {}", quoted(text)))
                .help("write the full path, or `./~…` for a file with this name"));
        }
        let directory = self.directory.to_str();
        let directory = directory.ok_or_else(|| Problem::new("the path of the directory of this file is not UTF-8"))?;
        Ok(format!("{directory}/{text}"))
    }

    /// Returns `text` as a valid absolute path.
    pub(super) fn path(self, text: &str) -> Result<SanitizedPath, Problem> {
        self.absolute(text)?.parse().map_err(|why| Problem::new(format!("{}: {why}", quoted(text))))
    }

    fn home(&self) -> Result<&str, Problem> {
        let home = self.home.map(SanitizedPath::as_str);
        home.ok_or_else(|| {
            Problem::new("`~` has no meaning, because the user has no home directory").help("write the full path")
        })
    }
}
