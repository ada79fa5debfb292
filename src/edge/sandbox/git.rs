//! What else git obeys, and runs programs for, because of a `.git` that is there: read as git reads it.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use rustix::fs::FileType;

use crate::fs;

/// How much of a file is read. More is no file of git's.
const LONGEST: u64 = 1 << 20;

/// The places that are obeyed through what is at `path`, of this kind: where a link leads, the repository that a file `.git`
/// names, and the one that it has in common with others, and where its configuration has its hooks.
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

/// What is obeyed through a repository, besides what is in it. `work` is where its files are.
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

/// The values of `core.hooksPath` in a configuration.
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

/// The text of a file; none if there is none.
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

/// The path without links, of what is there or is not.
fn real(path: &Path) -> Option<PathBuf> {
    fs::real(path.to_str()?).ok().map(|real| real.path().as_path().to_owned())
}
