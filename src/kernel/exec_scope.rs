//! The permissions of a command, always a subset of its caller's (`sources/004`, "Exec/process scoped permissions").

use std::collections::BTreeSet;

use crate::model::{Access, Permission, PermissionSet, Reads, SanitizedPath, ToolPath};

/// The permissions of a command or process.
///
/// A command starts in its caller's working directory. It holds only the permissions that were named for it, and each
/// of them is checked against the caller. There is no field for reading, because reads are not scoped. `@read` tags are
/// ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecScope {
    working_dir: SanitizedPath,
    write_roots: BTreeSet<SanitizedPath>,
    tools: BTreeSet<ToolPath>,
    network: bool,
    events: bool,
}

impl ExecScope {
    /// Creates the scope for a command of `caller` that needs the permissions `named`. The caller is not changed.
    ///
    /// # Errors
    ///
    /// Returns the first permission in `named`, other than `@read`, that the caller does not hold.
    pub fn of<'n>(
        caller: &PermissionSet,
        named: impl IntoIterator<Item = &'n Permission>,
    ) -> Result<ExecScope, &'n Permission> {
        let working_dir = caller.working_dir().clone();
        let (write_roots, tools) = (BTreeSet::new(), BTreeSet::new());
        let mut scope = ExecScope { working_dir, write_roots, tools, network: false, events: false };
        for permission in named {
            if matches!(permission, Permission::Path(Access::Read, _)) {
                continue;
            }
            if !caller.covers(permission, Reads::Granted) {
                return Err(permission);
            }
            scope.add(permission);
        }
        Ok(scope)
    }

    fn add(&mut self, permission: &Permission) {
        match permission {
            Permission::Events => self.events = true,
            Permission::Network => self.network = true,
            Permission::Path(_, path) => {
                self.write_roots.insert(path.clone());
            }
            Permission::Tool(name) => {
                self.tools.insert(name.clone());
            }
        }
    }

    /// Returns the directory in which the command starts.
    pub fn working_dir(&self) -> &SanitizedPath {
        &self.working_dir
    }

    /// Returns all permissions in the scope, without reads.
    pub fn iter(&self) -> impl Iterator<Item = Permission> + '_ {
        let flags = [(self.events, Permission::Events), (self.network, Permission::Network)];
        let flags = flags.into_iter().filter_map(|(held, permission)| held.then_some(permission));
        let writes = self.write_roots.iter().cloned().map(Permission::write);
        flags.chain(writes).chain(self.tools.iter().cloned().map(Permission::Tool))
    }
}
