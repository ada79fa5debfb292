//! Rules that a person writes down: what an agent may do besides holding rights, what must be asked, what never happens.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{CommandPattern, CommandShape, Operation, PathGlob, Place, Reason, Shown, ToolName, Verdict};

/// One rule: every condition that is there must be met. A rule without any condition speaks about everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "a verdict, its conditions, and where it is written")]
pub struct Rule {
    /// What it says.
    pub verdict: Verdict,
    /// About this tool only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// About this operation only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// About these paths only, as they really are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathGlob>,
    /// About these commands only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandPattern>,
    /// About commands of just this shape only: what a person means who says "always" about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<CommandShape>,
    /// About commands that run there only. Without it, a rule that allows a command allows it in the working directory of
    /// the agent. A rule that denies or asks speaks about a command wherever it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<RuleCwd>,
    /// Why, for whoever meets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Reason>,
    /// Where it is written.
    pub place: Place,
}

impl Rule {
    /// Whether two rules have the same conditions, wherever they are written.
    pub fn is_about_the_same(&self, other: &Rule) -> bool {
        (&self.tool, self.operation, &self.path, &self.command, &self.shape, &self.cwd)
            == (&other.tool, other.operation, &other.path, &other.command, &other.shape, &other.cwd)
    }

    /// Whether two rules say the same about the same, wherever they are written.
    pub fn says_the_same(&self, other: &Rule) -> bool {
        self.verdict == other.verdict && self.is_about_the_same(other)
    }
}

/// The rule in one line, as in "deny fs.write of `/work/site/secrets/**`".
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.verdict)?;
        match self.operation {
            Some(operation) => write!(f, "{operation}")?,
            None => f.write_str("everything")?,
        }
        if let Some(path) = &self.path {
            write!(f, " of `{}`", Shown(path.as_str()))?;
        }
        if let Some(command) = &self.command {
            write!(f, " like `{}`", Shown(command.as_str()))?;
        }
        if let Some(shape) = &self.shape {
            write!(f, " of the shape `{}`", Shown(&shape.shown))?;
        }
        match &self.cwd {
            Some(RuleCwd::Anywhere) => f.write_str(" anywhere")?,
            Some(RuleCwd::In(glob)) => write!(f, " in `{}`", Shown(glob.as_str()))?,
            None => {}
        }
        if let Some(tool) = &self.tool {
            write!(f, " by {tool}")?;
        }
        self.why.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
    }
}

/// The directories in which a rule allows a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "everywhere, or what a glob names")]
pub enum RuleCwd {
    /// Every directory.
    Anywhere,
    /// Directories like this, as they really are.
    In(PathGlob),
}

/// What spoke, so that a person finds it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "whatever speaks about an action must be found again")]
pub enum RuleRef {
    /// A rule of a file.
    Rule {
        /// In one line.
        rule: Arc<str>,
        /// Where.
        place: Place,
    },
    /// A named policy of the guard of a run's tool.
    Policy {
        /// Whose guard.
        tool: ToolName,
        /// Which.
        name: Arc<str>,
    },
    /// What a person said.
    Ruling(super::RulingId),
    /// A path that nobody reaches.
    Protected(super::SanitizedPath),
    /// A hook of the host program.
    Hook(Arc<str>),
    /// A violation that the sandbox recorded.
    Violation(super::ViolationId),
    /// The same, because it binds the agent that created this one.
    OfParent {
        /// That agent.
        agent: super::AgentId,
        /// What binds it.
        rule: Box<RuleRef>,
    },
}

impl RuleRef {
    /// Whether it is a policy, if only because it binds a parent.
    pub(crate) fn is_policy(&self) -> bool {
        match self {
            RuleRef::Policy { .. } => true,
            RuleRef::OfParent { rule, .. } => rule.is_policy(),
            RuleRef::Rule { .. }
            | RuleRef::Ruling(_)
            | RuleRef::Protected(_)
            | RuleRef::Hook(_)
            | RuleRef::Violation(_) => false,
        }
    }
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleRef::Rule { rule, place } => write!(f, "{place}: {}", Shown(rule)),
            RuleRef::Policy { tool, name } => write!(f, "{} of {tool}", Shown(name)),
            RuleRef::Ruling(id) => write!(f, "{id}"),
            RuleRef::Protected(path) => write!(f, "protected `{}`", Shown(path.as_str())),
            RuleRef::Hook(name) => write!(f, "hook {}", Shown(name)),
            RuleRef::Violation(id) => write!(f, "violation {id}"),
            RuleRef::OfParent { agent, rule } => write!(f, "{rule}, for {agent}"),
        }
    }
}
