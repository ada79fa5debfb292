//! One thing that can be held, and its text form, the tag.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{InvalidPath, InvalidToolPath, SanitizedPath, Shown, ToolPath, text::Quoted};

/// The most permissions one request or one grant may name.
pub(crate) const MAX_PERMISSIONS: usize = 32;

/// How a path may be used. `Write` is `Read` and more, so the stronger is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a third kind of access must break whoever decides on two")]
pub enum Access {
    /// Looking.
    Read,
    /// Changing, which includes looking.
    Write,
}

/// One thing an agent can hold. Its text form is the tag; parsing what is displayed gives the same value.
///
/// ```
/// use bestow::Permission;
/// let tag = "@write:/work/site";
/// assert_eq!(tag.parse::<Permission>()?.to_string(), tag);
/// # Ok::<(), bestow::InvalidPermission>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[allow(clippy::exhaustive_enums, reason = "a new kind of permission must be met everywhere a decision is made")]
pub enum Permission {
    /// `@events`: the engine's own socket, as the holder and nobody else.
    Events,
    /// `@network`.
    Network,
    /// `@read:<absolute path>` or `@write:<absolute path>`: that path and everything below it.
    Path(Access, SanitizedPath),
    /// `@tool:<name>`: a capability of the host program, and everything below it, as in `@tool:github/issues`.
    Tool(ToolPath),
}

/// Why a text is not a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPermission {
    /// `@read:` without a path.
    ReadWithoutPath,
    /// `@write:` without a path.
    WriteWithoutPath,
    /// The path of the tag is not one.
    Path(InvalidPath),
    /// The name after `@tool:` is not one.
    Tool(InvalidToolPath),
    /// None of the five forms.
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
                "a permission is `@network`, `@events`, `@read:<absolute path>`, `@write:<absolute path>` or `@tool:<name>`",
            ),
        }
    }
}

impl std::error::Error for InvalidPermission {}

impl Permission {
    /// Reading `path` and everything below it.
    pub fn read(path: SanitizedPath) -> Permission {
        Permission::Path(Access::Read, path)
    }

    /// Writing `path` and everything below it; includes reading.
    pub fn write(path: SanitizedPath) -> Permission {
        Permission::Path(Access::Write, path)
    }

    /// Whether holding this means holding `other`: write covers read, a root covers what is below it.
    pub fn covers(&self, other: &Permission) -> bool {
        match (self, other) {
            (Permission::Events, Permission::Events) | (Permission::Network, Permission::Network) => true,
            (Permission::Path(held, root), Permission::Path(wanted, path)) => wanted <= held && root.contains(path),
            (Permission::Tool(held), Permission::Tool(wanted)) => held.contains(wanted),
            (Permission::Events | Permission::Network | Permission::Path(..) | Permission::Tool(_), _) => false,
        }
    }

    /// The path, where there is one.
    pub fn path(&self) -> Option<&SanitizedPath> {
        match self {
            Permission::Path(_, path) => Some(path),
            Permission::Events | Permission::Network | Permission::Tool(_) => None,
        }
    }

    /// Where it stands among others that are asked: what lets most happen comes first.
    pub(crate) fn breadth(&self) -> (u8, usize) {
        match self {
            Permission::Path(Access::Write, path) => (0, path.depth()),
            Permission::Network => (1, 0),
            Permission::Events => (2, 0),
            Permission::Tool(name) => (2, name.as_str().split('/').count()),
            Permission::Path(Access::Read, path) => (3, path.depth()),
        }
    }

    /// A phrase for people, as in "write access to /work/site" (`sources/004`, permissionDescribeDecision).
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

    /// White space before the tag is passed over; after it, it is part of a path and passed over else.
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

/// What a check asks about: a [`Permission`] that owns nothing, so that asking allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "mirrors `Permission`")]
pub enum Want<'a> {
    /// `@events`.
    Events,
    /// `@network`.
    Network,
    /// A use of a path, as text. What is not a [`SanitizedPath`] is held by nobody.
    Path(Access, &'a str),
    /// A use of the capability `@tool:<name>`, as text. What is not a [`ToolPath`] is held by nobody.
    Tool(&'a str),
}

impl<'a> Want<'a> {
    /// Reading `path`.
    pub fn read(path: &'a str) -> Want<'a> {
        Want::Path(Access::Read, path)
    }

    /// Writing `path`.
    pub fn write(path: &'a str) -> Want<'a> {
        Want::Path(Access::Write, path)
    }
}

impl<'a> From<&'a Permission> for Want<'a> {
    fn from(permission: &'a Permission) -> Want<'a> {
        match permission {
            Permission::Events => Want::Events,
            Permission::Network => Want::Network,
            Permission::Path(access, path) => Want::Path(*access, path.as_str()),
            Permission::Tool(name) => Want::Tool(name.as_str()),
        }
    }
}

/// What one request or grant is about: at least one permission, at most 32, none twice, in the order given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Permission>", into = "Vec<Permission>")]
pub struct Permissions(Vec<Permission>);

/// Why a list is not [`Permissions`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPermissions {
    /// Nothing was named.
    Empty,
    /// More than 32 were named.
    TooMany,
    /// One of them is not a tag.
    Tag {
        /// The text, as it was given.
        tag: String,
        /// What is wrong with it.
        why: InvalidPermission,
    },
}

impl fmt::Display for InvalidPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidPermissions::Empty => f.write_str("name at least one permission"),
            InvalidPermissions::TooMany => write!(f, "at most {MAX_PERMISSIONS} permissions at once"),
            InvalidPermissions::Tag { tag, why } => write!(f, "`{}` is not a permission: {why}", Shown(tag)),
        }
    }
}

impl std::error::Error for InvalidPermissions {}

impl Permissions {
    /// From tags as tools give them: trimmed, without repetitions, order kept (`sources/004`, permissionTagsNormalize).
    ///
    /// # Errors
    ///
    /// The first text that is not a tag; an empty list; more than 32.
    pub fn from_tags<T: AsRef<str>>(tags: impl IntoIterator<Item = T>) -> Result<Permissions, InvalidPermissions> {
        let parse = |tag: T| {
            let tag = tag.as_ref().trim();
            tag.parse().map_err(|why| InvalidPermissions::Tag { tag: tag.to_owned(), why })
        };
        // One more than the limit is enough to know that it is passed; a flood is not read to its end.
        tags.into_iter().take(MAX_PERMISSIONS + 1).map(parse).collect::<Result<Vec<_>, _>>()?.try_into()
    }

    /// The permissions, in order.
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

/// Permissions on one line, escaped for people.
pub(crate) fn list<'a>(
    f: &mut fmt::Formatter<'_>,
    permissions: impl IntoIterator<Item = &'a Permission>,
) -> fmt::Result {
    for (place, permission) in permissions.into_iter().enumerate() {
        if place > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{}", Shown(&permission.to_string()))?;
    }
    Ok(())
}
