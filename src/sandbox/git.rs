//! The other places that git obeys because of a `.git`, and from which it may run programs. The module reads them as
//! git does.

mod config;

use std::{
    cell::OnceCell,
    collections::BTreeSet,
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::FileType;

use super::hops::{Hops, hops};
use crate::ports::homes;

/// The most bytes that are read of a file. Git's own files are shorter.
const LONGEST: u64 = 1 << 20;

/// The most configuration files that one configuration may include. Git follows ten levels.
const MOST_INCLUDED: usize = 100;

/// The places that git obeys. The configuration of this user and of the machine is read once.
#[derive(Debug, Default)]
pub(super) struct Git {
    hooks: OnceCell<Vec<PathBuf>>,
}

impl Git {
    /// Returns the places that programs obey through the file at `path`, which has this `kind`. These are the links and
    /// the target of a link, the repository that a `.git` file names, the common directory of that repository, the
    /// files that its configuration includes, and its directories of hooks.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read. Only a missing one counts as none.
    pub(super) fn obeyed_through(&self, path: &Path, kind: FileType) -> io::Result<Vec<PathBuf>> {
        let is_git = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        let above = path.parent().unwrap_or(path);
        let mut found = Found::default();
        let there = if kind == FileType::Symlink { found.follow(path)? } else { Some(path.to_owned()) };
        let repository = match there.filter(|_| is_git) {
            Some(there) if there.is_dir() => Some(there),
            Some(there) => {
                let named = content(&there)?.and_then(|text| named(&text, b"gitdir: "));
                named.map(|named| found.follow(&above.join(named))).transpose()?.flatten()
            }
            None => None,
        };
        repository.map_or(Ok(()), |repository| self.of_repository(&repository, above, &mut found))?;
        Ok(found.all)
    }

    /// Returns the places that git obeys through a repository that has another name than `.git`.
    ///
    /// # Errors
    ///
    /// Those of [`Git::obeyed_through`].
    pub(super) fn obeyed_in(&self, repository: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Found::default();
        self.of_repository(repository, repository, &mut found)?;
        Ok(found.all)
    }

    /// Adds the places that git obeys through a repository, apart from its content. `work` is the directory of its
    /// working files, in which git runs hooks.
    fn of_repository(&self, repository: &Path, work: &Path, found: &mut Found) -> io::Result<()> {
        let common = content(&repository.join("commondir"))?;
        let common = common.and_then(|text| named(&text, b"").map(|named| repository.join(named)));
        let common = common.map(|common| found.follow(&common)).transpose()?.flatten();
        let base = common.as_deref().unwrap_or(repository);
        let mut hooks = Vec::new();
        for file in [base.join("config"), repository.join("config.worktree")] {
            let configured = Configuration::read(&file)?;
            hooks.extend(configured.hooks);
            configured.included.iter().try_for_each(|file| found.follow(file).map(drop))?;
        }
        // A relative path of the user's own configuration means another directory in each repository.
        let of_user = self.hooks.get_or_init(of_user);
        hooks.iter().chain(of_user).try_for_each(|hooks| found.follow(&work.join(hooks)).map(drop))
    }
}

/// The places found so far.
#[derive(Debug, Default)]
struct Found {
    all: Vec<PathBuf>,
}

impl Found {
    /// Adds the links on the way to `path`, and its target, which is returned. The target may be missing.
    fn follow(&mut self, path: &Path) -> io::Result<Option<PathBuf>> {
        let Hops { links, end } = hops(path)?;
        self.all.extend(links.into_iter().filter(|link| link != path));
        self.all.extend(end.clone());
        Ok(end)
    }
}

/// The parts of a configuration that name other places.
#[derive(Debug, Default)]
struct Configuration {
    /// The values of `core.hooksPath`, which may be relative.
    hooks: Vec<PathBuf>,
    /// The included files.
    included: Vec<PathBuf>,
}

impl Configuration {
    /// Reads a configuration file with everything that it includes, under whatever condition.
    fn read(file: &Path) -> io::Result<Configuration> {
        let (mut read, mut next) = (Configuration::default(), vec![file.to_owned()]);
        // Most repositories have no `config.worktree`. The way to a missing file is not needed.
        if std::fs::symlink_metadata(file).is_err_and(|why| why.kind() == io::ErrorKind::NotFound) {
            return Ok(read);
        }
        // A file is read once, whatever names and links lead to it.
        let (mut names, mut objects) = (BTreeSet::new(), BTreeSet::new());
        while let Some(file) = next.pop() {
            let Hops { links, end } = hops(&file)?;
            let is_new = objects.insert(end.unwrap_or_else(|| file.clone()));
            if is_new || !links.is_empty() {
                names.insert(file.clone());
            }
            if !is_new {
                continue;
            }
            if objects.len() > MOST_INCLUDED {
                return Err(io::Error::other("it includes too many files"));
            }
            let above = file.parent().unwrap_or(&file);
            for setting in config::settings(&content(&file)?.unwrap_or_default()) {
                let Some(value) = expanded(&setting.value) else { continue };
                match (setting.section.as_slice(), setting.has_subsection, setting.key.as_slice()) {
                    (b"core", false, b"hookspath") => read.hooks.push(value),
                    (b"include", false, b"path") | (b"includeif", true, b"path") => next.push(above.join(value)),
                    _ => {}
                }
            }
        }
        names.remove(file);
        read.included = names.into_iter().collect();
        Ok(read)
    }
}

/// Returns the values of `core.hooksPath` in the configuration of this user and of the machine. A file that this user
/// cannot read has no effect on git either.
fn of_user() -> Vec<PathBuf> {
    let in_homes =
        homes().into_iter().flat_map(|home| [".gitconfig", ".config/git/config"].map(|file| home.as_path().join(file)));
    let elsewhere = std::env::var_os("XDG_CONFIG_HOME").map(|home| Path::new(&home).join("git/config"));
    let files = in_homes.chain(elsewhere).chain([PathBuf::from("/etc/gitconfig")]);
    files.filter_map(|file| Configuration::read(&file).ok()).flat_map(|read| read.hooks).collect()
}

/// Returns the number of settings in a configuration.
pub(super) fn settings_in(text: &[u8]) -> usize {
    config::settings(text).len()
}

/// Returns a path of the configuration with the home directory in the place of `~`, or `None` for an empty one.
fn expanded(value: &[u8]) -> Option<PathBuf> {
    let value = value.strip_prefix(b":(optional)").unwrap_or(value);
    let path = Path::new(OsStr::from_bytes(value));
    match path.strip_prefix("~") {
        Ok(below) => homes().into_iter().next().map(|home| home.as_path().join(below)),
        Err(_) => Some(path.to_owned()).filter(|_| !value.is_empty()),
    }
}

/// Returns the path in a file that consists of `before` and a path.
fn named(text: &[u8], before: &[u8]) -> Option<PathBuf> {
    let mut named = text.strip_prefix(before)?;
    while let Some(shorter) = named.strip_suffix(b"\n").or_else(|| named.strip_suffix(b"\r")) {
        named = shorter;
    }
    (!named.is_empty()).then(|| OsStr::from_bytes(named).into())
}

/// Reads a regular file. The result is `None` if there is no such file.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
        Err(why) => return Err(why),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests;
