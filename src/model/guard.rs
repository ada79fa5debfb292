//! What guards a run's tools besides rules: policies that a person sets while it goes on (`sources/001`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Access, CommandPattern, PathGlob, SanitizedPath, ToolName, Verdict};

/// The policies of one guard. Their order says nothing: a no counts before a question, a question before a yes.
///
/// A policy gives no right. What it allows an agent that lacks the right for it, stays a question for that right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "whoever sets policies sets all of them")]
pub struct Policies {
    /// Paths that are neither read, written nor run (`forbidden-globs`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<PathGlob>,
    /// What is read (`read-path-policy`). What is not read is not run, either.
    #[serde(default, skip_serializing_if = "PathPolicy::is_silent")]
    pub read: PathPolicy,
    /// What is written (`write-path-policy`).
    #[serde(default, skip_serializing_if = "PathPolicy::is_silent")]
    pub write: PathPolicy,
    /// Commands that are not run (`deny-commands`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_commands: Vec<CommandPattern>,
    /// Commands that a person is asked about (`approve-commands`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approve_commands: Vec<CommandPattern>,
}

/// What may be done to paths, one way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "yes, no, and what is said of the rest")]
pub struct PathPolicy {
    /// It may be done to these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<PathGlob>,
    /// It is not done to these, whatever allows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<PathGlob>,
    /// What is said of a path that none of them is about; nothing, if this is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Verdict>,
}

impl PathPolicy {
    /// Whether it says nothing about any path.
    pub fn is_silent(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty() && self.default.is_none()
    }
}

/// All of both, each once.
fn both<T: Clone + PartialEq>(now: &[T], new: &[T]) -> Vec<T> {
    now.iter().chain(new.iter().filter(|more| !now.contains(more))).cloned().collect()
}

impl PathPolicy {
    fn narrowed(&self, new: &PathPolicy) -> PathPolicy {
        // To say nothing is to leave it to others, who may say yes or no.
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

impl Policies {
    /// `new`, as far as it lets nothing happen that these do not.
    pub(crate) fn narrowed(&self, new: &Policies) -> Policies {
        Policies {
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

    /// The name of the policy for reading or writing paths.
    pub(crate) fn name_of(access: Access) -> &'static str {
        match access {
            Access::Read => "read-path-policy",
            Access::Write => "write-path-policy",
        }
    }

    /// Whether that is the name of a policy with globs that allow and a default.
    pub(crate) fn is_about_paths(name: &str) -> bool {
        [Access::Read, Access::Write].into_iter().any(|access| Policies::name_of(access) == name)
    }

    /// The names of those that say anything, in the order in which they are told.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            (Policies::FORBIDDEN, self.forbidden.is_empty()),
            (Policies::name_of(Access::Read), self.read.is_silent()),
            (Policies::name_of(Access::Write), self.write.is_silent()),
            (Policies::DENY_COMMANDS, self.deny_commands.is_empty()),
            (Policies::APPROVE_COMMANDS, self.approve_commands.is_empty()),
        ];
        all.into_iter().filter(|(_, silent)| !silent).map(|(name, _)| name).collect()
    }

    pub(crate) fn path_mut(&mut self, access: Access) -> &mut PathPolicy {
        match access {
            Access::Read => &mut self.read,
            Access::Write => &mut self.write,
        }
    }

    /// How many globs and patterns they hold.
    pub(crate) fn len(&self) -> usize {
        let paths = [&self.read, &self.write].map(|policy| policy.allow.len() + policy.deny.len());
        let commands = self.deny_commands.len() + self.approve_commands.len();
        self.forbidden.len() + paths.iter().sum::<usize>() + commands
    }
}

/// A change of the path policies of one tool, or of all tools that a run has and will have (`sources/001`, "Request:
/// update_policy").
///
/// It adds to what is there. Globs that do not begin with `/` count below a base; those that deny and begin with `**/`
/// count everywhere.
///
/// ```
/// use bestow::{PolicyPatch, Verdict};
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
    /// Of what is read or of what is written; changes nothing yet.
    pub fn new(mode: Access) -> PolicyPatch {
        PolicyPatch { tool: None, mode, allow: Vec::new(), deny: Vec::new(), default: None, base: None }
    }

    /// Of what is read.
    pub fn reading() -> PolicyPatch {
        PolicyPatch::new(Access::Read)
    }

    /// Of what is written.
    pub fn writing() -> PolicyPatch {
        PolicyPatch::new(Access::Write)
    }

    /// Of this tool only; otherwise of all that the run has and will have.
    pub fn of(self, tool: ToolName) -> PolicyPatch {
        PolicyPatch { tool: Some(tool), ..self }
    }

    /// And these paths are allowed.
    pub fn allow(mut self, glob: &str) -> PolicyPatch {
        self.allow.push(glob.into());
        self
    }

    /// And these paths are denied.
    pub fn deny(mut self, glob: &str) -> PolicyPatch {
        self.deny.push(glob.into());
        self
    }

    /// And this is said of all other paths, in the place of what was said before.
    pub fn by_default(self, verdict: Verdict) -> PolicyPatch {
        PolicyPatch { default: Some(verdict), ..self }
    }

    /// Globs count below this directory; otherwise below the working directory of the run's agents.
    pub fn below(self, base: SanitizedPath) -> PolicyPatch {
        PolicyPatch { base: Some(base), ..self }
    }

    /// Whether it takes a base to know what is meant.
    pub(crate) fn needs_base(&self) -> bool {
        let relative = |glob: &&Arc<str>| !glob.starts_with('/');
        let denied_here = |glob: &&Arc<str>| relative(glob) && !glob.starts_with("**/");
        self.allow.iter().any(|glob| relative(&glob)) || self.deny.iter().any(|glob| denied_here(&glob))
    }
}

/// The guard of one tool in one run, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Guard {
    /// Which tool.
    pub tool: ToolName,
    /// The names of what speaks: policies, then what people said for this run, oldest first.
    pub names: Vec<Arc<str>>,
    /// The policies.
    pub policies: Arc<Policies>,
}
