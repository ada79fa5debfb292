//! Programs that execute configuration files of their directory, and the agents that may write those files or the
//! programs themselves.

use std::sync::Arc;

use bestow_command::internal::is_builtin;

use crate::{
    fs::read_regular_file,
    kernel::{ResolvedAction, Target},
    model::{AgentId, Escaped, Obeyed, Obeys, SanitizedPath, SpokenPart, StartDir, Tier},
};

use super::{Engine, Error, shared::Shared};

/// The entries of a repository that can make git run a program.
const OBEYED_BY_GIT: [&str; 4] = ["config", "config.worktree", "commondir", "hooks"];

/// Directories of other version control, whose programs run what is configured there.
const OTHER_CHECKOUTS: [&str; 4] = [".hg", ".bzr", ".fslckout", "_FOSSIL_"];

/// The name that stands for the repository of any version control.
const CHECKOUT: &str = ".git";

/// The maximum number of repositories in a repository that are examined.
const MAX_NESTED: usize = 256;

/// The maximum number of ancestor directories that are examined; a path has few.
const MAX_ABOVE: usize = 64;

/// The maximum size of a file that names the location of a repository. Such a file has one short line.
const MAX_POINTER: u64 = 4096;

impl Engine {
    /// Returns the first of `paths` that an agent of any owner may write, or something below it, with that agent; or
    /// that an agent was able to write earlier, without an agent. What was written then may still be there.
    ///
    /// A program that runs what is at such a path does what an agent wants.
    ///
    /// # Errors
    ///
    /// The engine is broken ([`Error`]).
    pub fn agent_writable(&self, paths: &[SanitizedPath]) -> Result<Option<(SanitizedPath, Option<AgentId>)>, Error> {
        self.shared.look(|state, now| {
            if let Some((agent, path)) = state.writer_of(paths, now) {
                return Some((path.clone(), Some(agent.clone())));
            }
            state.written_once(paths).map(|path| (path.clone(), None))
        })
    }
}

/// Returns true if a part may start a program besides the builtins of its shell.
fn runs_a_program(part: &SpokenPart) -> bool {
    let mut programs =
        part.runs.iter().chain(&part.starts).map(|spoken| spoken.words.first().and_then(|word| word.known()));
    programs.any(|program| program.is_none_or(|program| !is_builtin(program)))
}

fn follows_files(obeys: &Obeys) -> Arc<str> {
    format!("`{}` follows files of its directory", Escaped(&obeys.program)).into()
}

impl Shared {
    /// Raises the tier of each part that obeys files which agents may write.
    pub(super) fn trusting_nobody(&self, mut understood: ResolvedAction) -> Result<ResolvedAction, Error> {
        let ResolvedAction { uses, cwd, tier, tier_reason, strictly, .. } = &mut understood;
        let Target::Command { parts: Some(parts), doing, .. } = &mut uses.own.target else { return Ok(understood) };
        let is_open = self.look(|state, now| {
            let around = &self.around_programs;
            state.writer_of(around, now).is_some() || state.written_once(around).is_some()
        })?;
        let steered = self.steered(cwd.as_ref())?;
        // The parts of a line mostly obey the same files.
        let mut looked: Vec<(Obeys, Option<Arc<str>>)> = Vec::new();
        for part in parts.iter_mut().filter(|part| part.tier == Tier::Safe) {
            let replaced = match &steered {
                Some(why) if runs_a_program(part) => Some(why.clone()),
                Some(_) | None if is_open => self.replaced(part)?,
                Some(_) | None => None,
            };
            if let Some(why) = replaced {
                part.tier = Tier::Dangerous;
                *doing = None;
                if *tier == Some(Tier::Safe) {
                    (*tier, *tier_reason) = (Some(Tier::Dangerous), Arc::from(format!("Dangerous command: {why}")));
                }
                continue;
            }
            for obeys in std::mem::take(&mut part.obeys) {
                let known = looked.iter().find(|(other, _)| *other == obeys).map(|(_, why)| why.clone());
                // Where only reads happen, a repository that no agent may write is trusted, and no other file.
                let is_trusted = !*strictly || matches!(obeys.files, Obeyed::Repository | Obeyed::Checkout);
                let why = match known {
                    _ if !is_trusted => Some(follows_files(&obeys)),
                    Some(why) => why,
                    None => {
                        let why = self.distrusted(&obeys, cwd.as_ref())?;
                        looked.push((obeys, why.clone()));
                        why
                    }
                };
                let Some(why) = why else { continue };
                part.tier = Tier::Dangerous;
                *doing = None;
                if *tier == Some(Tier::Safe) {
                    (*tier, *tier_reason) = (Some(Tier::Dangerous), Arc::from(format!("Dangerous command: {why}")));
                }
                break;
            }
        }
        Ok(understood)
    }

