//! The object of an action, or of one of its uses.

use std::sync::Arc;

use crate::model::{CommandFingerprint, SanitizedPath, SpokenPart, ToolPath};

use super::unknown_tool_input::InputText;

/// A name that no glob can spell, because globs contain no control characters. A glob that matches it matches any name.
const ANYTHING: &str = "\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}";

/// The object of an action, or of one of its uses.
#[derive(Debug)]
pub(crate) enum Target {
    /// A file or directory, by its canonical path.
    Path(SanitizedPath),
    /// A directory with everything below it.
    Tree(SanitizedPath),
    /// A command line and its parts. The parts are `None` if the line could not be parsed. The fingerprint is known if
    /// the parts still have the tiers that they were read with.
    Command { text: Arc<str>, parts: Option<Vec<SpokenPart>>, doing: Option<Arc<CommandFingerprint>> },
    /// A tool that is neither file, command nor network, by its name. An unknown one may run any command in its input.
    /// One of a coding agent's session changes nothing outside of it.
    Tool { name: Arc<str>, mentions: InputText, in_session: bool },
    /// A host.
    Host(Arc<str>),
    /// Any host.
    Network,
    /// The engine's own socket.
    Events,
    /// A capability of the host program.
    Capability(ToolPath),
    /// A path that cannot be determined before the command runs, and the reason. A person decides about it.
    Unresolved { text: Arc<str>, why: Arc<str> },
    /// An object that cannot be used, and the reason.
    Invalid { text: Arc<str>, why: Arc<str> },
}

impl Target {
    /// Returns the text of the object. No host name looks like a permission.
    pub(crate) fn resource(&self) -> &str {
        match self {
            Target::Path(path) | Target::Tree(path) => path.as_str(),
            Target::Command { text, .. } | Target::Unresolved { text, .. } | Target::Invalid { text, .. } => text,
            Target::Host(host) => host,
            Target::Tool { name, .. } => name,
            Target::Network => "@network",
            Target::Events => "@events",
            Target::Capability(name) => name.as_str(),
        }
    }

    /// Returns the fingerprint of the command, if the object is something that runs.
    pub(crate) fn doing(&self) -> Option<CommandFingerprint> {
        match self {
            Target::Command { doing: Some(doing), .. } => Some(CommandFingerprint::clone(doing)),
            Target::Command { text, parts, doing: None } => Some(CommandFingerprint::of(text, parts.as_deref())),
            // A denial of an unknown tool is a denial of the tool itself.
            Target::Tool { name, .. } => Some(CommandFingerprint::of(name, None)),
            Target::Path(_)
            | Target::Tree(_)
            | Target::Host(_)
            | Target::Network
            | Target::Events
            | Target::Capability(_)
            | Target::Unresolved { .. }
            | Target::Invalid { .. } => None,
        }
    }
}

/// Returns a name inside `path`. A glob that covers everything in `path` matches it.
pub(super) fn all_inside(path: &SanitizedPath) -> String {
    format!("{}/{ANYTHING}", path.as_str().trim_end_matches('/'))
}
