//! How much a bot may do to the host.

use std::time::Duration;

/// Bounds on one connection. The defaults suit bots that a person started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most bytes one line of a bot may have, its line break not counted: 1 MiB.
    pub line: usize,
    /// How many bytes may wait to be written to a bot before nothing more is read from it: 256 KiB.
    pub outgoing: usize,
    /// How many wrong lines in a row a bot may write: 32. One more ends the connection.
    pub bad_lines: u32,
    /// How long a bot may leave what waits for it unread before it counts as dead: 30 s.
    pub stall: Duration,
    /// How long a process may take to end once its input is closed; then it is killed: 2 s.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            line: 1024 * 1024,
            outgoing: 256 * 1024,
            bad_lines: 32,
            stall: Duration::from_secs(30),
            grace: Duration::from_secs(2),
        }
    }
}
