//! Tests of `agents.toml` on real files.

mod bad_input;
mod commands;
mod example;
mod files;
#[cfg(feature = "edit")]
mod keep;
mod links;
mod meaning;
mod names;
pub(crate) mod patterns;
mod random;
mod reload;
pub(crate) mod rules;
mod rules_reload;
mod schema;
mod trials;

use std::{
    fs,
    path::{Path, PathBuf},
};

use bestow::{Policy, PolicyFile, policy::ConfigError};

/// A directory with a policy file in `policy/`, a home in `home/`, and other files of the test.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(place.path("policy")).unwrap();
        fs::create_dir(place.path("home")).unwrap();
        place
    }

    /// Creates a place whose policy file holds `text`.
    pub(crate) fn with(text: &str) -> Place {
        let place = Place::new();
        place.write("policy/agents.toml", text);
        place
    }

    /// Returns the real path of `name`. The directory of temporary files may be a link.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        #[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
        let real = self.directory.path().canonicalize().unwrap();
        real.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
        self.mode(name, 0o644);
    }

    pub(crate) fn mode(&self, name: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    pub(crate) fn file(&self) -> PolicyFile {
        self.file_at("policy/agents.toml")
    }

    pub(crate) fn file_at(&self, name: &str) -> PolicyFile {
        PolicyFile::new(self.path(name)).with_home(self.path("home"))
    }

    pub(crate) fn load(&self) -> Result<Policy, ConfigError> {
        self.file().load()
    }

    /// Returns all problems of the file, with the file as `agents.toml` and the directory as `$DIR`.
    pub(crate) fn complaints(&self) -> String {
        self.complaints_about("policy/agents.toml")
    }

    pub(crate) fn complaints_about(&self, name: &str) -> String {
        let error = match self.file_at(name).load() {
            Ok(_) => return "nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        let (file, directory) = (self.text(name), self.text(""));
        error.replace(&format!("{file}:"), "agents.toml:").replace(directory.trim_end_matches('/'), "$DIR")
    }
}

/// Returns the smallest valid file, with `more` in its only agent.
pub(crate) fn one_agent(more: &str) -> String {
    format!("[agents.lead]\nkind = \"foreground\"\nowner = \"you\"\nworking_dir = \"/work\"\n{more}\n")
}
