//! The one place where these tests ask for the time: to bound a race, and to notice a call that hangs.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "races run on the machine's time")]
pub(super) fn now() -> Instant {
    Instant::now()
}
