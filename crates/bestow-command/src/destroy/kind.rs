//! The kinds of operands that a destructive form may require.

use crate::{
    critical_paths::{is_critical_outside, is_device, is_doomed, is_system_file, is_tree, is_vital, names_device},
    place::Place,
    programs::OperandKind,
};

impl OperandKind {
    /// Returns a description for a person.
    pub(crate) fn told(self) -> &'static str {
        match self {
            OperandKind::CriticalPath => "a critical path",
            OperandKind::CriticalPathOutside => "a critical path outside the working directory",
            OperandKind::CriticalPathElsewhere => "a critical path on another machine",
            OperandKind::CriticalTree => "a critical path with everything below it",
            OperandKind::SearchRoot => "a critical path at which a search starts",
            OperandKind::SystemFile => "a file of the system",
            OperandKind::VitalFile => "a file that the system starts from or knows its users by",
            OperandKind::PrivateKey => "a private key or a file that lets users log in",
            OperandKind::Device => "a device",
            OperandKind::DeviceOption => "a device or an assignment of one",
            OperandKind::Drive => "a drive",
            OperandKind::DeletedReference => "a reference without a source",
        }
    }

    /// Returns true if an operand is of this kind.
    pub(super) fn has(self, operand: &str, place: &Place) -> bool {
        match self {
            OperandKind::CriticalPath => is_doomed(operand, place),
            OperandKind::CriticalPathOutside => is_critical_outside(operand, place),
            OperandKind::CriticalPathElsewhere => is_critical_elsewhere(operand),
            OperandKind::CriticalTree => is_tree(operand, place),
            OperandKind::SearchRoot => is_search_root(operand, place),
            OperandKind::SystemFile => is_system_file(operand, place),
            OperandKind::VitalFile => is_vital(operand, place),
            OperandKind::PrivateKey => is_private_key(operand),
            OperandKind::Device => is_device(operand),
            OperandKind::DeviceOption => names_device(operand),
            OperandKind::Drive => is_drive(operand),
            OperandKind::DeletedReference => operand.starts_with(':') && operand.len() > 1,
        }
    }
}

/// Returns true if `find` starts at a critical path, or in a working directory that is one. Ordinary work below the
/// working directory does not count.
fn is_search_root(path: &str, place: &Place) -> bool {
    let here = matches!(place, Place::At(at) if is_critical_outside(at, &Place::Start));
    is_critical_outside(path, place) || (matches!(path, "." | "..") && here)
}

/// Returns true for a critical path on another machine, such as `host:/home`.
fn is_critical_elsewhere(operand: &str) -> bool {
    // Services are deployed below `/srv` and similar directories.
    let deployed = ["/srv", "/data", "/opt", "/mnt", "/media", "/backup", "/workspace"];
    operand.split_once(':').is_some_and(|(host, path)| {
        let served = deployed.iter().any(|top| path.starts_with(top));
        !host.contains('/') && !served && is_critical_outside(path, &Place::Start)
    })
}

/// Returns true for a private key, or a file that lets users log in, or all of these files.
fn is_private_key(path: &str) -> bool {
    const KEYS: &[&str] = &["id_", "authorized_keys", "*", "private-keys", "secring", "pubring"];
    let mut components = path.split('/').filter(|component| !matches!(*component, "" | "."));
    let mut inside = false;
    components.any(|component| {
        let is_key = inside && KEYS.iter().any(|key| component.starts_with(key));
        inside = matches!(component, ".ssh" | ".gnupg");
        is_key
    })
}

/// Returns true for a drive name such as `c:` and `D:\`.
fn is_drive(word: &str) -> bool {
    matches!(word.as_bytes(), [letter, b':'] | [letter, b':', _] if letter.is_ascii_alphabetic())
}
