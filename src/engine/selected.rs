//! The files below a directory that a search reads: compiled globs, and what the disk knows about its paths.

use bestow_command::internal::is_builtin;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{
    fs::Ignoring,
    model::{Said, SanitizedPath, Selection, SpokenPart, Tier},
    ports::Paths,
};

/// The files that a search reads below a directory.
#[derive(Debug)]
pub(super) struct SelectedFiles {
    root: SanitizedPath,
    selection: Selection,
    only: Option<GlobSet>,
    without: GlobSet,
    without_directories: GlobSet,
    /// The files in the index of the repository, if it decides what is read.
    tracked: Option<Vec<SanitizedPath>>,
}

impl SelectedFiles {
    /// Compiles a selection for the files below `root`. Globs that do not compile select and leave out nothing.
    ///
    /// With `trusts_names` false, neither names nor the index are a reason to leave out a file: the same action may
    /// change ignore files and the index.
    pub(super) fn new(root: &SanitizedPath, selection: &Selection, trusts_names: bool, paths: &dyn Paths) -> Self {
        let mut selection = selection.clone();
        if !trusts_names || std::env::var_os("RIPGREP_CONFIG_PATH").is_some() {
            (selection.skips_hidden, selection.skips_ignored) = (false, false);
        }
        if !trusts_names {
            (selection.only_tracked, selection.skips_ignored_by_git) = (false, false);
        }
        let compile = |globs: &[_], any_case| set_of(root, globs, any_case);
        let only = (!selection.only.is_empty()).then(|| compile(&selection.only, true)).flatten();
        let without = compile(&selection.without, false).unwrap_or_default();
        let without_directories = compile(&selection.without_directories, false).unwrap_or_default();
        let asks_index = selection.only_tracked || selection.skips_ignored_by_git;
        let tracked = asks_index.then(|| tracked_below(root, paths)).flatten();
        SelectedFiles { root: root.clone(), selection, only, without, without_directories, tracked }
    }

    /// Returns true if the search may leave out any file.
    pub(super) fn is_conditional(&self) -> bool {
        self.selection.is_conditional
    }

    /// Returns true if the search may read `path`, or something below it.
    pub(super) fn may_include(&self, path: &SanitizedPath, paths: &dyn Paths) -> bool {
        if !self.root.contains(path) || *path == self.root {
            return true;
        }
        let is_tracked = self.tracked.as_ref().map(|tracked| tracked.iter().any(|file| path.contains(file)));
        if self.selection.only_tracked && is_tracked == Some(false) {
            return false;
        }
        let is_directory = paths.real(&[path.as_str(), "/-"].concat()).is_ok();
        let Some(steps) = steps(&self.root, path) else { return true };
        if self.selection.skips_ignored_by_git && is_tracked != Some(true) {
            let is_kept = |(at, step): (usize, &SanitizedPath)| {
                paths.read_git_ignore_files(step, is_directory || at + 1 < steps.len()) != Ignoring::Ignored
            };
            return steps.iter().enumerate().all(is_kept);
        }
        let (directories, file) = if is_directory { (steps.as_slice(), None) } else { split_last(&steps) };
        if directories.iter().any(|path| self.without_directories.is_match(path.as_path())) {
            return false;
        }
        if let Some(file) = file {
            match &self.only {
                Some(only) => return only.is_match(file.as_path()),
                None if self.without.is_match(file.as_path()) => return false,
                None => {}
            }
        }
        let Selection { skips_hidden, skips_ignored, .. } = self.selection;
        let is_left_out = |step: &SanitizedPath, is_directory: bool| match paths.read_ignore_files(step, is_directory) {
            Ignoring::TakenBack => false,
            Ignoring::Ignored if skips_ignored => true,
            Ignoring::Ignored | Ignoring::Unmentioned => skips_hidden && is_hidden(step),
        };
        let leaves_out = skips_hidden || skips_ignored;
        // A glob takes back a directory that an ignore file leaves out.
        let is_chosen = |step: &SanitizedPath| self.only.as_ref().is_some_and(|only| only.is_match(step.as_path()));
        let left_out = directories.iter().any(|step| leaves_out && !is_chosen(step) && is_left_out(step, true))
            || file.is_some_and(|file| leaves_out && is_left_out(file, false));
        !left_out
    }
}

