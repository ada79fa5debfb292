//! The limits on a bot's use of the host's resources.

use std::time::Duration;

/// The limits of one connection. The defaults suit bots that a person started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum length of one line from a bot, in bytes without the line break: 1 MiB.
    pub line: usize,
    /// The number of bytes waiting to be written to a bot at which reading from it pauses: 256 KiB.
    pub outgoing: usize,
    /// The number of invalid lines in a row that a bot may write: 32. One more ends the connection.
    pub bad_lines: u32,
    /// The maximum time that a bot may leave its waiting output unread before it counts as dead: 30 s.
    pub stall: Duration,
    /// The maximum time that a process has to end after its input is closed: 2 s. Then it is killed.
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
