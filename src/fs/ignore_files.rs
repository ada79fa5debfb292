//! The files that tell search programs which names to leave out.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use globset::GlobBuilder;

use super::read_regular_file;

/// The names of such files in the directories above a path, and whether only searches in a repository obey them.
const IGNORE_FILES: [(&str, bool); 4] =
    [(".ignore", false), (".rgignore", false), (".gitignore", true), (".git/info/exclude", true)];

/// The maximum size of an ignore file that is read, in bytes.
const MAX_IGNORE_FILE_BYTES: u64 = 1 << 20;

/// The answer of the ignore files about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "an ignore file has two kinds of lines")]
pub enum Ignoring {
    /// No line matches it.
    Unmentioned,
    /// A line leaves it out, and no line takes it back.
    Ignored,
    /// A line with a `!` takes it back, or a file cannot be read.
    TakenBack,
}

/// Returns what the ignore files in the directories above `path`, and the one of the user, say about it.
pub(crate) fn read_ignore_files(path: &Path, is_directory: bool) -> Ignoring {
    read_files(path, is_directory, &IGNORE_FILES)
}

/// Returns what those of these files that git obeys say about `path`.
pub(crate) fn read_git_ignore_files(path: &Path, is_directory: bool) -> Ignoring {
    let [_, _, of_git @ ..] = &IGNORE_FILES;
    read_files(path, is_directory, of_git)
}

fn read_files(path: &Path, is_directory: bool, files: &[(&str, bool)]) -> Ignoring {
    let is_top = |above: &Path| fs::symlink_metadata(above.join(".git")).is_ok();
    // The patterns of a repository end at its top, and without a repository they have no meaning.
    let top = path.ancestors().skip(1).find(|above| is_top(above));
    let mut found = Ignoring::Unmentioned;
    for above in path.ancestors().skip(1) {
        for (name, only_in_repository) in files.iter().copied() {
            match said_by(&above.join(name), above, path, is_directory) {
                Ignoring::TakenBack => return Ignoring::TakenBack,
                Ignoring::Ignored if !only_in_repository || top.is_some_and(|top| above.starts_with(top)) => {
                    found = Ignoring::Ignored;
                }
                Ignoring::Ignored | Ignoring::Unmentioned => {}
            }
        }
    }
    let of_user = |file: PathBuf| said_by(&file, Path::new("/"), path, is_directory) == Ignoring::TakenBack;
    if files_of_user().any(of_user) { Ignoring::TakenBack } else { found }
}

/// Returns the ignore files of the user that this process runs as.
fn files_of_user() -> impl Iterator<Item = PathBuf> {
    let configured = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = env::home_dir().map(|home| home.join(".config"));
    configured.into_iter().chain(home).map(|directory| directory.join("git/ignore"))
}

/// Returns what one ignore file, whose patterns begin in `base`, says about a path.
fn said_by(file: &Path, base: &Path, path: &Path, is_directory: bool) -> Ignoring {
    let text = match read_regular_file(file, MAX_IGNORE_FILE_BYTES).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return Ignoring::TakenBack,
        Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ignoring::Unmentioned;
        }
        Err(_) => return Ignoring::TakenBack,
    };
    let Ok(below) = path.strip_prefix(base) else { return Ignoring::Unmentioned };
    let mut found = Ignoring::Unmentioned;
    for line in text.lines() {
        let line = line.trim_end();
        let (pattern, takes_back) = line.strip_prefix('!').map_or((line, false), |pattern| (pattern, true));
        if pattern.is_empty() || pattern.starts_with('#') {
            continue;
        }
        // A line that cannot be understood may take a path back, and leaves none out.
        match matches(pattern, below, is_directory) {
            Some(true) | None if takes_back => return Ignoring::TakenBack,
            Some(true) => found = Ignoring::Ignored,
            Some(false) | None => {}
        }
    }
    found
}

/// Returns true if a pattern of an ignore file matches a path below its directory. Returns none for an invalid pattern.
fn matches(pattern: &str, below: &Path, is_directory: bool) -> Option<bool> {
    let (pattern, only_directories) = pattern.strip_suffix('/').map_or((pattern, false), |pattern| (pattern, true));
    if only_directories && !is_directory {
        return Some(false);
    }
    let is_anchored = pattern.contains('/');
    let pattern = pattern.trim_start_matches('/');
    let pattern = if is_anchored { pattern.to_owned() } else { format!("**/{pattern}") };
    // Braces have no meaning in these files.
    let pattern = pattern.replace('{', "[{]").replace('}', "[}]");
    let glob = GlobBuilder::new(&pattern).literal_separator(true).backslash_escape(true).build().ok()?;
    Some(glob.compile_matcher().is_match(below))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_path_that_ignore_files_leave_out_is_not_read_by_git_either() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        Command::new("git").args(["init", "-q", "."]).current_dir(top).output().unwrap();
        fs::create_dir_all(top.join("a/build/x")).unwrap();
        let lines = "# a comment\n.env\n/build\n*.log\ndocs/*.tmp\nbuild/\nx[ab]\n{c}\n\\#d\n";
        fs::write(top.join(".gitignore"), lines).unwrap();
        fs::write(top.join("a/.gitignore"), "inner\n").unwrap();
        let names = [
            ".env",
            "a/.env",
            "build",
            "a/build",
            "x.log",
            "a/y.log",
            "docs/t.tmp",
            "a/docs/t.tmp",
            "xa",
            "xc",
            "{c}",
            "c",
            "#d",
            "d",
            "inner",
            "a/inner",
            "readme",
        ];
        for name in names {
            let path = top.join(name);
            let known = Command::new("git").args(["check-ignore", "-q", "--no-index", name]).current_dir(top).status();
            let is_directory = path.is_dir();
            let found = read_ignore_files(&path, is_directory) == Ignoring::Ignored;
            assert_eq!(found, known.unwrap().success(), "{name}");
        }
        assert_eq!(read_ignore_files(&top.join("readme"), false), Ignoring::Unmentioned);
        fs::write(top.join("a/.ignore"), "!.env\n").unwrap();
        assert_eq!(read_ignore_files(&top.join("a/.env"), false), Ignoring::TakenBack);
        assert_eq!(read_ignore_files(&top.join(".env"), false), Ignoring::Ignored);
        fs::write(top.join("a/.ignore"), [0xff, 0xfe]).unwrap();
        assert_eq!(read_ignore_files(&top.join("a/.env"), false), Ignoring::TakenBack);
    }
}
