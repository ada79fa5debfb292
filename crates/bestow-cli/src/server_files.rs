//! The files of a server in its state directory.

use std::{fs, path::Path};

/// The file that has the address of the running server.
pub(crate) const SERVER_FILE: &str = "server.json";

/// The socket of the running server.
pub(crate) const SERVER_SOCKET: &str = "server.sock";

/// The page that leads the browser to the dashboard. The secret of a link does not belong on a command line, which
/// other users can read.
pub(crate) const PAGE: &str = "dashboard.html";

/// The file that a running engine keeps locked.
pub(crate) const LOCK: &str = "LOCK";

/// Removes a page that leads to the dashboard. Its link has been used, or is not valid any more.
pub(crate) fn remove_page(state: &Path) {
    // Without one, there is nothing to do.
    let _ = fs::remove_file(state.join(PAGE));
}
