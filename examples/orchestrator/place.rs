//! The directory of the example, with `agents.toml`, some documents, and a workspace.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::Result;

/// The policy file of the example. It is also the file from which a person learns the format.
const AGENTS: &str = include_str!("../../agents.example.toml");
/// The Python bot, embedded so that the program runs from anywhere.
const PYTHON_BOT: &str = include_str!("../bots/worker.py");
/// The scheduled task. Its gate wants the network, which its agent never gets.
const TASK: &str = include_str!("links.md");
const STYLE: &str = "# Style\n\n- One heading for each page.\n- No page without a heading.\n";

/// The last line about the checker in the policy file.
const CHECKER: &str = "name = \"Checker\"\n";

pub(crate) struct Place {
    dir: PathBuf,
    /// The guard that removes a temporary directory when it is dropped.
    _temporary: Option<tempfile::TempDir>,
}

impl Place {
    /// Prepares the files in `dir`, or in a temporary directory.
    pub(crate) fn prepare(dir: Option<PathBuf>) -> Result<Place> {
        let (dir, temporary) = match dir {
            Some(dir) => {
                fs::create_dir_all(&dir).map_err(|why| format!("`--dir {}`: {why}", dir.display()))?;
                (std::path::absolute(dir)?, None)
            }
            None => {
                let temporary = tempfile::tempdir()?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        let place = Place { dir, _temporary: temporary };
        for directory in ["workspace/site", "docs", "releases", "bots"] {
            fs::create_dir_all(place.dir.join(directory))?;
        }
        fs::write(place.dir.join("docs/style.md"), STYLE)?;
        fs::write(place.python_bot(), PYTHON_BOT)?;
        place.save(AGENTS)?;
        place.save_task()?;
        Ok(place)
    }

    pub(crate) fn policy(&self) -> PathBuf {
        self.dir.join("agents.toml")
    }

    pub(crate) fn python_bot(&self) -> PathBuf {
        self.dir.join("bots/worker.py")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.dir.join("workspace")
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.workspace().join(name).is_file()
    }

    /// Writes a task as a person would. The engine rejects task files that other users can write.
    fn save_task(&self) -> io::Result<()> {
        let mut directory = self.dir.clone();
        for part in ["tasks", "cron", "links"] {
            directory.push(part);
            fs::create_dir_all(&directory)?;
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o700))?;
        }
        let file = directory.join("TASK.md");
        fs::write(&file, TASK)?;
        fs::set_permissions(file, fs::Permissions::from_mode(0o600))
    }

    #[cfg(feature = "schedule")]
    pub(crate) fn task_wrote(&self, name: &str) -> bool {
        self.dir.join("tasks/cron/links/files").join(name).is_file()
    }

    /// Edits the policy file as a person would in an editor.
    pub(crate) fn let_the_checker_sign_off(&self) -> Result<()> {
        let text = fs::read_to_string(self.policy())?;
        let more = format!("{CHECKER}permissions = [\"@write:workspace/done\"]\n");
        let changed = text.replacen(CHECKER, &more, 1);
        if changed == text {
            return Err("agents.toml does not name the checker where the story expects it".into());
        }
        Ok(self.save(&changed)?)
    }

    /// Saves the policy file as editors do: a new file replaces the old one.
    fn save(&self, text: &str) -> io::Result<()> {
        let new: &Path = &self.dir.join("agents.toml.new");
        fs::write(new, text)?;
        // The engine rejects a policy file that other users can write.
        fs::set_permissions(new, fs::Permissions::from_mode(0o600))?;
        fs::rename(new, self.policy())
    }
}
