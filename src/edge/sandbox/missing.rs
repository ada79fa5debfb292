//! What of a profile cannot be enforced, each thing by its name.

use rustix::process::geteuid;

use super::{Guard, Limits, Profile, guard::is_beyond_reach};

/// What is missing; nothing if the profile can be enforced, with bubblewrap or without.
pub(super) fn missing(profile: &Profile, has_bubblewrap: bool) -> Vec<String> {
    let mut all: Vec<_> = profile.unheld.iter().cloned().collect();
    if profile.is_kept_to_hosts() && !has_bubblewrap {
        let names = profile.domains.iter().map(|domain| format!("`{domain}`")).collect::<Vec<_>>().join(", ");
        all.push(format!("only bubblewrap can keep a network to {names}, and it is missing: install it"));
    }
    if profile.limits.processes.is_some_and(|most| most != Limits::UNLIMITED) && geteuid().is_root() {
        all.push(
            "the kernel does not bind the superuser to a limit of processes: set none, or run as another user"
                .to_owned(),
        );
    }
    if !has_bubblewrap {
        all.extend(without_bubblewrap(profile));
    }
    all
}

/// What only mounts and namespaces can do, as one sentence.
fn without_bubblewrap(profile: &Profile) -> Option<String> {
    // What nobody of this user can reach needs no mount.
    let hidden = profile.hidden.iter().filter(|path| !is_beyond_reach(path)).chain(&profile.processes);
    let hidden = hidden.map(|path| format!("keeping `{path}` from being read"));
    let absent = profile.absent.iter().filter(|path| profile.root_of(path).is_some());
    let absent = absent.map(|path| format!("keeping `{path}` from being created"));
    let guarded = profile.write.keys().filter(|root| profile.guard == Guard::Sensitive && root.as_path().is_dir());
    let guarded = guarded.map(|root| format!("keeping what is sensitive below `{root}` from being written"));
    let unwritten = profile.unwritten.iter().map(|path| format!("keeping `{path}` from being written"));
    let missing: Vec<String> = hidden.chain(absent).chain(unwritten).chain(guarded).collect();
    let sentence = || format!("bubblewrap is missing, and without it there is no {}", missing.join(", no "));
    (!missing.is_empty()).then(sentence)
}
