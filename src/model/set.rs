//! What one agent holds, as plain values (`sources/004`, "Helper roles").

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Permission, SanitizedPath, ToolPath};

/// What reading needs, for the agents of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a third answer must break whoever decides on two")]
pub enum Reads {
    /// Every absolute path that is not protected may be read (`sources/004`, "Read tool behavior").
    Anywhere,
    /// Only what a `@read` or `@write` covers.
    Granted,
}

/// What one agent holds. Empty means nothing.
///
/// "Write implies read" is not kept in step between two lists: a root has one access, and `Write` is the
/// greater. The working directory is where commands start; it implies neither reading nor writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSet {
    working_dir: SanitizedPath,
    roots: BTreeMap<SanitizedPath, Access>,
    tools: BTreeSet<ToolPath>,
    network: bool,
    events: bool,
}

impl PermissionSet {
    /// Nothing but a place to stand.
    pub fn empty(working_dir: SanitizedPath) -> PermissionSet {
        PermissionSet { working_dir, roots: BTreeMap::new(), tools: BTreeSet::new(), network: false, events: false }
    }

    /// What an agent of a workspace starts with: it writes the workspace and reads `config` (permissionBuildDefault).
    ///
    /// The files that `sources/004` lists besides (heartbeat, skills, prompt files) are read, not written: an
    /// agent that may write a directory of tasks could plant one (`docs/permissions.md`, "Departures").
    pub fn for_workspace(workspace: SanitizedPath, config: impl IntoIterator<Item = SanitizedPath>) -> PermissionSet {
        let mut set = PermissionSet::empty(workspace.clone());
        config.into_iter().for_each(|path| set.insert(Permission::read(path)));
        set.insert(Permission::write(workspace));
        set
    }

    /// What a scheduled task starts with: the defaults, standing in and writing its own directory (permissionBuildCron).
    ///
    /// `@events` is not passed on: a task that controls the engine must have been given that by name.
    pub fn for_cron(defaults: &PermissionSet, files: SanitizedPath) -> PermissionSet {
        let mut set = PermissionSet { working_dir: files.clone(), events: false, ..defaults.clone() };
        set.insert(Permission::write(files));
        set
    }

    /// Adds a permission that somebody decided to give (permissionApply).
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

    /// Everything of both, standing where `self` stands (permissionMergeDefault, permissionEnsureDefaultFile).
    #[must_use]
    pub fn union(mut self, other: &PermissionSet) -> PermissionSet {
        other.iter().for_each(|permission| self.insert(permission));
        self
    }

    /// Whether this set holds `wanted` (permissionAccessAllows).
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

    /// The first of `wanted` that this set does not hold (permissionTagsValidate).
    pub fn first_missing<'w>(
        &self,
        wanted: impl IntoIterator<Item = &'w Permission>,
        reads: Reads,
    ) -> Option<&'w Permission> {
        wanted.into_iter().find(|permission| !self.covers(permission, reads))
    }

    /// Where commands of this agent start.
    pub fn working_dir(&self) -> &SanitizedPath {
        &self.working_dir
    }

    /// Everything held, as permissions: `@events`, `@network`, then paths in order, then tools in order.
    pub fn iter(&self) -> impl Iterator<Item = Permission> + '_ {
        let flags = [(self.events, Permission::Events), (self.network, Permission::Network)];
        let flags = flags.into_iter().filter_map(|(held, permission)| held.then_some(permission));
        let roots = self.roots.iter().map(|(path, access)| Permission::Path(*access, path.clone()));
        flags.chain(roots).chain(self.tools.iter().cloned().map(Permission::Tool))
    }
}
