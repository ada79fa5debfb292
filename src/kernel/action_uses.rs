//! The uses of an action: its own object, given permissions, operands of its command line, and needs of its program.

use std::borrow::Cow;

use crate::model::{Access, Operation, Permission, PinnedPermission, SanitizedPath, UseFacts, UseOrigin, redacted};

use super::target::Target;

/// The maximum number of further uses of one action. An action with more is invalid.
pub(crate) const MAX_USES: usize = 512;

/// One use of an object or permission by an action.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) operation: Operation,
    pub(crate) target: Target,
    /// The permission that the agent must hold for this use, pinned to the disk.
    pub(crate) takes: Option<PinnedPermission>,
    pub(crate) origin: UseOrigin,
}

impl Use {
    /// Creates a use of a permission that an action is given: a path with everything below it, any host, or the
    /// engine's socket. A capability is not given but demanded by a tool.
    pub(crate) fn given(pinned: PinnedPermission) -> Use {
        let (target, origin) = match &pinned.permission {
            Permission::Path(_, path) => (Target::Tree(path.clone()), UseOrigin::Given),
            Permission::Network => (Target::Network, UseOrigin::Given),
            Permission::Events => (Target::Events, UseOrigin::Given),
            Permission::Tool(name) => (Target::Capability(name.clone()), UseOrigin::Declared),
        };
        Use { operation: operation_for(&pinned.permission), target, takes: Some(pinned), origin }
    }

    /// Creates a use of a permission that the declaration of a tool demands.
    pub(crate) fn demanded(pinned: PinnedPermission) -> Use {
        Use { origin: UseOrigin::Declared, ..Use::given(pinned) }
    }

    /// Creates a placeholder for a use that is not resolved yet.
    pub(crate) fn unknown(operation: Operation) -> Use {
        let target = Target::Invalid { text: "".into(), why: "".into() };
        Use { operation, target, takes: None, origin: UseOrigin::Own }
    }

    /// Returns the path, if this is the use of a path.
    pub(crate) fn path(&self) -> Option<&SanitizedPath> {
        match &self.target {
            Target::Path(path) | Target::Tree(path) => Some(path),
            Target::Command { .. }
            | Target::Tool { .. }
            | Target::Host(_)
            | Target::Network
            | Target::Events
            | Target::Capability(_)
            | Target::Unresolved { .. }
            | Target::Invalid { .. } => None,
        }
    }

    /// Returns the kind of access to a path. Running a file counts as a read.
    pub(crate) fn access(&self) -> Access {
        if self.operation == Operation::Write { Access::Write } else { Access::Read }
    }

    /// Returns the permission that covers this use of a path, even if the agent need not hold it.
    pub(crate) fn permission(&self) -> Option<Cow<'_, Permission>> {
        let taken = self.takes.as_ref().map(|pinned| Cow::Borrowed(&pinned.permission));
        taken.or_else(|| Some(Cow::Owned(Permission::Path(self.access(), self.path()?.clone()))))
    }

    /// Returns true if the use only reads, or changes nothing outside of a coding agent's session. A command line
    /// counts as a read here, because its other uses are judged separately.
    pub(crate) fn only_reads(&self) -> bool {
        match self.operation {
            Operation::Read | Operation::Command => true,
            Operation::Tool => matches!(self.target, Target::Tool { in_session: true, .. }),
            Operation::Write | Operation::Exec | Operation::Network | Operation::Events => false,
        }
    }

    /// Returns true if a command line names it, or its program needs it, and it was not given explicitly.
    pub(crate) fn is_only_named(&self) -> bool {
        matches!(self.origin, UseOrigin::Named | UseOrigin::Needed)
    }

    /// Returns true if the action may leave the object out, or may not be about it. A denial of the object is then a
    /// question about the action.
    pub(crate) fn may_be_left_out(&self) -> bool {
        matches!(self.origin, UseOrigin::Inside | UseOrigin::Label)
    }

    /// Returns true if every verdict on `other` also applies to this use.
    fn includes(&self, other: &Use) -> bool {
        let same = match (&self.target, &other.target) {
            // A glob may match everything in a directory but not the directory itself.
            (Target::Path(one), Target::Path(other)) | (Target::Tree(one), Target::Tree(other)) => one == other,
            (Target::Host(one), Target::Host(other)) => one == other,
            (Target::Network, Target::Network) | (Target::Events, Target::Events) => true,
            (Target::Capability(one), Target::Capability(other)) => one == other,
            (Target::Unresolved { text: one, .. }, Target::Unresolved { text: other, .. }) => one == other,
            (
                Target::Path(_)
                | Target::Tree(_)
                | Target::Command { .. }
                | Target::Tool { .. }
                | Target::Host(_)
                | Target::Network
                | Target::Events
                | Target::Capability(_)
                | Target::Unresolved { .. }
                | Target::Invalid { .. },
                _,
            ) => false,
        };
        let is_doubtful = self.origin.is_word() || self.origin == UseOrigin::Inside;
        same && self.operation == other.operation && (!is_doubtful || self.origin == other.origin)
    }

    /// Returns true if both use one path with one operation, as a single path or as a tree.
    fn is_here(&self, other: &Use) -> bool {
        self.operation == other.operation && self.path().is_some() && self.path() == other.path()
    }

    /// Returns the use for people and records, with secrets redacted.
    pub(crate) fn facts(&self) -> UseFacts {
        let is_line = matches!(self.target, Target::Command { .. });
        let resource = self.target.resource();
        let resource = if is_line { redacted(resource) } else { resource.into() };
        UseFacts {
            operation: self.operation,
            resource,
            tree: matches!(self.target, Target::Tree(_)),
            origin: self.origin,
        }
    }
}

