//! The place of the story: a directory with `agents.toml`, some documents, and a workspace.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::Result;

/// The policy file of the story. It is the example from which a person learns the format.
const AGENTS: &str = include_str!("../../agents.example.toml");
/// The bot in Python. It is part of this program, so that the example runs in any directory.
const PYTHON_BOT: &str = include_str!("../bots/worker.py");
/// The scheduled task. Its gate needs the network, and its agent does not hold `@network`.
const TASK: &str = include_str!("links.md");
const STYLE: &str = "# Style\n\n- One heading for each page.\n- No page without a heading.\n";

/// The last line about the checker in the example.
const CHECKER: &str = "name = \"Checker\"\n";

pub(crate) struct Place {
    dir: PathBuf,
    /// Removes the directory when the story is over.
    _temporary: Option<tempfile::TempDir>,
}

impl Place {
    /// Prepares the story in `dir`, or in a temporary directory.
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

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn policy(&self) -> PathBuf {
        self.dir.join("agents.toml")
    }

    /// Returns the function that shortens paths: it leaves out this directory.
    pub(crate) fn shortening(&self) -> impl Fn(&str) -> String + Send + 'static {
        let before = format!("{}/", self.dir.display());
        move |text| text.replace(&before, "")
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

    /// Writes the task, as a person would. The scheduler refuses files that other users may write.
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

    /// Edits agents.toml like a person in an editor.
    pub(crate) fn let_the_checker_sign_off(&self) -> Result<()> {
        let text = fs::read_to_string(self.policy())?;
        let more = format!("{CHECKER}permissions = [\"@write:workspace/done\"]\n");
        let changed = text.replacen(CHECKER, &more, 1);
        if changed == text {
            return Err("agents.toml does not name the checker where the story expects it".into());
        }
        Ok(self.save(&changed)?)
    }

    /// Saves like an editor: writes a new file beside the old one, then renames it.
    fn save(&self, text: &str) -> io::Result<()> {
        let new: &Path = &self.dir.join("agents.toml.new");
        fs::write(new, text)?;
        // The engine refuses a policy file that other users may write.
        fs::set_permissions(new, fs::Permissions::from_mode(0o600))?;
        fs::rename(new, self.policy())
    }
}
