//! What a command may do, normalised: real paths, sorted, each once.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{Command, Domain, Limits, ProfileError, SandboxError};
use crate::{
    fs::{self, RealPath, ResolveError},
    kernel::ExecScope,
    model::{Action, FileIdentity, Permission, SanitizedPath, SensitiveName, Shown, is_sensitive_name, sensitive_part},
    seam::homes,
};

const UNREADABLE: &str =
    "a word of the command is not UTF-8, or a variable has a name that is none: nobody could judge it";

/// Whether sensitive names below a write root are kept from being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "they are or they are not")]
pub enum Guard {
    /// They are, unless a right names them.
    Sensitive,
    /// They are not.
    Nothing,
}

/// What a command may do. Reads everything that is not hidden; writes below its roots; nothing else.
///
/// Two profiles that allow the same are equal, and read the same in every format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub(super) cwd: SanitizedPath,
    pub(super) write: BTreeMap<SanitizedPath, FileIdentity>,
    pub(super) hidden: Vec<SanitizedPath>,
    /// Like hidden, but not there now; and not to be there later.
    pub(super) absent: Vec<SanitizedPath>,
    /// Like hidden, but processes: a child sees its own only.
    pub(super) processes: Vec<SanitizedPath>,
    /// Below the write roots, but not written: denied by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unwritten: Vec<SanitizedPath>,
    /// What could neither be followed nor be kept from a command, and why.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) unheld: BTreeSet<String>,
    pub(super) network: bool,
    /// If there are any, these hosts and no others.
    pub(super) domains: BTreeSet<Domain>,
    pub(super) events: bool,
    pub(super) guard: Guard,
    /// Names that are sensitive besides the built-in ones.
    pub(super) sensitive: Vec<SensitiveName>,
    pub(super) limits: Limits,
}

impl Profile {
    /// The profile of a command with this scope; `hidden` is what nobody may even read.
    ///
    /// # Errors
    ///
    /// A root that is the whole machine or holds the home directory, and one that is not there.
    pub fn of(scope: &ExecScope, hidden: impl IntoIterator<Item = SanitizedPath>) -> Result<Profile, ProfileError> {
        Profile::guarding(scope, hidden, [])
    }

    /// The same, where these names are sensitive too.
    ///
    /// # Errors
    ///
    /// As [`Profile::of`].
    pub fn guarding(
        scope: &ExecScope,
        hidden: impl IntoIterator<Item = SanitizedPath>,
        sensitive: impl IntoIterator<Item = SensitiveName>,
    ) -> Result<Profile, ProfileError> {
        let cwd = resolved(scope.working_dir())?.0;
        let mut profile = Profile {
            cwd,
            write: BTreeMap::new(),
            hidden: Vec::new(),
            absent: Vec::new(),
            processes: Vec::new(),
            unwritten: Vec::new(),
            unheld: BTreeSet::new(),
            network: false,
            domains: BTreeSet::new(),
            events: false,
            guard: Guard::Sensitive,
            sensitive: sensitive.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
            limits: Limits::default(),
        }
        .hiding(hidden);
        let homes: Vec<_> =
            homes().iter().filter_map(|home| Some(fs::real(home.as_str()).ok()?.path().clone())).collect();
        for permission in scope.iter() {
            match permission {
                Permission::Events => profile.events = true,
                Permission::Network => profile.network = true,
                // A capability of the host program: nothing that a sandbox could let through.
                Permission::Tool(_) => {}
                Permission::Path(_, path) => {
                    let (path, identity) = resolved(&path)?;
                    if homes.iter().any(|home| path.contains(home)) || path == SanitizedPath::root() {
                        return Err(ProfileError::TooWide(path));
                    }
                    profile.write.insert(path, identity);
                }
            }
        }
        profile.drop_roots_that_add_nothing();
        Ok(profile)
    }

    /// A root below another one adds nothing, unless it names what is sensitive there.
    fn drop_roots_that_add_nothing(&mut self) {
        let all: Vec<_> = self.write.keys().cloned().collect();
        let sensitive = &self.sensitive;
        let has_same_part = |one: &SanitizedPath, other: &SanitizedPath| {
            sensitive_part(one, sensitive) == sensitive_part(other, sensitive)
        };
        self.write.retain(|path, _| {
            !all.iter().any(|other| other != path && other.contains(path) && has_same_part(other, path))
        });
    }

