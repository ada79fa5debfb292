//! The other places that git obeys because of a `.git`, and from which it may run programs. The module reads them as
//! git does.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use rustix::fs::FileType;

use crate::fs;

/// The most bytes that are read of a file. Git's own files are shorter.
const LONGEST: u64 = 1 << 20;

/// Returns the places that programs obey through the file at `path`, which has this `kind`. These are the target of a
/// link, the repository that a `.git` file names, the common directory of that repository, and its configured
/// directories of hooks.
pub(super) fn obeyed_through(path: &Path, kind: FileType) -> io::Result<Vec<PathBuf>> {
    let is_git = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    let above = path.parent().unwrap_or(path);
    let there = if kind == FileType::Symlink {
        real(path)
    } else if kind == FileType::RegularFile && is_git {
        let text = content(path)?.unwrap_or_default();
        let named = text.strip_prefix("gitdir: ").map(|rest| rest.trim_end_matches(['\n', '\r']));
        named.and_then(|named| real(&above.join(named)))
    } else {
        None
    };
    let repository = match &there {
        Some(there) => Some(there.as_path()),
        None => Some(path).filter(|_| kind == FileType::Directory),
    };
    let more = repository.filter(|_| is_git).map(|repository| of_repository(repository, above));
    Ok(there.clone().into_iter().chain(more.transpose()?.into_iter().flatten()).collect())
}

/// Returns the places that git obeys through a repository, apart from its content. `work` is the directory of its
/// working files.
fn of_repository(repository: &Path, work: &Path) -> io::Result<Vec<PathBuf>> {
    let common = content(&repository.join("commondir"))?;
    let common = common.and_then(|named| real(&repository.join(named.trim_end_matches(['\n', '\r']))));
    let mut found = Vec::new();
    let base = common.as_deref().unwrap_or(repository);
    for config in [base.join("config"), repository.join("config.worktree")] {
        let text = content(&config)?.unwrap_or_default();
        found.extend(hooks(&text).filter_map(|named| real(&work.join(named))));
    }
    found.extend(common);
    Ok(found)
}

/// Returns the values of `core.hooksPath` in a configuration.
fn hooks(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut is_core = false;
    text.lines().filter_map(move |line| {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (section, after) = rest.split_once(']')?;
            is_core = section.trim().eq_ignore_ascii_case("core");
            line = after.trim();
        }
        let (key, value) = line.split_once('=')?;
        let is_hooks = is_core && key.trim().eq_ignore_ascii_case("hookspath");
        is_hooks.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// Reads the text of a regular file. The result is `None` if there is no such file.
fn content(path: &Path) -> io::Result<Option<String>> {
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
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns the path without links. The path may be missing.
fn real(path: &Path) -> Option<PathBuf> {
    fs::real(path.to_str()?).ok().map(|real| real.path().as_path().to_owned())
}
