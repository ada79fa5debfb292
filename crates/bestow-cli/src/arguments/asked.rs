//! What can be asked for.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use super::action::Deciding;
use crate::tasks::Work;
use bestow::{
    AgentId, Permission, command,
    control::{AdminCommand, GrantOrDecisionId},
    journal::{Head, audit::Filter},
    sandbox::{Domain, Format, Limit},
};

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    Help,
    Version,
    /// `check`
    Check(Deciding),
    /// `explain`
    Explain(Deciding),
    /// `check-config`
    CheckConfig(PathBuf),
    /// `protected`
    Protected(Option<PathBuf>),
    /// `classify`
    Classify(Classifying),
    /// `path --jsonl`
    Path,
    /// `tasks`
    Tasks(PathBuf, Work),
    /// `tools`
    Tools(Option<PathBuf>),
    /// `exec`
    Exec(Scoped),
    /// `sandbox profile`
    Profile(Scoped, Format),
    /// `grants`, `why`, `requests`, `approve`, `deny`, `revoke`
    Order(Ordered),
    /// `keep`
    Keep(Keeping),
    /// `audit`
    Audit(Audit),
    /// `request`
    Request(Said, Option<Duration>),
    /// `grant`
    Grant(Said, AgentId),
    /// `events`
    Events,
}

/// For people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Human,
    Json,
}

/// An order for whoever has a state directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ordered {
    pub(crate) state: PathBuf,
    pub(crate) order: AdminCommand,
    /// The file in which the yes is written down for good.
    pub(crate) write: Option<PathBuf>,
    /// The file with the secret of a person's surface, where no terminal is.
    pub(crate) token: Option<PathBuf>,
    pub(crate) style: Style,
}

/// Something that the engine keeps for good, and the file in which it is to stand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Keeping {
    pub(crate) state: PathBuf,
    pub(crate) held: GrantOrDecisionId,
    pub(crate) config: PathBuf,
}

/// What to do with a trail.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Audit {
    Show { state: PathBuf, filter: Filter, style: Style },
    Verify { state: PathBuf, expected: Option<Head> },
    Head { state: PathBuf },
    Cut { state: PathBuf, before: u64 },
}

/// What a confined command says to its engine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) tags: Vec<Permission>,
    pub(crate) reason: String,
}

/// What is to be classified, and by which rules.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Classifying {
    pub(crate) form: Form,
    pub(crate) profile: Option<command::Profile>,
    pub(crate) config: Option<PathBuf>,
}

/// How questions come and answers go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One command, for a person.
    Text(OsString),
    /// One command, for a program.
    Json(OsString),
    /// Lines of standard input.
    Lines,
}

/// A command, or none, within the scope of an agent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scoped {
    pub(crate) agent: AgentId,
    pub(crate) config: PathBuf,
    pub(crate) named: Vec<Permission>,
    pub(crate) domains: Vec<Domain>,
    pub(crate) time: Option<Duration>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) words: Vec<OsString>,
}
