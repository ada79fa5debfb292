//! The only clock of these tests: it bounds a race, and detects a call that hangs.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "races run on the machine's time")]
pub(super) fn now() -> Instant {
    Instant::now()
}
