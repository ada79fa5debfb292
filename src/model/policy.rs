//! Policies: the settings of an engine and its initial agents, as a person wrote them.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    AgentId, CommandRules, Escaped, Hold, Limits, PinnedPermission, Place, Profile, Reads, Rule, SanitizedPath,
    SensitiveName, TaskSettings, Tools, Verdict,
};

/// The treatment of a request if no approver is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "wait or do not")]
pub enum OnNoUser {
    /// Queues the request for the first approver that connects, until it expires.
    Queue,
    /// Resolves the request as unavailable at once.
    Deny,
}

/// The setting that allows or forbids requests to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a person is present or not")]
pub enum Interaction {
    /// People answer requests.
    Interactive,
    /// Requests are never answered: each resolves as unavailable at once, and none waits.
    NonInteractive,
}

/// The treatment of the part of a changed file that gives more permissions than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "at once or not")]
pub enum Widening {
    /// The part takes effect at once.
    Apply,
    /// The part waits until a person agrees.
    Confirm,
}

/// The settings of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Settings {
    /// The permissions that reading needs.
    pub reads: Reads,
    /// The setting that allows or forbids requests to people.
    pub interaction: Interaction,
    /// The treatment of requests if no approver is connected.
    pub on_no_user: OnNoUser,
    /// The treatment of a reload that gives more permissions.
    pub widening: Widening,
    /// The verdict about an action if no rule applies: ask or deny.
    pub default_verdict: Verdict,
    /// The time that a request waits.
    pub request_timeout: Duration,
    /// The time for which a denial also answers equal requests.
    pub denial_memory: Duration,
    /// The most requests of one agent that may be pending at once.
    pub max_pending: u32,
    /// The most requests per minute that may reach people, for one agent together with the agents it created.
    pub max_asks_per_minute: u32,
    /// The most grants that one agent may hold from other agents. As many again may come from people and the host
    /// program.
    pub max_grants: u32,
    /// The most agents that one agent, together with the agents it created, may create.
    pub max_children: u32,
    /// The most background processes of one agent at once.
    #[serde(default = "for_processes")]
    pub max_processes: u32,
    /// The resource limits for commands of agents, if the host program sets none.
    #[serde(default)]
    pub limits: Limits,
    /// The most times that a permission may be passed on from agent to agent.
    pub max_depth: u8,
    /// The time limit for a hook of the host program. A slower hook has failed.
    #[serde(default = "for_hooks")]
    pub hook_timeout: Duration,
    /// The most events per minute of one agent family that change nothing and are published one by one: refusals,
    /// denials, results of hooks. Further ones are published as a count.
    #[serde(default = "for_facts")]
    pub max_facts_per_minute: u32,
    /// The most changes per minute of one agent family: grants, requests, new agents, and their ends. Further changes
    /// must wait.
    #[serde(default = "for_changes")]
    pub max_changes_per_minute: u32,
    /// Paths that no grant covers, except a grant from a file that names exactly this path.
    pub protected: Arc<[SanitizedPath]>,
    /// The paths of the file that contains these settings. No agent gets a permission to write this file or a directory
    /// above it. Such a permission in the file itself is an error.
    #[serde(default)]
    pub governing: Arc<[SanitizedPath]>,
    /// The settings for scheduled tasks.
    #[serde(default)]
    pub tasks: TaskSettings,
    /// The rules for classifying commands.
    #[serde(default)]
    pub commands: CommandRules,
    /// The declared tools besides the built-in ones.
    #[serde(default)]
    pub tools: Tools,
    /// Sensitive names besides the built-in ones. Write access to a directory does not include these names, unless a
    /// permission names them.
    pub sensitive: Arc<[SensitiveName]>,
}

fn for_facts() -> u32 {
    600
}

fn for_changes() -> u32 {
    6000
}

fn for_hooks() -> Duration {
    Duration::from_secs(5)
}

fn for_processes() -> u32 {
    16
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            reads: Reads::Anywhere,
            interaction: Interaction::Interactive,
            on_no_user: OnNoUser::Queue,
            widening: Widening::Apply,
            default_verdict: Verdict::Ask,
            request_timeout: Duration::from_secs(300),
            denial_memory: Duration::from_secs(60),
            max_pending: 8,
            max_asks_per_minute: 60,
            max_grants: 1024,
            max_children: 256,
            max_processes: for_processes(),
            limits: Limits::default(),
            max_depth: 8,
            hook_timeout: for_hooks(),
            max_facts_per_minute: for_facts(),
            max_changes_per_minute: for_changes(),
            protected: Arc::default(),
            governing: Arc::default(),
            tasks: TaskSettings::default(),
            commands: CommandRules::default(),
            tools: Tools::default(),
            sensitive: Arc::default(),
        }
    }
}

/// A permission that a file gives to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "what, how and where written")]
pub struct PolicyPermission {
    /// The permission, with the object at its path.
    #[serde(rename = "right")]
    pub pinned: PinnedPermission,
    /// The allowed use: using and passing on, or only passing on.
    pub hold: Hold,
    /// The position in the file.
    pub place: Place,
}

/// One agent as a file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "who it is and what it starts with")]
pub struct AgentPolicy {
    /// The profile of the agent.
    pub profile: Profile,
    /// The permissions of the agent.
    #[serde(rename = "rights")]
    pub permissions: Vec<PolicyPermission>,
    /// The rules for the agent.
    #[serde(default, skip_serializing_if = "<[Rule]>::is_empty")]
    pub rules: Arc<[Rule]>,
}

/// A line of a file that gives nothing, because the object it names on the disk cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "where and why is what a person needs")]
pub struct LeftOut {
    /// The line.
    pub place: Place,
    /// The reason, and its remedy.
    pub why: Arc<str>,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, Escaped(&self.why))
    }
}

/// The content of one policy file, parsed, validated and with canonical paths.
///
/// ```
/// use bestow::{Kind, Policy, Profile, Settings, policy::AgentPolicy};
///
/// let profile = Profile::new("lead".parse()?, "you".parse()?, Kind::Foreground, "/work".parse()?);
/// let lead = AgentPolicy { profile: profile.clone(), permissions: vec![], rules: [].into() };
/// let policy = Policy { settings: Settings::default(), agents: [(profile.id, lead)].into(), left_out: vec![] };
/// assert_eq!(format!("{policy:?}"), "Policy(agents [lead], 0 left out)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "what it gives and what it leaves out are all a policy is")]
pub struct Policy {
    /// The settings.
    pub settings: Settings,
    /// The agents.
    pub agents: BTreeMap<AgentId, AgentPolicy>,
    /// The lines that give nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// Names the agents. The fields show the rest.
impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<_> = self.agents.keys().collect();
        write!(f, "Policy(agents {agents:?}, {} left out)", self.left_out.len())
    }
}
