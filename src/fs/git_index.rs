//! The files that the index of a git repository lists.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::read_regular_file;

/// The maximum size of an index that is read, in bytes.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// The maximum size of a file that names another directory, in bytes.
const MAX_POINTER_BYTES: u64 = 4096;

/// The length of a name that an entry states for every name that is as long or longer.
const MAX_NAMED_LENGTH: usize = 0xfff;

/// The mode of a directory in an index. Such an entry stands for files that the index does not list.
const DIRECTORY_MODE: u32 = 0o040_000;

/// The mode of another repository in an index.
const REPOSITORY_MODE: u32 = 0o160_000;

/// The variables that let git use another repository or another index.
const VARIABLES: [&str; 3] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"];

/// A repository and the files that its index lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "two facts that belong together")]
pub struct TrackedFiles {
    /// The top directory of the working tree.
    pub top: PathBuf,
    /// The paths of the files, relative to `top`.
    pub files: Vec<String>,
}

/// Returns the files that the index of the repository around `start` lists. Returns none if there is no repository, or
/// if its index does not list all files that git may use.
pub(crate) fn tracked_files(start: &Path) -> Option<TrackedFiles> {
    let top = start.ancestors().find(|top| directory_of(&top.join(".git")).is_some())?;
    let mut files = Vec::new();
    read_index(top, |_, name| files.push(String::from_utf8_lossy(name).into_owned()))?;
    let has_submodules = fs::symlink_metadata(top.join(".gitmodules")).is_ok();
    (!has_submodules).then(|| TrackedFiles { top: top.to_owned(), files })
}

/// Returns the directories of other repositories that the index of the repository at `top` lists. Git runs in some of
/// them. Returns none if they are unknown.
pub(crate) fn nested_repositories(top: &Path) -> Option<Vec<PathBuf>> {
    let mut names = Vec::new();
    read_index(top, |mode, name| {
        if mode == REPOSITORY_MODE {
            names.push(str::from_utf8(name).map(|name| top.join(name)));
        }
    })?;
    names.into_iter().collect::<Result<_, _>>().ok()
}

/// Reads the index of the repository at `top`. Returns none if it does not list all files that git may use.
fn read_index(top: &Path, entry: impl FnMut(u32, &[u8])) -> Option<()> {
    if VARIABLES.iter().any(|name| env::var_os(name).is_some()) {
        return None;
    }
    let index = directory_of(&top.join(".git"))?.join("index");
    match read_regular_file(&index, MAX_INDEX_BYTES) {
        Ok(bytes) => parse(&bytes, entry),
        // A repository without a commit has no index.
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Some(()),
        Err(_) => None,
    }
}

/// Returns the directory of a repository from its `.git`: that directory, or the one that the file names.
fn directory_of(git: &Path) -> Option<PathBuf> {
    if fs::metadata(git).ok()?.is_dir() {
        return Some(git.to_owned());
    }
    let text = String::from_utf8(read_regular_file(git, MAX_POINTER_BYTES).ok()?).ok()?;
    let named = text.strip_prefix("gitdir: ")?.trim_end_matches(['\r', '\n']);
    Some(git.parent()?.join(named))
}

/// Reads the modes and paths in an index of version 2, 3 or 4. Returns none for a split index, and for one with
/// directories.
fn parse(bytes: &[u8], mut entry: impl FnMut(u32, &[u8])) -> Option<()> {
    let mut rest = Bytes(bytes);
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (rest.number()?, rest.number()?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut last = Vec::new();
    for _ in 0..count {
        let begin = rest.0.len();
        rest.take(24)?;
        let mode = rest.number()?;
        if mode == DIRECTORY_MODE {
            return None;
        }
        // The owner, the size and the digest.
        rest.take(12 + 20)?;
        let [high, low] = rest.take(2)? else { return None };
        let length = usize::from(u16::from_be_bytes([high & 0x0f, *low]));
        if high & 0x40 != 0 {
            rest.take(2)?;
        }
        if version == 4 {
            let kept = last.len().checked_sub(rest.varint()?)?;
            last.truncate(kept);
            last.extend_from_slice(rest.text()?);
        } else {
            last.clear();
            last.extend_from_slice(rest.text()?);
            // An entry ends with one to eight zero bytes, so that its length is a multiple of eight.
            let used = begin - rest.0.len();
            rest.take((8 - used % 8) % 8)?;
        }
        // Another length tells that the entries have another form, as with longer digests.
        if length != last.len().min(MAX_NAMED_LENGTH) {
            return None;
        }
        entry(mode, &last);
    }
    // The digest at the end has 20 bytes. Before it, extensions may follow.
    while rest.0.len() > 20 {
        let name = rest.take(4)?;
        if name == b"link" {
            return None;
        }
        let length = usize::try_from(rest.number()?).ok()?;
        rest.take(length)?;
    }
    Some(())
}

/// The bytes that are not read yet.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Reads the text up to a zero byte, and this byte.
    fn text(&mut self) -> Option<&'b [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// Reads a number of variable length, as packs encode offsets.
    fn varint(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let [byte] = self.take(1)? else { return None };
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, words: &[&str]) {
        let done = Command::new("git").args(words).current_dir(directory).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    }

    #[test]
    fn the_index_lists_what_git_lists_in_each_version() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        git(top, &["init", "-q", "."]);
        fs::create_dir_all(top.join("src/deep")).unwrap();
        for name in ["a", "src/main.rs", "src/main_2.rs", "src/deep/ä b", "src/deep/a-name-of-some-length.txt"] {
            fs::write(top.join(name), "x").unwrap();
        }
        git(top, &["add", "-A"]);
        git(top, &["add", "-N", "a"]);
        fs::write(top.join("untracked"), "x").unwrap();
        let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(top).output().unwrap().stdout;
        let listed: Vec<_> = String::from_utf8(listed).unwrap().split_terminator('\0').map(str::to_owned).collect();
        for version in ["2", "3", "4"] {
            git(top, &["update-index", "--index-version", version]);
            let found = tracked_files(&top.join("src/deep")).unwrap();
            assert_eq!((found.top.as_path(), found.files), (top, listed.clone()), "version {version}");
        }
    }

    #[test]
    fn the_index_names_the_repositories_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        git(top, &["init", "-q", "."]);
        assert_eq!(nested_repositories(top), Some(vec![]));
        let commit = "160000,1234567890123456789012345678901234567890,vendor/lib";
        git(top, &["update-index", "--add", "--cacheinfo", commit]);
        assert_eq!(nested_repositories(top), Some(vec![top.join("vendor/lib")]));
        git(top, &["update-index", "--split-index"]);
        assert_eq!(nested_repositories(top), None);
    }

    #[test]
    fn an_index_that_does_not_list_everything_is_not_believed() {
        let parse = |bytes: &[u8]| parse(bytes, |_, _| ());
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"DIRC\0\0\0\x05\0\0\0\0"), None);
        assert_eq!(parse(b"DIRC\0\0\0\x02\0\0\0\x01short"), None);
        let split = [b"DIRC\0\0\0\x02\0\0\0\0link\0\0\0\x01x".as_slice(), &[0; 20]].concat();
        assert_eq!(parse(&split), None);
    }
}
