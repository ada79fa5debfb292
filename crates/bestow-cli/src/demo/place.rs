//! The files of the demo: a policy file, a workspace and scheduled tasks.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

const POLICY: &str = include_str!("agents.toml");
const LINKS: &str = include_str!("links.md");
const REPORT: &str = include_str!("report.md");

/// The files, each with its text.
const FILES: [(&str, &str); 8] = [
    ("agents.toml", POLICY),
    ("tasks/cron/links/TASK.md", LINKS),
    ("tasks/cron/report/TASK.md", REPORT),
    ("workspace/site/index.html", "<h1>Welcome</h1>\n"),
    ("workspace/site/about.html", "<h1>About</h1>\n"),
    ("workspace/check/notes.md", "# Notes\n"),
    ("workspace/package.json", "{ \"scripts\": { \"test\": \"node test.js\" } }\n"),
    ("workspace/test.js", "console.log('ok')\n"),
];

/// The directory of the demo.
pub(super) struct Place {
    directory: PathBuf,
    /// Removes the directory at the end.
    _temporary: Option<tempfile::TempDir>,
}

impl Place {
    /// Writes the files below `directory`, or in a temporary directory. Files that are there stay.
    pub(super) fn prepare(directory: Option<&Path>) -> io::Result<Place> {
        let (directory, temporary) = match directory {
            Some(directory) => (std::path::absolute(directory)?, None),
            None => {
                let temporary = tempfile::Builder::new().prefix("bestow-demo-").tempdir()?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        for (name, text) in FILES {
            write(&directory.join(name), text)?;
        }
        Ok(Place { directory, _temporary: temporary })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn policy(&self) -> PathBuf {
        self.directory.join("agents.toml")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.directory.join("state")
    }
}

/// Writes a file that only this user can read. A policy or a task that others may write is refused.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(why) => Err(why),
    }
}