    /// The same without reading these besides, there or not.
    pub(in crate::edge) fn hiding(mut self, paths: impl IntoIterator<Item = SanitizedPath>) -> Profile {
        let reals: Vec<_> = paths.into_iter().filter_map(|path| self.followed(&path)).collect();
        let (processes, hidden): (Vec<_>, Vec<_>) = reals.into_iter().partition(|real| is_process(real.path()));
        let (there, absent): (Vec<_>, Vec<_>) = hidden.into_iter().partition(|real| real.identity().is_some());
        let with = |known: Vec<SanitizedPath>, more: Vec<RealPath>| {
            outermost(known.into_iter().chain(more.into_iter().map(|real| real.path().clone())))
        };
        let (hidden, absent) = (with(self.hidden, there), with(self.absent, absent));
        Profile { hidden, absent, processes: with(self.processes, processes), ..self }
    }

    /// The same without writing these besides, there or not, as far as they lie below its write roots.
    pub(in crate::edge) fn not_writing(mut self, paths: impl IntoIterator<Item = SanitizedPath>) -> Profile {
        let reals: Vec<_> = paths.into_iter().filter_map(|path| self.followed(&path)).collect();
        let below = reals.into_iter().map(|real| real.path().clone()).filter(|path| self.root_of(path).is_some());
        let unwritten = outermost(self.unwritten.iter().cloned().chain(below));
        Profile { unwritten, ..self }
    }

    /// What a path really is; where this user cannot follow it, the last thing that it can, which is kept in its place: who
    /// owns a directory can open it again.
    fn followed(&mut self, path: &SanitizedPath) -> Option<RealPath> {
        let why = match fs::real(path.as_str()) {
            Ok(real) => return Some(real),
            // Nothing has such a name; and such a link is a process's own.
            Err(ResolveError::TooLong(_) | ResolveError::MagicLink(_)) => return None,
            Err(why) => why,
        };
        let above = path.as_path().ancestors().skip(1).filter_map(Path::to_str).find_map(|above| fs::real(above).ok());
        if let (Some(above), ResolveError::Denied(_) | ResolveError::NotADirectory(_)) = (above, &why) {
            return Some(above);
        }
        self.unheld.insert(format!("`{}` cannot be kept from a command: {why}", Shown(path.as_str())));
        None
    }

    /// What it does not write although it lies below a write root: what is there, and what is not.
    pub(super) fn unwritten(&self) -> (Vec<SanitizedPath>, Vec<SanitizedPath>) {
        let is_hidden = |path: &SanitizedPath| self.hidden.iter().any(|hidden| hidden.contains(path));
        let seen = self.unwritten.iter().filter(|path| !is_hidden(path)).cloned();
        let is_missing = |why: &io::Error| why.kind() == io::ErrorKind::NotFound;
        seen.partition(|path| !std::fs::symlink_metadata(path).as_ref().is_err_and(is_missing))
    }