fn is_hidden(path: &SanitizedPath) -> bool {
    path.as_str().rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}

fn split_last(steps: &[SanitizedPath]) -> (&[SanitizedPath], Option<&SanitizedPath>) {
    match steps.split_last() {
        Some((last, above)) => (above, Some(last)),
        None => (steps, None),
    }
}

/// Returns the paths on the way from `root` to `path`, without `root`.
fn steps(root: &SanitizedPath, path: &SanitizedPath) -> Option<Vec<SanitizedPath>> {
    let start = root.as_str().trim_end_matches('/').len();
    let ends = path.as_str().match_indices('/').map(|(at, _)| at).filter(|at| *at > start);
    let ends = ends.chain([path.as_str().len()]);
    ends.map(|end| path.as_str().get(..end)?.parse().ok()).collect()
}

/// Returns the files below `root` that the index of its repository lists. Returns none if they are unknown.
fn tracked_below(root: &SanitizedPath, paths: &dyn Paths) -> Option<Vec<SanitizedPath>> {
    let files = tracked_files(root, paths)?;
    Some(files.into_iter().filter(|file| root.contains(file)).collect())
}

/// The commands of git that change no file of the working tree.
const STORING: [&str; 6] = ["add", "stage", "commit", "push", "fetch", "tag"];

/// The commands of git that change files of the working tree, perhaps its ignore files.
const CHANGING: [&str; 5] = ["checkout", "restore", "rm", "stash", "reset"];

/// The builtins that change nothing which a later command of the line obeys.
const PLAIN_BUILTINS: [&str; 8] = ["cd", "echo", "printf", "pwd", "test", "[", "true", ":"];

/// Returns true if what git leaves out is still the same when a line of these parts runs git: everything else in the
/// line only reads, and only its last command may change files of the working tree.
pub(super) fn leaves_out_the_same(text: &str, parts: &[SpokenPart]) -> bool {
    // A variable may name another index. Its name is written out, unless a line is continued in it.
    if text.contains("GIT_") || text.contains("\\\n") {
        return false;
    }
    let mut may_go_on = true;
    parts.iter().all(|part| {
        let mut programs = part.runs.iter().chain(&part.starts).map(|spoken| spoken.words.first()?.known());
        if part.tier == Tier::Safe {
            let is_plain = |program: &str| !is_builtin(program) || PLAIN_BUILTINS.contains(&program);
            return programs.all(|program| program.is_some_and(is_plain));
        }
        if !programs.all(|program| program == Some("git")) {
            return false;
        }
        let words = part.runs.as_ref().map(|spoken| &spoken.words[..]);
        let mut words = words.unwrap_or_default().iter().map(Said::known);
        let (Some(Some("git")), Some(Some(subcommand))) = (words.next(), words.next()) else { return false };
        let is_in_order = may_go_on;
        may_go_on = STORING.contains(&subcommand);
        is_in_order && (may_go_on || CHANGING.contains(&subcommand))
    })
}

/// Returns all files that the index of the repository around `start` lists. Returns none if they are unknown.
pub(super) fn tracked_files(start: &SanitizedPath, paths: &dyn Paths) -> Option<Vec<SanitizedPath>> {
    let tracked = paths.tracked_files(start)?;
    let top = tracked.top.to_str()?;
    // A file with a name that is no valid path cannot be compared, so nothing is known.
    tracked.files.iter().map(|file| format!("{top}/{file}").parse().ok()).collect()
}