/// Returns the operation for an access to a path.
pub(crate) fn operation_of(access: Access) -> Operation {
    match access {
        Access::Read => Operation::Read,
        Access::Write => Operation::Write,
    }
}

/// Returns the operation that uses a permission.
pub(crate) fn operation_for(permission: &Permission) -> Operation {
    match permission {
        Permission::Path(access, _) => operation_of(*access),
        Permission::Network => Operation::Network,
        Permission::Events => Operation::Events,
        Permission::Tool(_) => Operation::Tool,
    }
}

/// All uses of an action: its own use and the further ones.
#[derive(Debug)]
pub(crate) struct Uses {
    pub(crate) own: Use,
    further: Vec<Use>,
}

impl From<Use> for Uses {
    fn from(own: Use) -> Uses {
        Uses { own, further: Vec::new() }
    }
}

impl Uses {
    /// Returns all uses, the own one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Use> + Clone {
        std::iter::once(&self.own).chain(&self.further)
    }

    /// Returns all uses, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Use> {
        std::iter::once(&mut self.own).chain(&mut self.further)
    }

    /// Returns all uses by value, the own one first.
    pub(crate) fn into_all(self) -> impl Iterator<Item = Use> {
        std::iter::once(self.own).chain(self.further)
    }

    /// Returns the uses besides the own one.
    pub(crate) fn further(&self) -> &[Use] {
        &self.further
    }

    /// Adds a use, unless an equivalent one is present. A permission must be held once, however often it is used. It is
    /// attributed to a use that cannot do without it.
    pub(crate) fn add(&mut self, mut new: Use) {
        if let Some(wanted) = &new.takes {
            let takes =
                |used: &&mut Use| used.takes.as_ref().is_some_and(|pinned| pinned.permission == wanted.permission);
            let all = std::iter::once(&mut self.own).chain(&mut self.further);
            match all.into_iter().find(takes) {
                // A sandbox may deny a command a path that its line only names, but not a permission that it is given.
                Some(other) if other.is_only_named() && !new.is_only_named() => other.takes = None,
                Some(_) => new.takes = None,
                None => {}
            }
        }
        let is_own = new.origin == UseOrigin::Given && self.own.is_here(&new);
        if new.takes.is_none() && (is_own || self.iter().any(|known| known.includes(&new))) {
            return;
        }
        if self.further.len() < MAX_USES {
            self.further.push(new);
        } else {
            let why = "the action has too many uses for one decision: split it into steps".into();
            self.own.target = Target::Invalid { text: self.own.target.resource().into(), why };
        }
    }

    /// Returns the permissions that the agent must hold.
    pub(crate) fn permissions(&self) -> impl Iterator<Item = &Permission> + Clone {
        self.pinned().map(|pinned| &pinned.permission)
    }

    /// Returns the permissions that the agent must hold, pinned to the disk.
    pub(crate) fn pinned(&self) -> impl Iterator<Item = &PinnedPermission> + Clone {
        self.iter().filter_map(|used| used.takes.as_ref())
    }
}
