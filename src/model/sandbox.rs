//! The facts about the sandbox of a command (`sources/002`, "Sandbox profile").

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Domain, Escaped, SanitizedPath, ViolationId};

/// The restrictions in force when a command started: applied, and read back from the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxFacts {
    /// `read_only`, or `workspace_write` if the command may write something.
    pub mode: String,
    /// `bubblewrap` or `landlock`.
    pub backend: String,
    /// The version that the back end reports.
    pub backend_version: String,
    /// The Landlock version in force, if any.
    pub landlock_abi: Option<u32>,
    /// The start directory of the command.
    pub cwd: SanitizedPath,
    /// The directories that it may read, with everything below them except hidden paths.
    pub read_roots: Vec<SanitizedPath>,
    /// The directories that it may write.
    pub write_roots: Vec<SanitizedPath>,
    /// The paths below writable directories that it may read and not write.
    pub read_only: Vec<SanitizedPath>,
    /// The paths that it may not read either.
    pub hidden: Vec<SanitizedPath>,
    /// Paths that should be hidden and do not exist. They are outside of all writable directories. If another program
    /// creates one while the command runs, the command can read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_there: Vec<SanitizedPath>,
    /// True if the command has a network.
    pub network: bool,
    /// The only hosts that it may reach. Empty if the hosts are not restricted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The sockets that the command received, checked from outside. With `@events` it is the socket of the engine, and
    /// otherwise none.
    pub unix_sockets: Vec<String>,
    /// The names of its environment variables. The values are left out, because they may be secrets.
    pub environment: Vec<String>,
    /// Limits of the process, by name.
    pub process_limits: std::collections::BTreeMap<String, u64>,
    /// The mechanisms that enforce the kernel's limits: `rlimits` for each process, `pid_namespace` for all processes
    /// together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_by: Vec<String>,
    /// `full`: the library applied the sandbox and read it back from the kernel. A restriction that cannot be enforced
    /// prevents the start. `partial`: like `full`, except for the restrictions in
    /// [`not_enforced`](SandboxFacts::not_enforced). `stated`: the host program applied the sandbox and reported these
    /// facts.
    pub enforced: String,
    /// Restrictions that the library supports and that are not in force. The back end or the kernel does not support
    /// them here, or the profile gave them up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_enforced: Vec<String>,
    /// Further restrictions beyond the profile, because the back end cannot separate them.
    pub stricter: Vec<String>,
    /// The process id on the host. 0 if it is unknown.
    pub pid: i32,
    /// `NoNewPrivs` of the process.
    pub no_new_privs: bool,
    /// The number of seccomp filters in force. At least 1 if the kernel does not count them.
    pub seccomp_filters: u32,
    /// `CapEff` of the process.
    pub capabilities: String,
    /// SHA-256 of the command's words, each followed by a null byte.
    pub argv_digest: String,
    /// The violations of the agent's commands in this run that were recorded before this sandbox was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violation_refs: Vec<ViolationId>,
}

impl SandboxFacts {
    /// The value of [`enforced`](SandboxFacts::enforced) for facts that were read back, if no restriction is missing.
    pub const FULL: &'static str = "full";

    /// The value of [`enforced`](SandboxFacts::enforced) for facts that were read back, if a restriction is missing.
    pub const PARTIAL: &'static str = "partial";

    /// The value of [`enforced`](SandboxFacts::enforced) for facts that a host program reported.
    pub const STATED: &'static str = "stated";

    /// Creates facts about a sandbox of the host program. `backend` is its name, and the command starts in `cwd`. It
    /// may read everywhere. It may neither write nor use the network. Set the other fields to the true values.
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

/// An access of a sandboxed command that its profile forbids, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxViolation {
    /// The id of the violation, set when it is recorded. Decisions and sandboxes refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ViolationId>,
    /// The path or the host that the command tried to reach.
    #[serde(flatten)]
    pub access: BlockedAccess,
    /// The rule that forbids the access, for people.
    pub rule: String,
    /// The evidence: the output line in which the command reported the error, or the refusal of the egress proxy.
    pub evidence: String,
}

/// An access that a sandbox kept from a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockedAccess {
    /// A path that is hidden, or that the command may not write.
    Path(SanitizedPath),
    /// A host outside the network of the command.
    Host(Domain),
}

impl BlockedAccess {
    /// Returns the path, if it is one.
    pub fn path(&self) -> Option<&SanitizedPath> {
        match self {
            BlockedAccess::Path(path) => Some(path),
            BlockedAccess::Host(_) => None,
        }
    }
}

/// Formats the path or the host.
impl fmt::Display for BlockedAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockedAccess::Path(path) => fmt::Display::fmt(&Escaped(path.as_str()), f),
            BlockedAccess::Host(host) => fmt::Display::fmt(host, f),
        }
    }
}

impl SandboxViolation {
    #[cfg(feature = "sandbox")]
    pub(crate) fn new(access: BlockedAccess, rule: String, evidence: String) -> SandboxViolation {
        SandboxViolation { id: None, access, rule, evidence }
    }
}
