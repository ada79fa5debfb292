//! Paths that no grant reaches, whatever the file says, unless it names exactly that path.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use super::{Problem, finding::quoted};
use crate::{
    fs::{self, Trail},
    model::SanitizedPath,
};

/// Below the home directory: keys, tokens and passwords of the person.
const IN_HOME: [&str; 26] = [
    ".aws",
    ".azure",
    ".bitcoin",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/1Password",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/op",
    ".config/rclone",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
];

/// Of the machine: passwords, who may become whom, host keys.
const OF_THE_SYSTEM: [&str; 11] = [
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/kubernetes",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/root/.gnupg",
    "/root/.ssh",
];

/// The built-in list, what the file adds, and the file itself.
pub(super) fn list(
    home: Option<&SanitizedPath>,
    added: Vec<SanitizedPath>,
    own: Vec<SanitizedPath>,
) -> Arc<[SanitizedPath]> {
    let in_home = home.into_iter().flat_map(|home| IN_HOME.iter().map(move |path| format!("{home}/{path}")));
    let built_in = in_home.chain(OF_THE_SYSTEM.iter().map(|path| (*path).to_owned()));
    // A path that is too long to be one cannot be given either.
    let named = built_in.filter_map(|path| path.parse().ok()).chain(added).chain(own);
    named.flat_map(with_real).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The file itself, and every link that leads to it.
pub(super) fn own(policy: &Trail) -> Result<Vec<SanitizedPath>, Problem> {
    policy.links.iter().chain([&policy.real]).map(|path| sanitized(path, "the path of this file")).collect()
}

/// `path` as the engine takes it, or why it does not.
pub(super) fn sanitized(path: &Path, what: &str) -> Result<SanitizedPath, Problem> {
    let text = path.to_str().ok_or_else(|| Problem::new(format!("{what} is not UTF-8")))?;
    text.parse().map_err(|why| Problem::new(format!("{what} cannot be used: {}: {why}", quoted(text))))
}

/// A path and, if that is another one, where it leads: a link to a secret is as good as the secret.
fn with_real(path: SanitizedPath) -> impl Iterator<Item = SanitizedPath> {
    // What this process may not look into it cannot resolve either; the name stays protected.
    let real = fs::real(path.as_str()).ok().map(|real| real.path().clone());
    [Some(path), real].into_iter().flatten()
}
