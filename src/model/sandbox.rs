//! What a sandboxed command ran under, as facts (`sources/002`, "Sandbox profile").

use serde::{Deserialize, Serialize};

use super::{SanitizedPath, ViolationId};

/// What was in force when a command started: applied, and read back from the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxFacts {
    /// `read_only`, or `workspace_write` when something may be written.
    pub mode: String,
    /// `bubblewrap` or `landlock`.
    pub backend: String,
    /// What it says of its version.
    pub backend_version: String,
    /// The Landlock version in force, if any.
    pub landlock_abi: Option<u32>,
    /// Where the command stands.
    pub cwd: SanitizedPath,
    /// What it may read: everything below these, but not what is hidden.
    pub read_roots: Vec<SanitizedPath>,
    /// What it may write.
    pub write_roots: Vec<SanitizedPath>,
    /// What it may read and not write, below a root that it may write.
    pub read_only: Vec<SanitizedPath>,
    /// What it may not read either.
    pub hidden: Vec<SanitizedPath>,
    /// What was to be hidden and is not there, below no root that the command may write: if somebody else makes it while
    /// the command runs, the command can read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_there: Vec<SanitizedPath>,
    /// Whether it has a network.
    pub network: bool,
    /// The hosts that its network is kept to; none if it is not kept to any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The sockets it was handed, compared from outside: with `@events` the one that leads to the engine, otherwise none.
    pub unix_sockets: Vec<String>,
    /// The names of its environment variables; values may be secrets.
    pub environment: Vec<String>,
    /// Limits of the process, by name.
    pub process_limits: std::collections::BTreeMap<String, u64>,
    /// What holds the limits that the kernel enforces: `rlimits` for each process, `pid_namespace` for all together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_by: Vec<String>,
    /// `full`: applied by the library, and read back from the kernel; what cannot be enforced does not run. `partial`: the
    /// same, but for what is [not enforced](SandboxFacts::not_enforced). `stated`: the host program applied it and reported
    /// these facts.
    pub enforced: String,
    /// What is not in force although the library can have it in force: for the back end, the kernel, or the profile, which
    /// gave it up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_enforced: Vec<String>,
    /// What is kept from the command beyond its profile, because the back end cannot tell it apart.
    pub stricter: Vec<String>,
    /// The process, as the host numbers it; 0 if it is not known.
    pub pid: i32,
    /// `NoNewPrivs` of the process.
    pub no_new_privs: bool,
    /// How many seccomp filters are in force, or at least 1 where the kernel does not count them.
    pub seccomp_filters: u32,
    /// `CapEff` of the process.
    pub capabilities: String,
    /// SHA-256 of the command's words, each followed by a null byte.
    pub argv_digest: String,
    /// The violations that were recorded of the agent's commands in this run before this sandbox was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violation_refs: Vec<ViolationId>,
}

impl SandboxFacts {
    /// The word in [`enforced`](SandboxFacts::enforced) for facts that were read back, where nothing is missing.
    pub const FULL: &'static str = "full";

    /// The word in [`enforced`](SandboxFacts::enforced) for facts that were read back, where something is missing.
    pub const PARTIAL: &'static str = "partial";

    /// The word in [`enforced`](SandboxFacts::enforced) for facts that a host program reports.
    pub const STATED: &'static str = "stated";

    /// Facts about a sandbox of the host program, called `backend`, that starts in `cwd`, allows reading everywhere, and
    /// allows neither writing nor the network. Set the other fields as they are.
    pub fn stated(backend: &str, cwd: SanitizedPath) -> SandboxFacts {
        SandboxFacts {
            mode: "read_only".into(),
            backend: backend.into(),
            backend_version: String::new(),
            landlock_abi: None,
            cwd,
            read_roots: vec![SanitizedPath::root()],
            write_roots: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            not_there: Vec::new(),
            network: false,
            hosts: Vec::new(),
            unix_sockets: Vec::new(),
            environment: Vec::new(),
            process_limits: std::collections::BTreeMap::new(),
            limited_by: Vec::new(),
            enforced: SandboxFacts::STATED.into(),
            not_enforced: Vec::new(),
            stricter: Vec::new(),
            pid: 0,
            no_new_privs: false,
            seccomp_filters: 0,
            capabilities: String::new(),
            argv_digest: String::new(),
            violation_refs: Vec::new(),
        }
    }
}

/// Something a sandboxed command tried that its profile forbids, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxViolation {
    /// Its name, once it is recorded: decisions and sandboxes refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ViolationId>,
    /// What was reached for.
    pub path: SanitizedPath,
    /// Which rule forbids it, in words.
    pub rule: String,
    /// What shows it: the line in which the command reported the kernel's error.
    pub evidence: String,
}

impl SandboxViolation {
    #[cfg(feature = "sandbox")]
    pub(crate) fn new(path: SanitizedPath, rule: String, evidence: String) -> SandboxViolation {
        SandboxViolation { id: None, path, rule, evidence }
    }
}
