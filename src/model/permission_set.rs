//! The permissions of one agent, as plain values (`sources/004`, "Helper roles").

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Permission, SanitizedPath, ToolPath};

/// The permissions that reading needs, for all agents of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a third answer must break code that knows two")]
pub enum Reads {
    /// Every absolute path that is not protected may be read (`sources/004`, "Read tool behavior").
    Anywhere,
    /// Only paths that a `@read` or `@write` covers may be read.
    Granted,
}

/// The permissions of one agent. An empty set gives nothing.
///
/// "Write implies read" is not kept in two synchronized lists: a root has one access, and `Write` is the greater one.
/// The working directory is where commands start. It implies neither reading nor writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSet {
    working_dir: SanitizedPath,
    roots: BTreeMap<SanitizedPath, Access>,
    tools: BTreeSet<ToolPath>,
    network: bool,
    events: bool,
}

impl PermissionSet {
    /// Creates a set without permissions, with this working directory.
    pub fn empty(working_dir: SanitizedPath) -> PermissionSet {
        PermissionSet { working_dir, roots: BTreeMap::new(), tools: BTreeSet::new(), network: false, events: false }
    }

    /// Returns the initial permissions of an agent with a workspace: it writes the workspace and reads `config`
    /// (permissionBuildDefault).
    ///
    /// `sources/004` lists further files (heartbeat, skills, prompt files). They are readable, not writable. An agent
    /// that may write a directory of tasks could plant one (`docs/permissions.md`, "Departures").
    pub fn for_workspace(workspace: SanitizedPath, config: impl IntoIterator<Item = SanitizedPath>) -> PermissionSet {
        let mut set = PermissionSet::empty(workspace.clone());
        config.into_iter().for_each(|path| set.insert(Permission::read(path)));
        set.insert(Permission::write(workspace));
        set
    }

    /// Returns the initial permissions of a scheduled task: the defaults, with its own directory as working directory
    /// and writable (permissionBuildCron).
    ///
    /// `@events` is not passed on: a task that controls the engine must get that permission by name.
    pub fn for_cron(defaults: &PermissionSet, files: SanitizedPath) -> PermissionSet {
        let mut set = PermissionSet { working_dir: files.clone(), events: false, ..defaults.clone() };
        set.insert(Permission::write(files));
        set
    }

    /// Adds a permission that was granted (permissionApply).
    pub fn insert(&mut self, permission: Permission) {
        match permission {
            Permission::Events => self.events = true,
            Permission::Network => self.network = true,
            Permission::Path(access, path) => {
                let held = self.roots.entry(path).or_insert(access);
                *held = access.max(*held);
            }
            Permission::Tool(name) => {
                self.tools.insert(name);
            }
        }
    }

    /// Returns all permissions of both sets, with the working directory of `self` (permissionMergeDefault,
    /// permissionEnsureDefaultFile).
    #[must_use]
    pub fn union(mut self, other: &PermissionSet) -> PermissionSet {
        other.iter().for_each(|permission| self.insert(permission));
        self
    }

    /// Returns true if this set holds `wanted` (permissionAccessAllows).
    pub fn covers(&self, wanted: &Permission, reads: Reads) -> bool {
        match wanted {
            Permission::Events => self.events,
            Permission::Network => self.network,
            Permission::Path(Access::Read, _) if reads == Reads::Anywhere => true,
            Permission::Path(access, path) => {
                self.roots.iter().any(|(root, held)| access <= held && root.contains(path))
            }
            Permission::Tool(name) => self.tools.iter().any(|held| held.contains(name)),
        }
    }

    /// Returns the first of `wanted` that this set does not hold (permissionTagsValidate).
    pub fn first_missing<'w>(
        &self,
        wanted: impl IntoIterator<Item = &'w Permission>,
        reads: Reads,
    ) -> Option<&'w Permission> {
        wanted.into_iter().find(|permission| !self.covers(permission, reads))
    }

    /// Returns the directory in which commands of this agent start.
    pub fn working_dir(&self) -> &SanitizedPath {
        &self.working_dir
    }

    /// Iterates over all held permissions: `@events`, `@network`, then paths in order, then tools in order.
    pub fn iter(&self) -> impl Iterator<Item = Permission> + '_ {
        let flags = [(self.events, Permission::Events), (self.network, Permission::Network)];
        let flags = flags.into_iter().filter_map(|(held, permission)| held.then_some(permission));
        let roots = self.roots.iter().map(|(path, access)| Permission::Path(*access, path.clone()));
        flags.chain(roots).chain(self.tools.iter().cloned().map(Permission::Tool))
    }
}