    /// Returns the reason why the files that a program obeys cannot be trusted, or none if they can.
    fn distrusted(&self, obeys: &Obeys, cwd: Option<&SanitizedPath>) -> Result<Option<Arc<str>>, Error> {
        let program = Escaped(&obeys.program);
        let mut paths = Vec::new();
        for dir in &obeys.dirs {
            let found = runs_in(dir, obeys, cwd).and_then(|dir| match obeys.files {
                Obeyed::Repository => self.of_repository(&dir, &mut paths),
                Obeyed::Checkout => self.of_checkout(&dir, &mut paths),
                Obeyed::Files(names) => {
                    if names.contains(&CHECKOUT) {
                        self.of_checkout(&dir, &mut paths)?;
                    }
                    self.of_files(&dir, names, &mut paths)
                }
            });
            if found.is_none() {
                let why = format!("`{program}` follows files of directories, and one of them is unknown");
                return Ok(Some(why.into()));
            }
        }
        Ok(self.written(&paths)?.map(|written| format!("`{program}` follows {written}").into()))
    }

    /// Returns the first of the paths that an agent may write, or could write earlier, and says which.
    fn written(&self, paths: &[SanitizedPath]) -> Result<Option<String>, Error> {
        let (written, doubtful) = self.look(|state, now| {
            let may_be_made = |path: &&SanitizedPath| state.may_be_made_by_commands(path);
            let doubtful: Vec<_> = paths.iter().filter(may_be_made).cloned().collect();
            if let Some((agent, path)) = state.writer_of(paths, now) {
                return (Some((path.clone(), Some(agent.clone()))), doubtful);
            }
            (state.written_once(paths).map(|path| (path.clone(), None)), doubtful)
        })?;
        let Some((path, writer)) = written else {
            let made = doubtful.iter().find(|path| self.exists(path.as_str()).is_some());
            return Ok(made.map(|path| format!("`{}`, which a confined command may have made", Escaped(path.as_str()))));
        };
        let path = path.as_str();
        // A grant may be for a part of a directory.
        let is_directory = self.exists(path).is_some() && self.paths.real(&at(path, "-")).is_ok();
        let which = if is_directory { "in which" } else { "which" };
        let who = writer.map_or("an agent was able to write earlier".to_owned(), |agent| format!("{agent} may write"));
        Ok(Some(format!("`{}`, {which} {who}", Escaped(path))))
    }

    /// Returns the reason why every program may load what an agent wrote: a variable of the environment leads there.
    fn steered(&self, cwd: Option<&SanitizedPath>) -> Result<Option<String>, Error> {
        for (name, value) in &self.program_variables {
            let separators = |c: char| matches!(c, ':' | ',' | ';' | '=') || c.is_whitespace();
            let mut paths = Vec::new();
            for text in value.split(separators).filter(|text| !text.is_empty()) {
                let absolute =
                    if text.starts_with('/') { Some(text.to_owned()) } else { cwd.map(|cwd| at(cwd.as_str(), text)) };
                paths.extend(absolute.and_then(|path| self.exists(&path)));
            }
            if let Some(written) = self.written(&paths)? {
                return Ok(Some(format!("`{}` leads programs to {written}", Escaped(name))));
            }
        }
        Ok(None)
    }

    /// Returns the reason why a program of a part may be one that an agent wrote, or none if it cannot. A shell takes
    /// the first program of its name in the directories of `PATH`. A program of a Python environment runs everything
    /// that is installed there.
    fn replaced(&self, part: &SpokenPart) -> Result<Option<String>, Error> {
        let programs = part.runs.iter().chain(&part.starts).filter_map(|spoken| spoken.words.first()?.known());
        for program in programs.filter(|program| !program.contains('/') && !is_builtin(program)) {
            let mut paths = Vec::new();
            for dir in &self.program_directories {
                let is_there = self.exists(&at(dir.as_str(), program)).is_some();
                let environment = above(dir.as_str()).filter(|above| self.exists(&at(above, "pyvenv.cfg")).is_some());
                match environment.filter(|_| is_there) {
                    Some(environment) => paths.extend(environment.parse::<SanitizedPath>()),
                    None => add(&mut paths, dir.as_str(), program),
                }
                if is_there {
                    break;
                }
            }
            if let Some(written) = self.written(&paths)? {
                return Ok(Some(format!("`{}` may be {written}", Escaped(program))));
            }
        }
        Ok(None)
    }

    fn exists(&self, path: &str) -> Option<SanitizedPath> {
        self.paths.real(path).ok().filter(|real| real.identity.is_some()).map(|real| real.path)
    }

    /// Returns the real path of a directory, which need not exist yet.
    fn directory(&self, dir: &str) -> Option<SanitizedPath> {
        self.paths.real(&at(dir, ".")).ok().map(|real| real.path)
    }

    /// Collects the paths that version control obeys in `dir`. That of another program than git counts if it is there.
    fn of_checkout(&self, dir: &str, paths: &mut Vec<SanitizedPath>) -> Option<()> {
        self.of_repository(dir, paths)?;
        let dir = self.directory(dir)?;
        for dir in upwards(&dir) {
            paths.extend(OTHER_CHECKOUTS.iter().filter_map(|name| self.exists(&at(dir, name))));
        }
        Some(())
    }

