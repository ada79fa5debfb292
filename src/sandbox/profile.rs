//! The permissions of a command in normal form: real paths, sorted, without duplicates.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{Command, Domain, Limits, ProfileError, SandboxError, hops::hops};
use crate::{
    fs::{self, RealPath, ResolveError},
    kernel::ExecScope,
    model::{
        Action, Escaped, FileIdentity, PathGlob, Permission, SanitizedPath, SensitiveName, is_sensitive_name,
        sensitive_part,
    },
    ports::homes,
};

const UNREADABLE: &str =
    "a word of the command is not UTF-8, or a variable has an invalid name: the engine cannot evaluate it";

/// The protection of sensitive names below the write roots against writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "they are or they are not")]
pub enum Guard {
    /// Sensitive names are read-only, unless a permission names them.
    Sensitive,
    /// Sensitive names have no protection.
    Nothing,
}

/// The permissions of a command. The command can read everything that is not hidden. It can write below its write roots
/// and nowhere else.
///
/// Two profiles with equal permissions and equal names of hidden paths compare as equal, and every format exports them
/// as equal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub(super) cwd: SanitizedPath,
    pub(super) write: BTreeMap<SanitizedPath, FileIdentity>,
    pub(super) hidden: Vec<SanitizedPath>,
    /// Hidden paths that do not exist now. The command cannot create them either.
    pub(super) absent: Vec<SanitizedPath>,
    /// Hidden paths in procfs that belong to processes. A command in a process namespace sees its own processes only.
    pub(super) processes: Vec<SanitizedPath>,
    /// Paths below the write roots that the command cannot write, because a rule denies them by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unwritten: Vec<SanitizedPath>,
    /// The names under which paths were hidden. The disk decides where they lead.
    #[serde(skip)]
    hidden_names: BTreeSet<SanitizedPath>,
    /// The names under which paths were made unwritable.
    #[serde(skip)]
    unwritten_names: BTreeSet<SanitizedPath>,
    /// Patterns of paths that the command can neither read nor write. The disk decides which paths they match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hidden_globs: Vec<PathGlob>,
    /// Patterns of paths below the write roots that the command cannot write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unwritten_globs: Vec<PathGlob>,
    /// Paths that the profile could neither follow nor keep from the command, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) unheld: BTreeSet<String>,
    pub(super) network: bool,
    /// The only hosts that the command can reach. If the set is empty, the network is not limited to hosts.
    pub(super) domains: BTreeSet<Domain>,
    pub(super) events: bool,
    pub(super) guard: Guard,
    /// Sensitive names in addition to the built-in ones.
    pub(super) sensitive: Vec<SensitiveName>,
    pub(super) limits: Limits,
}

/// The part of a profile that determines what its command can do: its permissions, the paths that are kept from it, and
/// its limits. The state of the disk is left out. Other commands change it between a question and its answer.
#[derive(Serialize)]
struct ApprovedProfile<'p> {
    cwd: &'p SanitizedPath,
    write: &'p BTreeMap<SanitizedPath, FileIdentity>,
    hidden_names: &'p BTreeSet<SanitizedPath>,
    unwritten_names: &'p BTreeSet<SanitizedPath>,
    hidden_globs: &'p [PathGlob],
    unwritten_globs: &'p [PathGlob],
    network: bool,
    domains: &'p BTreeSet<Domain>,
    events: bool,
    guard: Guard,
    sensitive: &'p [SensitiveName],
    limits: &'p Limits,
}

impl Profile {
    /// Creates the profile of a command with this scope. The command cannot read the paths in `hidden`.
    ///
    /// # Errors
    ///
    /// Fails if a write root is the whole machine, contains a home directory, or does not exist.
    pub fn of(scope: &ExecScope, hidden: impl IntoIterator<Item = SanitizedPath>) -> Result<Profile, ProfileError> {
        Profile::guarding(scope, hidden, [])
    }

