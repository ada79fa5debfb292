//! The restrictions that a sandbox of this library can have and that this one does not have, as sentences for the
//! facts.

/// The properties of a sandbox that decide about missing restrictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lacking {
    pub(super) has_namespaces: bool,
    pub(super) has_landlock: bool,
    /// True if the command can write sensitive names below the write roots.
    pub(super) is_unguarded: bool,
    /// True if the limit of processes counts all processes of the user.
    pub(super) counts_together: bool,
    /// True if a path that is to be hidden does not exist, and another process could create it.
    pub(super) is_missing_some: bool,
}

const WITHOUT_NAMESPACES: [&str; 3] = [
    "other processes are seen: the command lines of this user's, the names of all",
    "a supervising process ends the children of the command; they continue if it is killed together with the host",
    "an `ioctl` that is not among those refused can change a file outside that may be opened for reading",
];

const COUNTED_TOGETHER: &str = "the limit of processes counts all processes of this user";

const WITHOUT_LANDLOCK: &str =
    "there is no Landlock: pipes and devices outside of the write roots are written where their modes allow it";

const NOT_THERE: &str = "the paths in `not_there` do not exist, and nothing covers them: \
    the command can read one that another process creates";

const UNGUARDED: &str = "sensitive names below the write roots can be written: the profile has given their guard up";

/// Returns one sentence for each missing restriction. The list is empty if all are in force.
pub(super) fn lacking(of: &Lacking) -> Vec<String> {
    let Lacking { has_namespaces, has_landlock, is_unguarded, counts_together, is_missing_some } = *of;
    let without_namespaces = WITHOUT_NAMESPACES.iter().filter(|_| !has_namespaces);
    let others = [
        (!has_namespaces && counts_together, COUNTED_TOGETHER),
        (!has_landlock, WITHOUT_LANDLOCK),
        (is_unguarded, UNGUARDED),
        (is_missing_some, NOT_THERE),
    ];
    let others = others.iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what);
    without_namespaces.chain(others).map(|what| (*what).to_owned()).collect()
}
