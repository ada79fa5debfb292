//! Permissions, and their text form, the tag.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{Escaped, InvalidPath, InvalidToolPath, SanitizedPath, ToolPath, escape::Quoted};

/// The most permissions one request or one grant may name.
pub const MAX_PERMISSIONS: usize = 32;

/// The kind of access to a path. `Write` includes `Read`, so it is the greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a third kind of access must break code that knows two")]
pub enum Access {
    /// Reading.
    Read,
    /// Writing, which includes reading.
    Write,
}

/// One permission that an agent can hold. Its text form is the tag. Parsing the displayed text gives an equal value.
///
/// ```
/// use bestow_command::values::Permission;
/// let tag = "@write:/work/site";
/// assert_eq!(tag.parse::<Permission>()?.to_string(), tag);
/// # Ok::<(), bestow_command::values::InvalidPermission>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[allow(clippy::exhaustive_enums, reason = "a new kind of permission must be met everywhere a decision is made")]
pub enum Permission {
    /// `@events`: the engine's own socket, with the identity of the holder only.
    Events,
    /// `@network`: the network.
    Network,
    /// `@read:<absolute path>` or `@write:<absolute path>`: that path and everything below it.
    Path(Access, SanitizedPath),
    /// `@tool:<name>`: a capability of the host program, and everything below it, as in `@tool:github/issues`.
    Tool(ToolPath),
}

/// The reason why a text is not a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the reader of each file explains every reason")]
pub enum InvalidPermission {
    /// `@read:` without a path.
    ReadWithoutPath,
    /// `@write:` without a path.
    WriteWithoutPath,
    /// The path of the tag is invalid.
    Path(InvalidPath),
    /// The name after `@tool:` is invalid.
    Tool(InvalidToolPath),
    /// The text has none of the five forms.
    UnknownForm,
}

impl fmt::Display for InvalidPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidPermission::ReadWithoutPath => f.write_str("`@read:` needs an absolute path after the colon"),
            InvalidPermission::WriteWithoutPath => f.write_str("`@write:` needs an absolute path after the colon"),
            InvalidPermission::Path(why) => why.fmt(f),
            InvalidPermission::Tool(why) => why.fmt(f),
            InvalidPermission::UnknownForm => f.write_str(
                "a permission is `@network`, `@events`, `@read:<absolute path>`, `@write:<absolute path>` or \
                 `@tool:<name>`",
            ),
        }
    }
}

impl std::error::Error for InvalidPermission {}

impl Permission {
    /// Creates the permission to read `path` and everything below it.
    pub fn read(path: SanitizedPath) -> Permission {
        Permission::Path(Access::Read, path)
    }

    /// Creates the permission to write `path` and everything below it. It includes reading.
    pub fn write(path: SanitizedPath) -> Permission {
        Permission::Path(Access::Write, path)
    }

    /// Returns true if a holder of this permission also holds `other`. Write covers read. A directory covers everything
    /// below it.
    pub fn covers(&self, other: &Permission) -> bool {
        match (self, other) {
            (Permission::Events, Permission::Events) | (Permission::Network, Permission::Network) => true,
            (Permission::Path(held, root), Permission::Path(wanted, path)) => wanted <= held && root.contains(path),
            (Permission::Tool(held), Permission::Tool(wanted)) => held.contains(wanted),
            (Permission::Events | Permission::Network | Permission::Path(..) | Permission::Tool(_), _) => false,
        }
    }

    /// Returns the path, if the permission has one.
    pub fn path(&self) -> Option<&SanitizedPath> {
        match self {
            Permission::Path(_, path) => Some(path),
            Permission::Events | Permission::Network | Permission::Tool(_) => None,
        }
    }

    /// Returns a sort key for prompts. The most powerful permission has the lowest key.
    #[doc(hidden)]
    pub fn breadth(&self) -> (u8, usize) {
        match self {
            Permission::Path(Access::Write, path) => (0, path.depth()),
            Permission::Network => (1, 0),
            Permission::Events => (2, 0),
            Permission::Tool(name) => (2, name.as_str().split('/').count()),
            Permission::Path(Access::Read, path) => (3, path.depth()),
        }
    }

    /// Formats the permission for people, as in "write access to /work/site" (`sources/004`,
    /// permissionDescribeDecision).
    pub fn describe(&self) -> impl fmt::Display + '_ {
        Described(self)
    }
}

struct Described<'a>(&'a Permission);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Permission::Events => f.write_str("events access (the engine's own socket)"),
            Permission::Network => f.write_str("network access"),
            Permission::Tool(name) => write!(f, "use of the tool {}", Quoted(name.as_str())),
            Permission::Path(access, path) => {
                f.write_str(match access {
                    Access::Read => "read access to ",
                    Access::Write => "write access to ",
                })?;
                Quoted(path.as_str()).fmt(f)?;
                if path.as_str() == "/" { f.write_str(" (the whole file system)") } else { Ok(()) }
            }
        }
    }
}

impl FromStr for Permission {
    type Err = InvalidPermission;

    /// Parses a tag. White space before the tag is ignored. White space after a path is part of the path. After other
    /// tags it is ignored.
    fn from_str(text: &str) -> Result<Self, InvalidPermission> {
        let text = text.trim_start();
        let path = |text: &str| text.parse().map_err(InvalidPermission::Path);
        match text.split_once(':') {
            None if text.trim_end() == "@network" => Ok(Permission::Network),
            None if text.trim_end() == "@events" => Ok(Permission::Events),
            Some(("@read", rest)) if rest.trim().is_empty() => Err(InvalidPermission::ReadWithoutPath),
            Some(("@write", rest)) if rest.trim().is_empty() => Err(InvalidPermission::WriteWithoutPath),
            Some(("@tool", rest)) => rest.trim_end().parse().map(Permission::Tool).map_err(InvalidPermission::Tool),
            Some(("@read", rest)) => Ok(Permission::read(path(rest)?)),
            Some(("@write", rest)) => Ok(Permission::write(path(rest)?)),
            _ => Err(InvalidPermission::UnknownForm),
        }
    }
}

