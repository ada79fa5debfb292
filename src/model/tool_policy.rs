//! Tool policies. A person sets them for the tools of a run while it is in progress, in addition to rules
//! (`sources/001`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Access, CommandPattern, PathGlob, SanitizedPath, ToolName, Verdict};

/// The policies of one tool. Their order has no meaning: deny beats ask, and ask beats allow.
///
/// A policy gives no permission. If it allows an action and the agent lacks the permission, the engine still asks for
/// the permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "a caller that sets policies sets all of them")]
pub struct ToolPolicies {
    /// Paths that must not be read, written or run (`forbidden-globs`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<PathGlob>,
    /// The policy for reading (`read-path-policy`). A path that must not be read must not be run either.
    #[serde(default, skip_serializing_if = "PathPolicy::is_silent")]
    pub read: PathPolicy,
    /// The policy for writing (`write-path-policy`).
    #[serde(default, skip_serializing_if = "PathPolicy::is_silent")]
    pub write: PathPolicy,
    /// Commands that must not run (`deny-commands`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_commands: Vec<CommandPattern>,
    /// Commands that need an approval (`approve-commands`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approve_commands: Vec<CommandPattern>,
}

/// The policy for one kind of access to paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "allow, deny, and the default")]
pub struct PathPolicy {
    /// The allowed paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<PathGlob>,
    /// The denied paths. A denial beats every approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<PathGlob>,
    /// The verdict for all other paths. None leaves them to other rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Verdict>,
}

impl PathPolicy {
    /// Returns true if the policy applies to no path.
    pub fn is_silent(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty() && self.default.is_none()
    }
}

/// Returns the elements of both lists, without duplicates.
fn both<T: Clone + PartialEq>(now: &[T], new: &[T]) -> Vec<T> {
    now.iter().chain(new.iter().filter(|more| !now.contains(more))).cloned().collect()
}

impl PathPolicy {
    fn narrowed(&self, new: &PathPolicy) -> PathPolicy {
        // A policy without a default leaves the verdict to others, who may allow or deny.
        let strictness = |said: &Option<Verdict>| match said {
            Some(Verdict::Allow) => 0,
            None => 1,
            Some(Verdict::Ask) => 2,
            Some(Verdict::Deny) => 3,
        };
        PathPolicy {
            allow: new.allow.iter().filter(|glob| self.allow.contains(glob)).cloned().collect(),
            deny: both(&self.deny, &new.deny),
            default: [self.default, new.default].into_iter().max_by_key(strictness).flatten(),
        }
    }
}

impl ToolPolicies {
    /// Returns the part of `new` that allows nothing which these policies do not allow.
    pub(crate) fn narrowed(&self, new: &ToolPolicies) -> ToolPolicies {
        ToolPolicies {
            forbidden: both(&self.forbidden, &new.forbidden),
            read: self.read.narrowed(&new.read),
            write: self.write.narrowed(&new.write),
            deny_commands: both(&self.deny_commands, &new.deny_commands),
            approve_commands: both(&self.approve_commands, &new.approve_commands),
        }
    }

    pub(crate) const FORBIDDEN: &'static str = "forbidden-globs";
    pub(crate) const DENY_COMMANDS: &'static str = "deny-commands";
    pub(crate) const APPROVE_COMMANDS: &'static str = "approve-commands";

