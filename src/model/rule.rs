//! Rules that a person writes: actions that are allowed besides permissions, that need an approval, or that are denied.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{CommandPattern, CommandShape, Escaped, Operation, PathGlob, Place, Reason, ToolName, Verdict};

/// One rule. An action must meet every condition that is set. A rule without any condition applies to every action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "a verdict, its conditions, and where it is written")]
pub struct Rule {
    /// The verdict of the rule.
    pub verdict: Verdict,
    /// Condition: the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// Condition: the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Condition: the canonical path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathGlob>,
    /// Condition: the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandPattern>,
    /// Condition: the shape of the command. A person's permanent approval of a command sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<CommandShape>,
    /// Condition: the directory in which the command runs. Without it, a rule that allows a command applies in the
    /// working directory of the agent only. A rule that denies or asks then applies in every directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<RuleCwd>,
    /// True if the rule also allows what it allows to the agents that this agent created, and to their descendants.
    /// Only a rule that allows has this: what denies or asks always binds them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub children: bool,
    /// The reason, for people and agents to whom the rule applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Reason>,
    /// The position of the rule in its file.
    pub place: Place,
}

impl Rule {
    /// Returns true if two rules have equal conditions. Their positions are not compared.
    pub fn is_about_the_same(&self, other: &Rule) -> bool {
        (&self.tool, self.operation, &self.path, &self.command, &self.shape, &self.cwd)
            == (&other.tool, other.operation, &other.path, &other.command, &other.shape, &other.cwd)
    }

    /// Returns true if two rules have equal verdicts and equal conditions, and apply to the same agents. Their
    /// positions are not compared.
    pub fn says_the_same(&self, other: &Rule) -> bool {
        (self.verdict, self.children) == (other.verdict, other.children) && self.is_about_the_same(other)
    }
}

/// Formats the rule on one line, as in "deny fs.write of `/work/site/secrets/**`".
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.verdict)?;
        match self.operation {
            Some(operation) => write!(f, "{operation}")?,
            None => f.write_str("everything")?,
        }
        if let Some(path) = &self.path {
            write!(f, " of `{}`", Escaped(path.as_str()))?;
        }
        if let Some(command) = &self.command {
            write!(f, " like `{}`", Escaped(command.as_str()))?;
        }
        if let Some(shape) = &self.shape {
            write!(f, " of the shape `{}`", Escaped(&shape.shown))?;
        }
        match &self.cwd {
            Some(RuleCwd::Anywhere) => f.write_str(" anywhere")?,
            Some(RuleCwd::In(glob)) => write!(f, " in `{}`", Escaped(glob.as_str()))?,
            None => {}
        }
        if let Some(tool) = &self.tool {
            write!(f, " with the tool {tool}")?;
        }
        if self.children {
            f.write_str(" and for children")?;
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
    /// Directories whose canonical paths match this glob.
    In(PathGlob),
}

/// A reference to the source of a verdict, so that a person can find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "whatever speaks about an action must be found again")]
pub enum RuleRef {
    /// A rule of a file.
    Rule {
        /// The rule on one line.
        rule: Arc<str>,
        /// The position of the rule.
        place: Place,
    },
    /// A named policy of a tool in a run.
    Policy {
        /// The tool.
        tool: ToolName,
        /// The name of the policy.
        name: Arc<str>,
    },
    /// A saved decision of a person.
    Ruling(super::SavedDecisionId),
    /// A protected path.
    Protected(super::SanitizedPath),
    /// A hook of the host program.
    Hook(Arc<str>),
    /// A violation that the sandbox recorded.
    Violation(super::ViolationId),
    /// A source that applies because it binds the agent that created this one.
    OfParent {
        /// The creating agent.
        agent: super::AgentId,
        /// The source that binds the creating agent.
        rule: Box<RuleRef>,
    },
}

impl RuleRef {
    /// Returns true if the source is a policy, directly or through a parent.
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
            RuleRef::Rule { rule, place } => write!(f, "{place}: {}", Escaped(rule)),
            RuleRef::Policy { tool, name } => write!(f, "{} of {tool}", Escaped(name)),
            RuleRef::Ruling(id) => write!(f, "{id}"),
            RuleRef::Protected(path) => write!(f, "protected `{}`", Escaped(path.as_str())),
            RuleRef::Hook(name) => write!(f, "hook {}", Escaped(name)),
            RuleRef::Violation(id) => write!(f, "violation {id}"),
            RuleRef::OfParent { agent, rule } => write!(f, "{rule}, for {agent}"),
        }
    }
}
