//! Programs that obey what lies where they run, and who of this engine may write that.

use std::sync::Arc;

use crate::{
    kernel::{Considered, Target},
    model::{Obeyed, Obeys, SanitizedPath, Shown, StartDir, Tier},
};

use super::{Error, shared::Shared};

/// What makes git run something, in a repository.
const OBEYED_BY_GIT: [&str; 4] = ["config", "config.worktree", "commondir", "hooks"];

/// The most directories above one that are looked at; a path has few.
const MAX_ABOVE: usize = 64;

/// A file that says where a repository is has one short line.
const MAX_POINTER: u64 = 4096;

impl Shared {
    /// The same, but with the tier that each part has where agents may write what it obeys.
    pub(super) fn trusting_nobody(&self, mut understood: Considered) -> Result<Considered, Error> {
        let Considered { uses, cwd, tier, tier_reason, .. } = &mut understood;
        let Target::Command { parts: Some(parts), .. } = &mut uses.own.target else { return Ok(understood) };
        for part in parts.iter_mut().filter(|part| part.tier == Tier::Safe) {
            for obeys in std::mem::take(&mut part.obeys) {
                let Some(why) = self.distrusted(&obeys, cwd.as_ref())? else { continue };
                part.tier = Tier::Dangerous;
                if *tier == Some(Tier::Safe) {
                    (*tier, *tier_reason) = (Some(Tier::Dangerous), Arc::from(format!("Dangerous command: {why}")));
                }
                break;
            }
        }
        Ok(understood)
    }

    /// Why the files that a program obeys are not to be trusted, if they are not.
    fn distrusted(&self, obeys: &Obeys, cwd: Option<&SanitizedPath>) -> Result<Option<String>, Error> {
        let program = Shown(&obeys.program);
        let mut paths = Vec::new();
        for dir in &obeys.dirs {
            let Some(dir) = self.runs_in_directory(dir, obeys, cwd) else {
                let why = format!("`{program}` obeys files of its directory, and nobody can tell which that is");
                return Ok(Some(why));
            };
            match obeys.files {
                Obeyed::Repository => self.of_repository(&dir, &mut paths),
                Obeyed::Files(names) => self.of_files(&dir, names, &mut paths),
            }
        }
        self.look(|state, now| {
            let shown = |path: &SanitizedPath| Shown(path.as_str()).to_string();
            if let Some((agent, path)) = state.writer_of(&paths, now) {
                return Some(format!("`{program}` obeys `{}`, which {agent} may write", shown(path)));
            }
            let path = state.written_once(&paths)?;
            Some(format!("`{program}` obeys `{}`, which an agent could write once", shown(path)))
        })
    }

    /// The directory from which the program looks for what it obeys.
    fn runs_in_directory(&self, dir: &StartDir, obeys: &Obeys, cwd: Option<&SanitizedPath>) -> Option<SanitizedPath> {
        let start = match dir {
            StartDir::Own => cwd?.as_str(),
            StartDir::Real(path) => path.as_str(),
            StartDir::Said(_) | StartDir::Unknown => return None,
        };
        let into =
            obeys.into.as_deref().filter(|into| !into.chars().any(char::is_control) && !into.starts_with('~'))?;
        let path = if into.starts_with('/') { into.to_owned() } else { format!("{start}/{into}") };
        self.paths.real(&path).ok().map(|real| real.path)
    }

    fn exists(&self, path: &str) -> Option<SanitizedPath> {
        self.paths.real(path).ok().filter(|real| real.identity.is_some()).map(|real| real.path)
    }

    /// What git obeys in `dir`. It takes the first directory on the way up that holds a repository, or is one.
    fn of_repository(&self, dir: &SanitizedPath, paths: &mut Vec<SanitizedPath>) {
        let mut add = |path: String| paths.extend(path.parse::<SanitizedPath>());
        for dir in upwards(dir) {
            let at = |name: &str| format!("{}/{name}", dir.trim_end_matches('/'));
            if let Some(git) = self.exists(&at(".git")) {
                let Some(to) = pointed_to(&git) else {
                    return OBEYED_BY_GIT.iter().for_each(|name| add(format!("{git}/{name}")));
                };
                add(git.into());
                let path = if to.starts_with('/') { to } else { at(&to) };
                let repository = self.exists(&path).map_or(path, String::from);
                return OBEYED_BY_GIT.iter().for_each(|name| add(format!("{repository}/{name}")));
            }
            if self.exists(&at("HEAD")).is_some() {
                // A repository without a working tree: what is in it is the repository.
                return OBEYED_BY_GIT.iter().for_each(|name| add(at(name)));
            }
            // Whoever may write these makes it one.
            add(at("HEAD"));
            add(at(".git"));
        }
    }

    fn of_files(&self, dir: &SanitizedPath, names: &[&str], paths: &mut Vec<SanitizedPath>) {
        for name in names {
            // Where a link leads, somebody may write.
            paths.extend(self.exists(&format!("{dir}/{name}")));
        }
        for dir in upwards(dir) {
            let at = |name: &&str| format!("{}/{name}", dir.trim_end_matches('/')).parse::<SanitizedPath>();
            paths.extend(names.iter().filter_map(|name| at(name).ok()));
        }
    }
}

/// The directory, and those above it.
fn upwards(dir: &SanitizedPath) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir.as_str()), |dir| above(dir)).take(MAX_ABOVE)
}

fn above(dir: &str) -> Option<&str> {
    let dir = dir.trim_end_matches('/');
    dir.rfind('/').and_then(|at| dir.get(..at.max(1)))
}

/// The directory that a `.git` names which is a file.
fn pointed_to(git: &SanitizedPath) -> Option<String> {
    let is_small = std::fs::metadata(git.as_path()).is_ok_and(|found| found.is_file() && found.len() <= MAX_POINTER);
    let text = is_small.then(|| std::fs::read_to_string(git.as_path()).ok()).flatten()?;
    Some(text.strip_prefix("gitdir:")?.trim().to_owned())
}