    /// The same with other limits.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Profile {
        Profile { limits, ..self }
    }

    /// The same, but sensitive names below the write roots may be written like any other.
    ///
    /// # Authority
    ///
    /// The command may leave files that other programs run: hooks, editor tasks, start-up files.
    #[must_use]
    pub fn without_guard(self) -> Profile {
        Profile { guard: Guard::Nothing, ..self }
    }

    /// The same, with a network that is these hosts only. A profile without a network has none of them.
    ///
    /// `@network` itself knows no hosts. With bubblewrap, the command gets a network of its own that holds a proxy and
    /// nothing else; without, such a profile does not run.
    #[must_use]
    pub fn only_to(self, domains: impl IntoIterator<Item = Domain>) -> Profile {
        Profile { domains: domains.into_iter().collect(), ..self }
    }

    /// What running `command` under this profile is, to be decided: its words with its own environment as a shell would
    /// read them, and the rights of this profile, under just this profile: where it stands, what is hidden, its limits.
    /// Whatever differs is another action.
    ///
    /// # Errors
    ///
    /// A word that is not UTF-8, or a variable with a name that is none: nobody could read what they say yes to.
    pub fn action(&self, command: &Command) -> Result<Action, SandboxError> {
        let line =
            command.line().ok_or_else(|| SandboxError::Io(io::Error::new(io::ErrorKind::InvalidInput, UNREADABLE)))?;
        let profile = serde_json::to_string(self).map_err(|why| SandboxError::Io(why.into()))?;
        let circumstances = format!("{profile} {}", command.streams());
        let needs = self.permissions().collect();
        Ok(Action { needs, in_sandbox: true, ..Action::command(&line).under(&circumstances) })
    }

    fn permissions(&self) -> impl Iterator<Item = Permission> {
        let network = self.network.then_some(Permission::Network);
        let events = self.events.then_some(Permission::Events);
        let write = self.write.keys().cloned().map(Permission::write);
        network.into_iter().chain(events).chain(write)
    }

    /// The working directory and the write roots: where a command finds what it was meant to work with.
    pub(in crate::edge) fn roots(&self) -> Vec<SanitizedPath> {
        std::iter::once(&self.cwd).chain(self.write.keys()).cloned().collect()
    }

    /// Where the command stands.
    pub fn cwd(&self) -> &SanitizedPath {
        &self.cwd
    }

    /// What it may write.
    pub fn write_roots(&self) -> impl Iterator<Item = &SanitizedPath> {
        self.write.keys()
    }

    /// What it may not even read.
    pub fn hidden(&self) -> &[SanitizedPath] {
        &self.hidden
    }

    /// Whether it has a network.
    pub fn network(&self) -> bool {
        self.network
    }

    /// Whether it reaches the engine.
    pub fn events(&self) -> bool {
        self.events
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The hosts that its network is kept to; if there are none, it is not kept to any.
    pub fn domains(&self) -> impl Iterator<Item = &Domain> {
        self.domains.iter()
    }

    /// Whether it has a network, and not all of it.
    pub(super) fn is_kept_to_hosts(&self) -> bool {
        self.network && !self.domains.is_empty()
    }

    /// The deepest part of `path` that is sensitive.
    pub(super) fn sensitive_part<'p>(&self, path: &'p SanitizedPath) -> Option<&'p str> {
        sensitive_part(path, &self.sensitive)
    }

    /// True if a file or directory with this name is sensitive, in the directory `above` with `depth` names above its own.
    pub(super) fn is_sensitive_name(&self, name: &str, above: &str, depth: usize) -> bool {
        is_sensitive_name(name, above, depth, &self.sensitive)
    }

    /// The innermost write root that holds `path`.
    pub(super) fn root_of(&self, path: &SanitizedPath) -> Option<&SanitizedPath> {
        self.write.keys().filter(|root| root.contains(path)).max_by_key(|root| root.as_str().len())
    }
}

/// What a root really is. One that is not there is no root: whoever makes it later decides what it is.
fn resolved(path: &SanitizedPath) -> Result<(SanitizedPath, FileIdentity), ProfileError> {
    let real = fs::real(path.as_str()).map_err(|why| ProfileError::NotThere(path.clone(), why.to_string()))?;
    match real.identity() {
        Some(identity) => Ok((real.path().clone(), identity)),
        None => Err(ProfileError::NotThere(
            path.clone(),
            format!("it does not exist; run `mkdir -p {}`", fs::for_shell(path.as_path())),
        )),
    }
}

/// Whether it is a process, or something of one, in procfs.
fn is_process(path: &SanitizedPath) -> bool {
    let name = path.as_str().strip_prefix("/proc/").and_then(|rest| rest.split('/').next());
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Sorted, and nothing that lies below another one.
fn outermost(paths: impl Iterator<Item = SanitizedPath>) -> Vec<SanitizedPath> {
    let mut all: Vec<_> = paths.collect();
    all.sort();
    all.dedup();
    let covered = |path: &SanitizedPath| all.iter().any(|other| other != path && other.contains(path));
    all.iter().filter(|path| !covered(path)).cloned().collect()
}