    /// Collects the paths that git obeys in `dir`. Git uses the first directory on the way up that contains a
    /// repository, or is one. Returns none if the directory or its submodules cannot be determined.
    fn of_repository(&self, dir: &str, paths: &mut Vec<SanitizedPath>) -> Option<()> {
        // Usually the repository is the directory `.git` in `dir`.
        if self.exists(&[dir, "/.git/"].concat()).is_some() {
            return self.of_top(dir, paths);
        }
        let dir = self.directory(dir)?;
        for dir in upwards(&dir) {
            if self.exists(&at(dir, ".git")).is_some() {
                return self.of_top(dir, paths);
            }
            if self.exists(&at(dir, "HEAD")).is_some() {
                // This is a bare repository: it has no working tree, and its content is the repository.
                OBEYED_BY_GIT.iter().for_each(|name| add(paths, dir, name));
                return Some(());
            }
            // A process that may write these makes this directory a repository.
            add(paths, dir, "HEAD");
            add(paths, dir, ".git");
        }
        Some(())
    }

    /// Collects the paths that git obeys in a repository and in its submodules, in each of which it runs as well.
    fn of_top(&self, top: &str, paths: &mut Vec<SanitizedPath>) -> Option<()> {
        let outermost = self.of_git(top, None, paths)?;
        let modules = at(outermost.as_str(), "modules").parse::<SanitizedPath>().ok();
        let mut waiting = vec![self.directory(top)?];
        let mut count = 0;
        while let Some(top) = waiting.pop() {
            for nested in self.paths.nested_repositories(&top)? {
                count += 1;
                if count > MAX_NESTED {
                    return None;
                }
                match self.of_git(nested.as_str(), modules.as_ref(), paths) {
                    Some(_) => waiting.push(self.directory(nested.as_str())?),
                    // A process that may write it makes it a repository.
                    None => add(paths, nested.as_str(), ".git"),
                }
            }
        }
        Some(())
    }

    /// Collects the paths that git obeys in the repository whose working tree is `top`. Returns the directory of the
    /// repository, or none if there is no repository. A file `.git` that leads into `modules` is as trusted as those.
    fn of_git(
        &self,
        top: &str,
        modules: Option<&SanitizedPath>,
        paths: &mut Vec<SanitizedPath>,
    ) -> Option<SanitizedPath> {
        let git = self.exists(&at(top, ".git"))?;
        let target = pointed_to(&git).map(|to| if to.starts_with('/') { to } else { at(top, &to) });
        let target = target.and_then(|path| self.exists(&path).or_else(|| path.parse().ok()));
        let is_module = target.as_ref().is_some_and(|to| modules.is_some_and(|modules| modules.contains(to)));
        if !is_module && std::fs::metadata(git.as_path()).is_ok_and(|found| found.is_file()) {
            paths.push(git.clone());
        }
        let repository = target.unwrap_or(git);
        OBEYED_BY_GIT.iter().for_each(|name| add(paths, repository.as_str(), name));
        Some(repository)
    }

    fn of_files(&self, dir: &str, names: &[&str], paths: &mut Vec<SanitizedPath>) -> Option<()> {
        let dir = self.directory(dir)?;
        let names = || names.iter().filter(|name| **name != CHECKOUT);
        for name in names() {
            // An agent may be able to write the target of a link.
            paths.extend(self.exists(&at(dir.as_str(), name)));
        }
        for dir in upwards(&dir) {
            names().for_each(|name| add(paths, dir, name));
        }
        Some(())
    }
}

/// Returns the directory from which the program searches its configuration files, as written.
fn runs_in(dir: &StartDir, obeys: &Obeys, cwd: Option<&SanitizedPath>) -> Option<String> {
    let start = match dir {
        StartDir::Own => cwd?.as_str(),
        StartDir::Real(path) => path.as_str(),
        StartDir::Said(_) | StartDir::Unknown => return None,
    };
    let into = obeys.into.as_deref().filter(|into| !into.chars().any(char::is_control) && !into.starts_with('~'))?;
    Some(match into {
        "." => start.to_owned(),
        into if into.starts_with('/') => into.to_owned(),
        into => [start, "/", into].concat(),
    })
}

/// Joins `dir` and `name`.
fn at(dir: &str, name: &str) -> String {
    [dir.trim_end_matches('/'), "/", name].concat()
}

fn add(paths: &mut Vec<SanitizedPath>, dir: &str, name: &str) {
    paths.extend(at(dir, name).parse::<SanitizedPath>());
}

/// Returns the directory and its ancestors.
fn upwards(dir: &SanitizedPath) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir.as_str()), |dir| above(dir)).take(MAX_ABOVE)
}

fn above(dir: &str) -> Option<&str> {
    let dir = dir.trim_end_matches('/');
    dir.rfind('/').and_then(|at| dir.get(..at.max(1)))
}

/// Returns the directory that a `.git` file points to, as git reads it.
fn pointed_to(git: &SanitizedPath) -> Option<String> {
    let text = String::from_utf8(read_regular_file(git.as_path(), MAX_POINTER).ok()?).ok()?;
    let named = text.strip_prefix("gitdir: ")?.trim_end_matches(['\r', '\n']);
    (!named.contains('\0')).then(|| named.to_owned())
}