    /// Returns the name of the policy for reading or writing paths.
    pub(crate) fn name_of(access: Access) -> &'static str {
        match access {
            Access::Read => "read-path-policy",
            Access::Write => "write-path-policy",
        }
    }

    /// Returns true if `name` is a policy with allowing globs and a default.
    pub(crate) fn is_about_paths(name: &str) -> bool {
        [Access::Read, Access::Write].into_iter().any(|access| ToolPolicies::name_of(access) == name)
    }

    /// Returns the names of the non-empty policies, in display order.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            (ToolPolicies::FORBIDDEN, self.forbidden.is_empty()),
            (ToolPolicies::name_of(Access::Read), self.read.is_silent()),
            (ToolPolicies::name_of(Access::Write), self.write.is_silent()),
            (ToolPolicies::DENY_COMMANDS, self.deny_commands.is_empty()),
            (ToolPolicies::APPROVE_COMMANDS, self.approve_commands.is_empty()),
        ];
        all.into_iter().filter(|(_, silent)| !silent).map(|(name, _)| name).collect()
    }

    pub(crate) fn path_mut(&mut self, access: Access) -> &mut PathPolicy {
        match access {
            Access::Read => &mut self.read,
            Access::Write => &mut self.write,
        }
    }

    /// Returns the number of globs and patterns.
    pub(crate) fn len(&self) -> usize {
        let paths = [&self.read, &self.write].map(|policy| policy.allow.len() + policy.deny.len());
        let commands = self.deny_commands.len() + self.approve_commands.len();
        self.forbidden.len() + paths.iter().sum::<usize>() + commands
    }
}

/// A change of the path policies of one tool, or of all present and future tools of a run (`sources/001`, "Request:
/// update_policy").
///
/// The change adds to the existing policies. Globs that do not begin with `/` apply below a base. Globs that deny and
/// begin with `**/` apply everywhere.
///
/// ```
/// use bestow::{decision::Verdict, tool::PolicyPatch};
/// let patch = PolicyPatch::reading().of("read_file".parse()?).allow("generated/**").deny("generated/keys/**");
/// let strict = PolicyPatch::writing().by_default(Verdict::Deny);
/// # let _ = (patch, strict);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct PolicyPatch {
    pub(crate) tool: Option<ToolName>,
    pub(crate) mode: Access,
    pub(crate) allow: Vec<Arc<str>>,
    pub(crate) deny: Vec<Arc<str>>,
    pub(crate) default: Option<Verdict>,
    pub(crate) base: Option<SanitizedPath>,
}

impl PolicyPatch {
    /// Creates an empty change of the policy for one kind of access.
    pub fn new(mode: Access) -> PolicyPatch {
        PolicyPatch { tool: None, mode, allow: Vec::new(), deny: Vec::new(), default: None, base: None }
    }

    /// Creates an empty change of the policy for reading.
    pub fn reading() -> PolicyPatch {
        PolicyPatch::new(Access::Read)
    }

    /// Creates an empty change of the policy for writing.
    pub fn writing() -> PolicyPatch {
        PolicyPatch::new(Access::Write)
    }

    /// Limits the change to this tool. Without it, the change applies to all present and future tools of the run.
    pub fn of(self, tool: ToolName) -> PolicyPatch {
        PolicyPatch { tool: Some(tool), ..self }
    }

    /// Adds allowed paths.
    pub fn allow(mut self, glob: &str) -> PolicyPatch {
        self.allow.push(glob.into());
        self
    }

    /// Adds denied paths.
    pub fn deny(mut self, glob: &str) -> PolicyPatch {
        self.deny.push(glob.into());
        self
    }

    /// Sets the verdict for all other paths. It replaces the previous default.
    pub fn by_default(self, verdict: Verdict) -> PolicyPatch {
        PolicyPatch { default: Some(verdict), ..self }
    }

    /// Sets the base directory of relative globs. Without it, the base is the working directory of the run's agents.
    pub fn below(self, base: SanitizedPath) -> PolicyPatch {
        PolicyPatch { base: Some(base), ..self }
    }

    /// Returns true if a glob needs a base.
    pub(crate) fn needs_base(&self) -> bool {
        let relative = |glob: &&Arc<str>| !glob.starts_with('/');
        let denied_here = |glob: &&Arc<str>| relative(glob) && !glob.starts_with("**/");
        self.allow.iter().any(|glob| relative(&glob)) || self.deny.iter().any(|glob| denied_here(&glob))
    }
}

/// The current policy of one tool in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolPolicy {
    /// The tool.
    pub tool: ToolName,
    /// The names of everything that applies: first policies, then saved decisions for this run, oldest first.
    pub names: Vec<Arc<str>>,
    /// The policies.
    pub policies: Arc<ToolPolicies>,
}
