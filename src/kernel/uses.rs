//! One thing that an action uses: its own object, what it is given, what its command line names, what its program needs.

use std::borrow::Cow;

use crate::model::{Access, Operation, Permission, Right, SanitizedPath, UseFacts, UseOrigin, redacted};

use super::considered::Target;

/// The most things that one action may use. More than that nobody judges, so nothing of it happens.
pub(crate) const MAX_USES: usize = 512;

/// One use.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) operation: Operation,
    pub(crate) target: Target,
    /// The permission that must be held for it, pinned to the disk.
    pub(crate) takes: Option<Right>,
    pub(crate) origin: UseOrigin,
}

impl Use {
    /// A use of a permission that an action is given: a path with all below it, any host, the engine's socket. A capability
    /// is given to nothing: a tool demands it.
    pub(crate) fn given(right: Right) -> Use {
        let (target, origin) = match &right.permission {
            Permission::Path(_, path) => (Target::Tree(path.clone()), UseOrigin::Given),
            Permission::Network => (Target::Network, UseOrigin::Given),
            Permission::Events => (Target::Events, UseOrigin::Given),
            Permission::Tool(name) => (Target::Capability(name.clone()), UseOrigin::Declared),
        };
        Use { operation: operation_for(&right.permission), target, takes: Some(right), origin }
    }

    /// The same use of a permission that the declaration of a tool demands.
    pub(crate) fn demanded(right: Right) -> Use {
        Use { origin: UseOrigin::Declared, ..Use::given(right) }
    }

    /// A use that nobody has understood yet.
    pub(crate) fn unknown(operation: Operation) -> Use {
        let target = Target::Invalid { text: "".into(), why: "".into() };
        Use { operation, target, takes: None, origin: UseOrigin::Own }
    }

    /// The path, where it is one of a path.
    pub(crate) fn path(&self) -> Option<&SanitizedPath> {
        match &self.target {
            Target::Path(path) | Target::Tree(path) => Some(path),
            Target::Command { .. }
            | Target::Tool { .. }
            | Target::Host(_)
            | Target::Network
            | Target::Events
            | Target::Capability(_)
            | Target::Invalid { .. } => None,
        }
    }

    /// The way in which a path is used. Running a file reads it.
    pub(crate) fn access(&self) -> Access {
        if self.operation == Operation::Write { Access::Write } else { Access::Read }
    }

    /// The permission that this use of a path is covered by, held for it or not.
    pub(crate) fn permission(&self) -> Option<Cow<'_, Permission>> {
        let taken = self.takes.as_ref().map(|right| Cow::Borrowed(&right.permission));
        taken.or_else(|| Some(Cow::Owned(Permission::Path(self.access(), self.path()?.clone()))))
    }

    /// Whether it reads and does nothing else; a command line does so as far as its other uses do.
    pub(crate) fn only_reads(&self) -> bool {
        match self.operation {
            Operation::Read | Operation::Command => true,
            Operation::Write | Operation::Exec | Operation::Network | Operation::Events | Operation::Tool => false,
        }
    }

    /// Whether a command line names it, or its program needs it, and nobody has given it.
    pub(crate) fn is_only_named(&self) -> bool {
        matches!(self.origin, UseOrigin::Named | UseOrigin::Needed)
    }

    /// Whether whatever speaks about `other` speaks about this one too.
    fn includes(&self, other: &Use) -> bool {
        let same = match (&self.target, &other.target) {
            // A glob may cover all that is in a directory, and not the directory itself.
            (Target::Path(one), Target::Path(other)) | (Target::Tree(one), Target::Tree(other)) => one == other,
            (Target::Host(one), Target::Host(other)) => one == other,
            (Target::Network, Target::Network) | (Target::Events, Target::Events) => true,
            (Target::Capability(one), Target::Capability(other)) => one == other,
            (
                Target::Path(_)
                | Target::Tree(_)
                | Target::Command { .. }
                | Target::Tool { .. }
                | Target::Host(_)
                | Target::Network
                | Target::Events
                | Target::Capability(_)
                | Target::Invalid { .. },
                _,
            ) => false,
        };
        same && self.operation == other.operation && (self.origin != UseOrigin::Word || other.origin == UseOrigin::Word)
    }

    /// Whether both use one path in one way, with what is below it or without.
    fn is_here(&self, other: &Use) -> bool {
        self.operation == other.operation && self.path().is_some() && self.path() == other.path()
    }

    /// The same for people and records, without secrets.
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

/// The operation that uses a path so.
pub(crate) fn operation_of(access: Access) -> Operation {
    match access {
        Access::Read => Operation::Read,
        Access::Write => Operation::Write,
    }
}

/// The operation that uses a permission.
pub(crate) fn operation_for(permission: &Permission) -> Operation {
    match permission {
        Permission::Path(access, _) => operation_of(*access),
        Permission::Network => Operation::Network,
        Permission::Events => Operation::Events,
        Permission::Tool(_) => Operation::Tool,
    }
}

/// Everything that an action uses: its own use, and the further ones.
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
    /// All of them, the own one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Use> + Clone {
        std::iter::once(&self.own).chain(&self.further)
    }

    /// All of them, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Use> {
        std::iter::once(&mut self.own).chain(&mut self.further)
    }

    /// All of them by themselves, the own one first.
    pub(crate) fn into_all(self) -> impl Iterator<Item = Use> {
        std::iter::once(self.own).chain(self.further)
    }

    /// Those besides the own one.
    pub(crate) fn further(&self) -> &[Use] {
        &self.further
    }

    /// Adds one, unless it is there. What must be held is held once, however often it is used, and for what has to have it.
    pub(crate) fn add(&mut self, mut new: Use) {
        if let Some(wanted) = &new.takes {
            let takes =
                |used: &&mut Use| used.takes.as_ref().is_some_and(|right| right.permission == wanted.permission);
            let all = std::iter::once(&mut self.own).chain(&mut self.further);
            match all.into_iter().find(takes) {
                // A sandbox may keep a command from what it only names, and not from what it is given.
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
            let why = "it uses more than anybody judges at once: do it in several steps".into();
            self.own.target = Target::Invalid { text: self.own.target.resource().into(), why };
        }
    }

    /// The permissions that must be held.
    pub(crate) fn permissions(&self) -> impl Iterator<Item = &Permission> + Clone {
        self.rights().map(|right| &right.permission)
    }

    /// The same, pinned to the disk.
    pub(crate) fn rights(&self) -> impl Iterator<Item = &Right> + Clone {
        self.iter().filter_map(|used| used.takes.as_ref())
    }
}
