//! The files of a server in its state directory.

use std::{fs, path::Path};

use bestow::text::Escaped;

/// The state directory, if no other is named.
pub(crate) const STATE_DIRECTORY: &str = "state";

/// The file that has the address of the running server.
pub(crate) const SERVER_FILE: &str = "server.json";

/// The socket of the running server.
pub(crate) const SERVER_SOCKET: &str = "server.sock";

/// The page that leads the browser to the dashboard. The secret of a link does not belong on a command line, which
/// other users can read.
pub(crate) const PAGE: &str = "dashboard.html";

/// The file that a running engine keeps locked.
pub(crate) const LOCK: &str = "LOCK";

/// The file of credentials of earlier versions.
const CREDENTIAL_FILE: &str = "credentials.json";

/// Names a file of credentials in a state directory. The records alone say which credentials count.
pub(crate) fn name_credential_file(state: &Path) {
    let file = state.join(CREDENTIAL_FILE);
    if fs::symlink_metadata(&file).is_ok() {
        eprintln!(
            "bestow: note: {} counts for nothing: a credential counts if the audit trail records it. `bestow token \
             list` shows those: remove the file",
            Escaped(&file.to_string_lossy())
        );
    }
}

/// Removes a page that leads to the dashboard. Its link has been used, or is not valid any more.
pub(crate) fn remove_page(state: &Path) {
    // Without one, there is nothing to do.
    let _ = fs::remove_file(state.join(PAGE));
}
