//! Paths that no grant reaches, whatever the file says, unless it names exactly that path.

use std::{collections::BTreeSet, path::Path, sync::Arc};

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

/// The built-in list, what the file adds, and the file itself with every link that leads to it.
pub(super) fn list(home: Option<&Path>, added: Vec<SanitizedPath>, policy: &Trail) -> Arc<[SanitizedPath]> {
    let home = home.and_then(Path::to_str).into_iter();
    let built_in = home.flat_map(|home| IN_HOME.iter().map(move |path| format!("{home}/{path}")));
    let built_in = built_in.chain(OF_THE_SYSTEM.iter().map(|path| (*path).to_owned()));
    let own = policy.links.iter().chain([&policy.real]).filter_map(|path| path.to_str()?.parse().ok());
    let named = built_in.filter_map(|path| path.parse().ok()).chain(added).chain(own);
    named.flat_map(with_real).collect::<BTreeSet<_>>().into_iter().collect()
}

/// A path and, if that is another one, where it leads: a link to a secret is as good as the secret.
fn with_real(path: SanitizedPath) -> impl Iterator<Item = SanitizedPath> {
    // What this process may not look into it cannot resolve either; the name stays protected.
    let real = fs::real(path.as_str()).ok().map(|real| real.path().clone());
    [Some(path), real].into_iter().flatten()
}
