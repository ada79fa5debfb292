//! The parts of a profile that cannot be enforced, each by its name.

use super::{
    Guard, Limits, Profile,
    cgroup::ControlGroups,
    limits::{CountedBy, FEWEST_IN_A_NAMESPACE},
    places,
    read_only_paths::{ReadOnlyPaths, is_beyond_reach},
};
use crate::model::SanitizedPath;

const NO_GROUP: &str = "only a control group limits `total_memory`, and this process can make none: run it in a \
    delegated group (docs/sandbox.md), or set `memory`, which limits each process";

/// Lists the parts that cannot be enforced, with or without bubblewrap. The list is empty if the whole profile can be
/// enforced.
pub(super) fn missing(profile: &Profile, has_bubblewrap: bool, groups: &ControlGroups) -> Vec<String> {
    let mut all: Vec<_> = profile.unheld.iter().cloned().collect();
    if profile.is_kept_to_hosts() && !has_bubblewrap {
        let names = profile.domains.iter().map(|domain| format!("`{domain}`")).collect::<Vec<_>>().join(", ");
        all.push(format!("only bubblewrap can limit a network to {names}, and it is missing: install bubblewrap"));
    }
    all.extend(not_limited(profile, has_bubblewrap, groups));
    // A command that writes there could remove the placeholders of others, or falsify the leases.
    let own = places::directory();
    let inside = profile.write.keys().filter(|root| root.as_path().starts_with(&own));
    all.extend(
        inside.map(|root| format!("`{root}` contains files of running sandboxes: a command cannot write there")),
    );
    if !has_bubblewrap {
        let denied = ReadOnlyPaths::denied_by_globs(profile);
        match denied {
            Ok(denied) => all.extend(without_bubblewrap(profile, denied)),
            Err(why) => all.push(why.to_string()),
        }
    }
    all
}

/// Lists the limits that cannot be enforced for a command and everything that it starts.
fn not_limited(profile: &Profile, has_bubblewrap: bool, groups: &ControlGroups) -> Vec<String> {
    let is_set = |limit: Option<u64>| limit.filter(|limit| *limit != Limits::UNLIMITED);
    let (processes, memory) = (is_set(profile.limits.processes), is_set(profile.limits.total_memory));
    let processes = processes.filter(|_| !groups.can_count_processes());
    let processes = processes.and_then(|most| not_counted(most, has_bubblewrap));
    let memory = memory.filter(|_| !groups.can_limit_memory()).map(|_| NO_GROUP.to_owned());
    let needs_groups = groups.can_limit_memory() || groups.can_count_processes();
    let written = groups.written(profile.write.keys()).filter(|_| needs_groups);
    let written = written.map(|root| format!("`{root}` contains control groups: a command cannot write there"));
    processes.into_iter().chain(memory).chain(written).collect()
}

/// Returns the reason for which a command cannot be limited to this many processes, if there is one.
fn not_counted(most: u64, has_bubblewrap: bool) -> Option<String> {
    match CountedBy::here(has_bubblewrap) {
        CountedBy::Group | CountedBy::User => None,
        CountedBy::Namespace if most >= FEWEST_IN_A_NAMESPACE => None,
        CountedBy::Namespace => Some(format!(
            "a namespace counts the processes of the superuser, and its limit is at least {FEWEST_IN_A_NAMESPACE}: \
             set a higher limit, or run as another user"
        )),
        CountedBy::Nobody => Some(
            "the kernel applies a limit of processes to the superuser only with bubblewrap and Linux 6.14: set no \
             limit, or run as another user"
                .to_owned(),
        ),
    }
}

/// Lists the parts that need mounts and namespaces, as one sentence.
fn without_bubblewrap(profile: &Profile, denied: Vec<SanitizedPath>) -> Option<String> {
    // A path that this user cannot reach needs no mount.
    let hidden = profile.hidden.iter().filter(|path| !is_beyond_reach(path)).chain(&profile.processes);
    let hidden = hidden.map(|path| format!("keeping `{path}` from being read"));
    let absent = profile.absent.iter().filter(|path| profile.root_of(path).is_some());
    let absent = absent.map(|path| format!("keeping `{path}` from being created"));
    let guarded = profile.write.keys().filter(|root| profile.guard == Guard::Sensitive && root.as_path().is_dir());
    let guarded = guarded.map(|root| format!("keeping what is sensitive below `{root}` from being written"));
    let unwritten = profile.unwritten.iter().map(|path| format!("keeping `{path}` from being written"));
    let leases = places::directory();
    let holds_leases = profile.write.keys().any(|root| leases.starts_with(root) && root.as_path() != leases);
    let leases = holds_leases.then(|| format!("keeping `{}` from being written", leases.display()));
    let denied = denied.into_iter().map(|path| format!("keeping `{path}`, which a pattern denies"));
    let missing: Vec<String> =
        hidden.chain(denied).chain(leases).chain(absent).chain(unwritten).chain(guarded).collect();
    let sentence = || format!("bubblewrap is missing, and without it there is no {}", missing.join(", no "));
    (!missing.is_empty()).then(sentence)
}