impl TryFrom<String> for Permission {
    type Error = InvalidPermission;

    fn try_from(text: String) -> Result<Self, InvalidPermission> {
        text.parse()
    }
}

impl From<Permission> for String {
    fn from(permission: Permission) -> String {
        permission.to_string()
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Permission::Events => f.write_str("@events"),
            Permission::Network => f.write_str("@network"),
            Permission::Path(Access::Read, path) => write!(f, "@read:{path}"),
            Permission::Path(Access::Write, path) => write!(f, "@write:{path}"),
            Permission::Tool(name) => write!(f, "@tool:{name}"),
        }
    }
}

/// A borrowed [`Permission`] for a check, so that a check allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "mirrors `Permission`")]
pub enum PermissionRef<'a> {
    /// `@events`: the engine's own socket.
    Events,
    /// `@network`: the network.
    Network,
    /// An access to a path, as text. No agent holds a text that is not a [`SanitizedPath`].
    Path(Access, &'a str),
    /// A use of the capability `@tool:<name>`, as text. No agent holds a text that is not a [`ToolPath`].
    Tool(&'a str),
}

impl<'a> PermissionRef<'a> {
    /// Creates the query for reading `path`.
    pub fn read(path: &'a str) -> PermissionRef<'a> {
        PermissionRef::Path(Access::Read, path)
    }

    /// Creates the query for writing `path`.
    pub fn write(path: &'a str) -> PermissionRef<'a> {
        PermissionRef::Path(Access::Write, path)
    }
}

impl<'a> From<&'a Permission> for PermissionRef<'a> {
    fn from(permission: &'a Permission) -> PermissionRef<'a> {
        match permission {
            Permission::Events => PermissionRef::Events,
            Permission::Network => PermissionRef::Network,
            Permission::Path(access, path) => PermissionRef::Path(*access, path.as_str()),
            Permission::Tool(name) => PermissionRef::Tool(name.as_str()),
        }
    }
}

/// The permissions of one request or grant: at least one, at most 32, without duplicates, in the given order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Permission>", into = "Vec<Permission>")]
pub struct Permissions(Vec<Permission>);

/// The reason why a list is not [`Permissions`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the reader of each file explains every reason")]
pub enum InvalidPermissions {
    /// The list is empty.
    Empty,
    /// The list has more than 32 permissions.
    TooMany,
    /// One text in the list is not a tag.
    Tag {
        /// The given text.
        tag: String,
        /// The error in the text.
        why: InvalidPermission,
    },
}

impl fmt::Display for InvalidPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidPermissions::Empty => f.write_str("name at least one permission"),
            InvalidPermissions::TooMany => write!(f, "at most {MAX_PERMISSIONS} permissions at once"),
            InvalidPermissions::Tag { tag, why } => write!(f, "`{}` is not a permission: {why}", Escaped(tag)),
        }
    }
}

impl std::error::Error for InvalidPermissions {}

impl Permissions {
    /// Parses tags as tools provide them: trimmed, without duplicates, in the given order (`sources/004`,
    /// permissionTagsNormalize).
    ///
    /// # Errors
    ///
    /// Fails at the first text that is not a tag, for an empty list, and for more than 32 tags.
    pub fn from_tags<T: AsRef<str>>(tags: impl IntoIterator<Item = T>) -> Result<Permissions, InvalidPermissions> {
        let parse = |tag: T| {
            let tag = tag.as_ref().trim();
            tag.parse().map_err(|why| InvalidPermissions::Tag { tag: tag.to_owned(), why })
        };
        // One tag above the limit is enough to detect the excess. The rest of a flood is not read.
        tags.into_iter().take(MAX_PERMISSIONS + 1).map(parse).collect::<Result<Vec<_>, _>>()?.try_into()
    }

    /// Iterates over the permissions, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Permission> {
        self.0.iter()
    }
}

impl TryFrom<Vec<Permission>> for Permissions {
    type Error = InvalidPermissions;

    fn try_from(list: Vec<Permission>) -> Result<Self, InvalidPermissions> {
        if list.len() > MAX_PERMISSIONS {
            return Err(InvalidPermissions::TooMany);
        }
        let mut unique = Vec::with_capacity(list.len());
        for permission in list {
            if !unique.contains(&permission) {
                unique.push(permission);
            }
        }
        if unique.is_empty() { Err(InvalidPermissions::Empty) } else { Ok(Permissions(unique)) }
    }
}

impl From<Permission> for Permissions {
    fn from(permission: Permission) -> Permissions {
        Permissions(vec![permission])
    }
}

impl From<Permissions> for Vec<Permission> {
    fn from(permissions: Permissions) -> Vec<Permission> {
        permissions.0
    }
}

impl<'a> IntoIterator for &'a Permissions {
    type Item = &'a Permission;
    type IntoIter = std::slice::Iter<'a, Permission>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.0)
    }
}

/// Writes permissions on one line, escaped for people.
pub fn list<'a>(f: &mut fmt::Formatter<'_>, permissions: impl IntoIterator<Item = &'a Permission>) -> fmt::Result {
    for (place, permission) in permissions.into_iter().enumerate() {
        if place > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{}", Escaped(&permission.to_string()))?;
    }
    Ok(())
}