    /// Creates a profile like [`Profile::of`], with more sensitive names.
    ///
    /// # Errors
    ///
    /// Fails like [`Profile::of`].
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
            hidden_names: BTreeSet::new(),
            unwritten_names: BTreeSet::new(),
            hidden_globs: Vec::new(),
            unwritten_globs: Vec::new(),
            unheld: BTreeSet::new(),
            network: false,
            domains: BTreeSet::new(),
            events: false,
            guard: Guard::Sensitive,
            sensitive: sensitive.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
            limits: Limits::default(),
        };
        let homes: Vec<_> =
            homes().iter().filter_map(|home| Some(fs::real(home.as_str()).ok()?.path().clone())).collect();
        for permission in scope.iter() {
            match permission {
                Permission::Events => profile.events = true,
                Permission::Network => profile.network = true,
                // A tool is a capability of the host program. A sandbox has nothing to allow for it.
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
        Ok(profile.hiding(hidden))
    }

    /// Removes each root below another root, unless it names a sensitive part that the other root does not name.
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

    /// Returns the profile with more hidden paths, existing or not. The command cannot replace the links on the way to
    /// them.
    pub(crate) fn hiding(mut self, paths: impl IntoIterator<Item = SanitizedPath>) -> Profile {
        let paths: Vec<_> = paths.into_iter().collect();
        // The process ids of an engine are others after each start.
        self.hidden_names.extend(paths.iter().filter(|path| !is_process(path)).cloned());
        let links = paths.iter().filter_map(|path| hops(path.as_path()).ok()).flat_map(|hops| hops.links);
        let links = links.filter_map(|link| link.to_str()?.parse().ok());
        let links: Vec<SanitizedPath> = links.filter(|link| self.root_of(link).is_some()).collect();
        self.unwritten = self.unwritten.into_iter().chain(links).collect::<BTreeSet<_>>().into_iter().collect();
        let reals: Vec<_> = paths.into_iter().filter_map(|path| self.followed(&path)).collect();
        let (processes, hidden): (Vec<_>, Vec<_>) = reals.into_iter().partition(|real| is_process(real.path()));
        let (there, absent): (Vec<_>, Vec<_>) = hidden.into_iter().partition(|real| real.identity().is_some());
        let with = |known: Vec<SanitizedPath>, more: Vec<RealPath>| {
            outermost(known.into_iter().chain(more.into_iter().map(|real| real.path().clone())))
        };
        let (hidden, absent) = (with(self.hidden, there), with(self.absent, absent));
        Profile { hidden, absent, processes: with(self.processes, processes), ..self }
    }

    /// Returns the profile with more paths that the command cannot write, existing or not. Paths outside the write
    /// roots are left out.
    pub(crate) fn not_writing(mut self, paths: impl IntoIterator<Item = SanitizedPath>) -> Profile {
        let paths: Vec<_> = paths.into_iter().collect();
        self.unwritten_names.extend(paths.iter().cloned());
        let reals: Vec<_> = paths.into_iter().filter_map(|path| self.followed(&path)).collect();
        let below = reals.into_iter().map(|real| real.path().clone()).filter(|path| self.root_of(path).is_some());
        let unwritten = outermost(self.unwritten.iter().cloned().chain(below));
        Profile { unwritten, ..self }
    }

    /// Returns the profile with more denied patterns. The paths that match them are looked up below the working
    /// directory and the write roots when a command starts.
    pub(crate) fn denying<'g>(
        mut self,
        reads: impl IntoIterator<Item = &'g PathGlob>,
        writes: impl IntoIterator<Item = &'g PathGlob>,
    ) -> Profile {
        self.hidden_globs.extend(reads.into_iter().cloned());
        self.unwritten_globs.extend(writes.into_iter().cloned());
        for globs in [&mut self.hidden_globs, &mut self.unwritten_globs] {
            globs.sort();
            globs.dedup();
        }
        self
    }

    /// Resolves a path. If this user cannot follow it to its end, the result is the last part that this user can
    /// follow. The sandbox then hides that part instead, because the owner of a closed directory can open it again.
    fn followed(&mut self, path: &SanitizedPath) -> Option<RealPath> {
        let why = match fs::real(path.as_str()) {
            Ok(real) => return Some(real),
            // No file can have a name of this length. A magic link leads into the process that follows it.
            Err(ResolveError::TooLong(_) | ResolveError::MagicLink(_)) => return None,
            Err(why) => why,
        };
        let above = path.as_path().ancestors().skip(1).filter_map(Path::to_str).find_map(|above| fs::real(above).ok());
        if let (Some(above), ResolveError::Denied(_) | ResolveError::NotADirectory(_)) = (above, &why) {
            return Some(above);
        }
        self.unheld.insert(format!("`{}` cannot be blocked for a command: {why}", Escaped(path.as_str())));
        None
    }

    /// Returns the unwritable paths below the write roots, without hidden ones. The first list has those that exist,
    /// the second those that do not.
    pub(super) fn unwritten(&self) -> (Vec<SanitizedPath>, Vec<SanitizedPath>) {
        let is_hidden = |path: &SanitizedPath| self.hidden.iter().any(|hidden| hidden.contains(path));
        let seen = self.unwritten.iter().filter(|path| !is_hidden(path)).cloned();
        let is_missing = |why: &io::Error| why.kind() == io::ErrorKind::NotFound;
        seen.partition(|path| !std::fs::symlink_metadata(path).as_ref().is_err_and(is_missing))
    }

    /// Returns the profile with other limits.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Profile {
        Profile { limits, ..self }
    }

    /// Returns the profile without the protection of sensitive names: the command can write them below its write roots.
    #[must_use]
    pub fn without_guard(self) -> Profile {
        Profile { guard: Guard::Nothing, ..self }
    }

    /// Returns the profile with a network that reaches these hosts only. A profile without a network reaches none of
    /// them.
    ///
    /// `@network` itself names no hosts. With bubblewrap, the command gets its own network namespace, which contains
    /// only a proxy. Without bubblewrap, the sandbox does not run such a profile.
    #[must_use]
    pub fn only_to(self, domains: impl IntoIterator<Item = Domain>) -> Profile {
        Profile { domains: domains.into_iter().collect(), ..self }
    }

    /// Creates the action that the engine evaluates before `command` runs under this profile. Its text is the command
    /// line with the command's own variables, as a shell would read it. Its needs are the permissions of this profile.
    /// The circumstances hold the rest of this profile, without the state of the disk. Two commands that differ in any
    /// part of it are different actions.
    ///
    /// # Errors
    ///
    /// Fails if a word is not UTF-8, or if a variable has an invalid name. A person could not read such a command
    /// before approving it.
    pub fn action(&self, command: &Command) -> Result<Action, SandboxError> {
        let line =
            command.line().ok_or_else(|| SandboxError::Io(io::Error::new(io::ErrorKind::InvalidInput, UNREADABLE)))?;
        let profile = serde_json::to_string(&self.approved_profile()).map_err(|why| SandboxError::Io(why.into()))?;
        let circumstances = format!("{profile} {}", command.streams());
        let needs = self.permissions().collect();
        Ok(Action { needs, in_sandbox: true, ..Action::command(&line).under(&circumstances) })
    }

    /// Returns the part of the profile that an approval of its command is bound to.
    fn approved_profile(&self) -> ApprovedProfile<'_> {
        let Profile { cwd, write, hidden_names, unwritten_names, hidden_globs, unwritten_globs, .. } = self;
        let Profile { network, domains, events, guard, sensitive, limits, .. } = self;
        // INVARIANT: the other fields follow from the names and the disk.
        let Profile { hidden: _, absent: _, processes: _, unwritten: _, unheld: _, .. } = self;
        ApprovedProfile {
            cwd,
            write,
            hidden_names,
            unwritten_names,
            hidden_globs,
            unwritten_globs,
            network: *network,
            domains,
            events: *events,
            guard: *guard,
            sensitive,
            limits,
        }
    }

    fn permissions(&self) -> impl Iterator<Item = Permission> {
        let network = self.network.then_some(Permission::Network);
        let events = self.events.then_some(Permission::Events);
        let write = self.write.keys().cloned().map(Permission::write);
        network.into_iter().chain(events).chain(write)
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &SanitizedPath {
        &self.cwd
    }

    /// Returns the paths below which the command can write.
    pub fn write_roots(&self) -> impl Iterator<Item = &SanitizedPath> {
        self.write.keys()
    }

    /// Returns the paths that the command cannot read.
    pub fn hidden(&self) -> &[SanitizedPath] {
        &self.hidden
    }

    /// Returns true if the command has a network.
    pub fn network(&self) -> bool {
        self.network
    }

    /// Returns true if the command can connect to the engine.
    pub fn events(&self) -> bool {
        self.events
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the only hosts that the network reaches. If there are none, the network is not limited to hosts.
    pub fn domains(&self) -> impl Iterator<Item = &Domain> {
        self.domains.iter()
    }

    /// Returns true if the command has a network that is limited to some hosts.
    pub(super) fn is_kept_to_hosts(&self) -> bool {
        self.network && !self.domains.is_empty()
    }

    /// Returns the deepest sensitive part of `path`.
    pub(super) fn sensitive_part<'p>(&self, path: &'p SanitizedPath) -> Option<&'p str> {
        sensitive_part(path, &self.sensitive)
    }

    /// Returns true if a file or directory with this name is sensitive. `above` is the name of its directory, and
    /// `depth` is the number of names above its own.
    pub(super) fn is_sensitive_name(&self, name: &str, above: &str, depth: usize) -> bool {
        is_sensitive_name(name, above, depth, &self.sensitive)
    }

    /// Returns the innermost write root that contains `path`.
    pub(super) fn root_of(&self, path: &SanitizedPath) -> Option<&SanitizedPath> {
        self.write.keys().filter(|root| root.contains(path)).max_by_key(|root| root.as_str().len())
    }
}

/// Resolves a write root or the working directory. A path that does not exist is an error: otherwise the process that
/// creates it later would choose the object there.
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

/// Returns true if the path is a process in procfs, or belongs to one.
fn is_process(path: &SanitizedPath) -> bool {
    let name = path.as_str().strip_prefix("/proc/").and_then(|rest| rest.split('/').next());
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Sorts the paths and removes those below another one.
fn outermost(paths: impl Iterator<Item = SanitizedPath>) -> Vec<SanitizedPath> {
    let mut all: Vec<_> = paths.collect();
    all.sort();
    all.dedup();
    let covered = |path: &SanitizedPath| all.iter().any(|other| other != path && other.contains(path));
    all.iter().filter(|path| !covered(path)).cloned().collect()
}
