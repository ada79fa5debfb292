//! A look at a directory: its entries, its version control and its package managers.

use std::{collections::BTreeSet, fs, path::Path};

use bestow::{
    Action, Agent, AgentId, Effect, Engine, InitialGrants, Kind, Permission, Profile, Settings, action::Operation,
    path::SanitizedPath, text::Escaped,
};

use super::packages::{self, PackageManager};
use crate::{exit::Exit, server_files::STATE_DIRECTORY, state::has_files_of_state};

/// The number of entries that the policy file names.
const MOST_NAMED: usize = 40;

/// The directory of git.
const GIT: &str = ".git";

/// The contents of a directory.
#[derive(Debug)]
pub(super) struct Survey {
    /// Version control and manifests, by the names of their files.
    pub(super) found: Vec<&'static str>,
    /// The entries that an agent may write: directories, then files.
    pub(super) writable: Vec<String>,
    /// The number of entries that could be named and are not, because there are too many.
    pub(super) left_out: usize,
    /// True if there is a git repository.
    pub(super) has_git: bool,
    managers: Vec<&'static PackageManager>,
}

impl Survey {
    /// Looks at `directory`.
    pub(super) fn of(directory: &Path) -> Result<Survey, Exit> {
        let name = directory.display().to_string();
        let unread = |why| Exit::failed(format_args!("{} cannot be read: {why}", Escaped(&name)));
        let real = std::path::absolute(directory).map_err(unread)?;
        let real = real.to_str().ok_or_else(|| Exit::failed("the path of the directory is not UTF-8"))?;
        let real = bestow::fs::real(real).map_err(|why| Exit::failed(format_args!("{}: {why}", Escaped(&name))))?;
        let real = real.path().as_path();
        let (mut names, mut directories, mut files) = (BTreeSet::new(), Vec::new(), Vec::new());
        for entry in fs::read_dir(real).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let kind = entry.file_type().map_err(unread)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // A link is not named: an agent that can replace it would choose where it leads.
            if kind.is_dir() {
                if !is_of_engine(&entry.path()) {
                    directories.push(name.clone());
                }
            } else if kind.is_file() {
                files.push(name.clone());
            }
            names.insert(name);
        }
        directories.sort();
        files.sort();
        let mut writable = ordinary(real, directories.into_iter().chain(files).collect())?;
        let left_out = writable.len().saturating_sub(MOST_NAMED);
        writable.truncate(MOST_NAMED);
        if writable.is_empty() {
            writable.push("workspace".to_owned());
        }
        let managers = managers(&names);
        let has_git = names.contains(GIT);
        let manifests = managers.iter().map(|manager| manager.manifest);
        let found = has_git.then_some(GIT).into_iter().chain(manifests).collect();
        Ok(Survey { found, writable, left_out, has_git, managers })
    }

    /// Returns a command that runs code of the directory, if a tool for that is known.
    pub(super) fn test(&self) -> Option<&'static str> {
        self.managers.first().map(|manager| manager.test)
    }

    /// Returns the patterns of the commands that send work to other machines.
    pub(super) fn publishing(&self) -> impl Iterator<Item = &'static str> {
        let git = self.has_git.then_some("git push **");
        git.into_iter().chain(self.managers.iter().flat_map(|manager| manager.publish).copied())
    }
}

/// Returns true for a state directory: one with records, or the one that an engine takes if no other is named. What an
/// agent wrote there would pass for records of the engine.
fn is_of_engine(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name == STATE_DIRECTORY) || has_files_of_state(directory)
}

/// Returns the package managers whose files are among `names`, one for each manifest.
fn managers(names: &BTreeSet<String>) -> Vec<&'static PackageManager> {
    let mut found: Vec<&PackageManager> = Vec::new();
    for manager in &packages::ALL {
        let is_there = names.contains(manager.manifest) && manager.lock.is_none_or(|lock| names.contains(lock));
        if is_there && found.iter().all(|known| known.manifest != manager.manifest) {
            found.push(manager);
        }
    }
    found
}

/// Keeps the names that an agent may write who may write the directory: the engine leaves out what is sensitive or
/// protected. Hidden names and names with unusual characters are left out, too.
fn ordinary(directory: &Path, names: Vec<String>) -> Result<Vec<String>, Exit> {
    let is_usual = |letter: char| letter.is_alphanumeric() || " ._-+@".contains(letter);
    let is_plain = |name: &String| !name.starts_with('.') && name.chars().all(is_usual);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(Exit::failed)?;
    let (_engine, agent) = runtime.block_on(probe(directory))?;
    let may_write = |name: &String| {
        let write = Action::new(Operation::Write, &directory.join(name).display().to_string());
        agent.verdict(&write).is_ok_and(|effect| effect == Effect::Allow)
    };
    Ok(names.into_iter().filter(|name| is_plain(name) && may_write(name)).collect())
}

/// Returns an agent that holds write access to `directory`, in an engine of its own.
async fn probe(directory: &Path) -> Result<(Engine, Agent), Exit> {
    let text = directory.to_str().ok_or_else(|| Exit::failed("the path of the directory is not UTF-8"))?;
    let working_dir: SanitizedPath = text.parse().map_err(Exit::failed)?;
    let permission: Permission = format!("@write:{text}").parse().map_err(Exit::failed)?;
    let (id, owner): (AgentId, _) = ("lead".parse().map_err(Exit::failed)?, "you".parse().map_err(Exit::failed)?);
    let engine = Engine::new(Settings::default()).map_err(Exit::failed)?;
    let profile = Profile::new(id, owner, Kind::Foreground, working_dir);
    let agent = engine.register(profile, InitialGrants::of([permission])).await.map_err(Exit::failed)?;
    Ok((engine, agent))
}
