//! What a person has written down: the settings of an engine and the agents it starts with.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    AgentId, CommandRules, Hold, Limits, Place, Profile, Reads, Right, Rule, SanitizedPath, SensitiveName, Shown,
    TaskSettings, Tools, Verdict,
};

/// What to do with a request when nobody is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "wait or do not")]
pub enum OnNoUser {
    /// Keep it for the first who comes, until it expires.
    Queue,
    /// Resolve it as unavailable at once.
    Deny,
}

/// Whether a person may be asked at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "somebody is there or nobody is")]
pub enum Interaction {
    /// People answer.
    Interactive,
    /// Nobody does: every request resolves as unavailable at once, none waits.
    NonInteractive,
}

/// What happens to the part of a changed file that gives more than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "at once or not")]
pub enum Widening {
    /// It takes effect at once.
    Apply,
    /// It is held back until a person agrees.
    Confirm,
}

/// The settings of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Settings {
    /// What reading needs.
    pub reads: Reads,
    /// Whether a person may be asked.
    pub interaction: Interaction,
    /// What to do when nobody is there.
    pub on_no_user: OnNoUser,
    /// What to do with a reload that gives more.
    pub widening: Widening,
    /// What is said to an action that nothing speaks about: a question, or no.
    pub default_verdict: Verdict,
    /// How long a request waits.
    pub request_timeout: Duration,
    /// How long a refusal answers the same question again.
    pub denial_memory: Duration,
    /// How many requests of one agent may wait at once.
    pub max_pending: u32,
    /// How many questions of one agent, with those it created, may reach people within a minute.
    pub max_asks_per_minute: u32,
    /// How many grants one agent may hold from other agents, and as many again from people and the host program.
    pub max_grants: u32,
    /// How many agents one agent, with those it created, may create.
    pub max_children: u32,
    /// How many processes of one agent may go on at once.
    #[serde(default = "for_processes")]
    pub max_processes: u32,
    /// How much a command of an agent may use up, if the host program does not say.
    #[serde(default)]
    pub limits: Limits,
    /// How often a right may be passed on from agent to agent.
    pub max_depth: u8,
    /// How long a hook of the host program may take; then it has failed.
    #[serde(default = "for_hooks")]
    pub hook_timeout: Duration,
    /// How many facts that change nothing (refusals, noes, what hooks said) the agents of one family cause within a minute and
    /// are told one by one; beyond that they are told as a number.
    #[serde(default = "for_facts")]
    pub max_facts_per_minute: u32,
    /// How many changes (gifts, questions, children, and their ends) they cause within a minute before they have to wait.
    #[serde(default = "for_changes")]
    pub max_changes_per_minute: u32,
    /// Paths that no grant reaches, except one from a file that names exactly that path.
    pub protected: Arc<[SanitizedPath]>,
    /// The names of the file that says all this: nobody is given a right to write what holds it. In the file itself such a right
    /// is a mistake.
    #[serde(default)]
    pub governing: Arc<[SanitizedPath]>,
    /// Scheduled tasks.
    #[serde(default)]
    pub tasks: TaskSettings,
    /// How commands are judged.
    #[serde(default)]
    pub commands: CommandRules,
    /// The tools that are declared besides the built-in ones.
    #[serde(default)]
    pub tools: Tools,
    /// Names that are sensitive besides the built-in ones: who may write a directory may not write these in it, unless
    /// a right names them.
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

/// A right that an agent has because a file says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "what, how and where written")]
pub struct BaseRight {
    /// What.
    pub right: Right,
    /// For using, or only for passing on.
    pub hold: Hold,
    /// Where it is written.
    pub place: Place,
}

/// One agent as a file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "who it is and what it starts with")]
pub struct AgentPolicy {
    /// Who it is.
    pub profile: Profile,
    /// What it holds.
    pub rights: Vec<BaseRight>,
    /// What binds it besides.
    #[serde(default, skip_serializing_if = "<[Rule]>::is_empty")]
    pub rules: Arc<[Rule]>,
}

/// A line of a file that gives nothing, since what it names on the disk cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "where and why is what a person needs")]
pub struct LeftOut {
    /// The line.
    pub place: Place,
    /// Why, and what to do about it.
    pub why: Arc<str>,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, Shown(&self.why))
    }
}

/// Everything one file says, parsed, validated and with real paths.
///
/// ```
/// use bestow::{AgentPolicy, Kind, Policy, Profile, Settings};
///
/// let profile = Profile::new("lead".parse()?, "you".parse()?, Kind::Foreground, "/work".parse()?);
/// let lead = AgentPolicy { profile: profile.clone(), rights: vec![], rules: [].into() };
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
    /// What it says and does not give.
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
