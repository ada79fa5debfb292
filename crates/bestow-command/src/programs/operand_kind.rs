//! The kinds of operands that a destructive form may require. The build script reads them with this file, too.

use serde::Deserialize;

/// A kind of operands that a destructive form may require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OperandKind {
    /// A path whose removal destroys the system, a home, or a whole project.
    CriticalPath,
    /// A critical path that is absolute, in the home, or on another drive.
    CriticalPathOutside,
    /// A critical path on another machine, such as `host:/home`.
    CriticalPathElsewhere,
    /// A critical path with everything below it.
    CriticalTree,
    /// A critical path at which a search starts.
    SearchRoot,
    SystemFile,
    /// A file that the system starts from, or that knows its users.
    VitalFile,
    /// A private key, or a file that lets users log in.
    PrivateKey,
    /// A disk, a partition, a tape or memory.
    Device,
    /// A device, or an assignment of a device such as `of=/dev/sda`.
    DeviceOption,
    /// A drive such as `c:`.
    Drive,
    /// A reference without a source, such as `:main`.
    DeletedReference,
}