/// Compiles globs of names, or of paths below `root` if they contain a `/`. Returns none if one is invalid.
fn set_of(root: &SanitizedPath, globs: &[smol_str::SmolStr], any_case: bool) -> Option<GlobSet> {
    let root = globset::escape(root.as_str().trim_end_matches('/'));
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        // Blanks at the end are no part of a glob, unless the last one is escaped.
        let glob = if glob.ends_with("\\ ") { glob } else { glob.trim_end() };
        let text = glob.strip_prefix("./").unwrap_or(glob);
        let text = text.strip_suffix("/**").unwrap_or(text).trim_end_matches('/');
        let text = if text.contains('/') {
            format!("{root}/{}", text.trim_start_matches('/'))
        } else {
            format!("{root}/**/{text}")
        };
        let content = format!("{text}/**");
        for form in [text, content] {
            set.add(GlobBuilder::new(&form).literal_separator(true).case_insensitive(any_case).build().ok()?);
        }
    }
    set.build().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ports::DiskPaths;

    /// A repository with hidden, ignored and usual files, some of them tracked.
    fn world() -> (tempfile::TempDir, SanitizedPath) {
        let directory = tempfile::tempdir().unwrap();
        let top = crate::fs::real(directory.path().to_str().unwrap()).unwrap().path().clone();
        fs::create_dir_all(directory.path().join("src/.cache")).unwrap();
        fs::create_dir_all(directory.path().join("build")).unwrap();
        for name in ["a.rs", ".env", "secret.txt", "src/b.rs", "src/.cache/x.rs", "build/y.rs"] {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        fs::write(directory.path().join(".gitignore"), "build/\nsecret.txt\n").unwrap();
        let git = |words: &[&str]| {
            std::process::Command::new("git").args(words).current_dir(&directory).output().unwrap();
        };
        git(&["init", "-q", "."]);
        git(&["add", "a.rs", "src/b.rs"]);
        (directory, top)
    }

    fn read(selection: &Selection) -> Vec<&'static str> {
        let (_world, top) = world();
        let selected = SelectedFiles::new(&top, selection, true, &DiskPaths);
        let names = ["a.rs", ".env", "secret.txt", "src/b.rs", "src/.cache/x.rs", "build/y.rs"];
        let may = |name: &&str| selected.may_include(&format!("{top}/{name}").parse().unwrap(), &DiskPaths);
        names.into_iter().filter(may).collect()
    }

    #[test]
    fn a_search_reads_what_its_options_select() {
        let all = Selection::default();
        let only =
            |globs: &[&str]| Selection { only: globs.iter().map(|glob| (*glob).into()).collect(), ..all.clone() };
        let skipping = Selection { skips_hidden: true, skips_ignored: true, ..all.clone() };
        assert_eq!(read(&all).len(), 6);
        assert_eq!(read(&skipping), ["a.rs", "src/b.rs"]);
        assert_eq!(
            read(&Selection { skips_hidden: false, ..skipping.clone() }),
            ["a.rs", ".env", "src/b.rs", "src/.cache/x.rs"]
        );
        assert_eq!(read(&only(&["*.txt"])), ["secret.txt"]);
        assert_eq!(
            read(&Selection { only: vec![".env".into()], ..skipping.clone() }),
            [".env"],
            "a glob takes it back"
        );
        assert_eq!(read(&only(&["src/*"])), ["src/b.rs", "src/.cache/x.rs"]);
        let without = |globs: &[&str]| globs.iter().map(|glob| (*glob).into()).collect::<Vec<_>>();
        assert_eq!(read(&Selection { without: without(&["*.rs", ".env*"]), ..all.clone() }), ["secret.txt"]);
        let directories = Selection { without_directories: without(&["src", "build"]), ..all.clone() };
        assert_eq!(read(&directories), ["a.rs", ".env", "secret.txt"]);
        assert_eq!(read(&Selection { only_tracked: true, ..all }), ["a.rs", "src/b.rs"]);
    }
}
