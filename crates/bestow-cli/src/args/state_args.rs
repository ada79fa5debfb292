//! Commands for a person who answers and inspects an engine, by its state directory.

use std::path::PathBuf;

use bestow::{
    AgentId, Permission,
    agent::Mode,
    control::{AdminCommand, Approval, GrantOrDecisionId},
    grant::Scope,
    text::Reason,
};
use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};

use super::{
    PolicyFileArgs,
    admin_request::{AdminRequest, ChangeArgs, EndArgs, PersonArgs, StateArgs},
    audit_args::AuditCommand,
    process_args::ProcessCommand,
    values,
};
use crate::exit::Exit;

/// Commands about an engine and its state directory.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Shows the requests that wait, live, and takes the answers of a person
    ///
    /// The terminal shows the requests with everything that a person needs to know. Keys answer them; `?` lists the
    /// keys. If the engine ends, the command waits for the next one.
    ///
    /// If standard output is no terminal, the command prints a line for each request and for each end, and takes no
    /// answers.
    #[command(after_long_help = "\
Examples:
  bestow watch --state /var/lib/bestow
  bestow watch --state /var/lib/bestow --as ann
  bestow watch --state /var/lib/bestow > requests.log")]
    Watch(WatchArgs),

    #[command(flatten)]
    Engine(EngineCommand),

    /// Writes a permanent grant or saved decision into the policy file
    ///
    /// The line in the file has a comment that names the person. What the file cannot express exactly is not written.
    /// Nothing is written into a file that the engine does not follow. The engine keeps its own record too, until
    /// `bestow revoke` removes it.
    #[command(after_long_help = "\
Examples:
  bestow keep r3 --state /var/lib/bestow --config agents.toml")]
    Keep(KeepArgs),

    /// Reads and verifies the audit trail
    #[command(subcommand, arg_required_else_help = false)]
    Audit(AuditCommand),
}

/// Commands that are requests to the engine on a state directory, or to the directory where no engine runs.
#[derive(Debug, Subcommand)]
pub(crate) enum EngineCommand {
    /// Lists the requests that wait for an answer
    ///
    /// Each line begins with the code of the request. A change of the policy file that `confirm_widening` holds back is
    /// listed as well, with what it would give.
    ///
    /// With --follow, the command goes on: it prints a line for each request that comes, each that moves to another
    /// place, and each end. It ends with an error when the engine ends. A signal or a closed pipe ends it too.
    #[command(after_long_help = "\
Examples:
  bestow requests --state /var/lib/bestow
  bestow requests --state /var/lib/bestow --follow --json")]
    Requests {
        /// Goes on, and prints each change as it happens
        #[arg(long)]
        follow: bool,
        #[command(flatten)]
        state: StateArgs,
    },

    /// Approves a request
    ///
    /// The scopes are `once`, `session`, `always` and `until TIME`. A permission is given for the session where no
    /// scope is named. A session ends with its engine: where no engine runs, that scope is refused and the request goes
    /// on waiting. A request that is too long to be shown as a whole is approved for `once` only.
    ///
    /// With --write, the engine gets an approval for this time, and the policy file keeps it for good: a permission of
    /// the agent, or a rule for an action, with a comment that names the person. The rest of the file is unchanged.
    #[command(after_long_help = "\
Examples:
  bestow approve k3f9qd --state /var/lib/bestow
  bestow approve k3f9qd --state /var/lib/bestow --scope 'until 2030-01-31T18:00:00Z'
  bestow approve k3f9qd --state /var/lib/bestow --write --config agents.toml")]
    Approve {
        #[command(flatten)]
        answer: AnswerArgs,
        /// Writes the approval into the policy file, for good
        #[arg(long)]
        write: bool,
        /// The policy file for --write
        #[arg(long, value_name = "FILE", default_value = super::POLICY_FILE, requires = "write")]
        config: PathBuf,
    },

    /// Denies a request
    ///
    /// The denial of an action holds for --scope; without it, once. The denial of a permission has no scope, and
    /// --scope changes nothing about it. The agent reads the text of --feedback.
    #[command(after_long_help = "\
Examples:
  bestow deny k3f9qd --state /var/lib/bestow --feedback 'not before the review'")]
    Deny {
        #[command(flatten)]
        answer: AnswerArgs,
    },

    /// Accepts a change of the policy file that waits for a person
    ///
    /// `confirm_widening` in the policy file holds such changes back. `bestow requests` shows them with their numbers.
    #[command(after_long_help = "\
Examples:
  bestow agree 7 --state /var/lib/bestow")]
    Agree {
        /// The number of the change
        #[arg(value_name = "CHANGE", value_parser = values::whole_number)]
        number: u64,
        #[command(flatten)]
        change: ChangeArgs,
    },

    /// Lists the grants and the saved decisions
    ///
    /// Grants are named g0, g1, ...; saved decisions of people about actions are named r0, r1, ...
    #[command(after_long_help = "\
Examples:
  bestow grants --state /var/lib/bestow
  bestow grants --state /var/lib/bestow --agent writer --json")]
    Grants {
        /// Only what this agent holds or has granted
        #[arg(long, value_name = "ID")]
        agent: Option<AgentId>,
        #[command(flatten)]
        state: StateArgs,
    },

    /// Shows the origin of a permission
    ///
    /// It shows each grant from the agent back to a person, a line of the policy file, or the host program.
    #[command(after_long_help = "\
Examples:
  bestow why writer @network --state /var/lib/bestow")]
    Why {
        /// The agent
        #[arg(value_name = "AGENT")]
        agent: AgentId,
        /// The permission, such as @network or @write:/work/site
        #[arg(value_name = "PERMISSION", value_parser = values::permission)]
        permission: Permission,
        #[command(flatten)]
        state: StateArgs,
    },

    /// Shows what an agent may do now, and why
    ///
    /// It shows the mode, the rules with file and line, the policies of the run, and the permissions.
    #[command(after_long_help = "\
Examples:
  bestow state --agent writer --state /var/lib/bestow")]
    State {
        /// The agent
        #[arg(long, value_name = "ID")]
        agent: AgentId,
        #[command(flatten)]
        state: StateArgs,
    },

    /// Shows or sets the mode of an agent
    ///
    /// A mode that is set stays until a person sets another one, or the policy file changes the mode of that agent.
    #[command(after_long_help = "\
Examples:
  bestow mode writer --state /var/lib/bestow
  bestow mode writer plan --state /var/lib/bestow")]
    Mode {
        /// The agent
        #[arg(value_name = "AGENT")]
        agent: AgentId,
        /// The new mode [default: the mode stays and is shown]
        #[arg(value_name = "MODE", value_parser = modes())]
        mode: Option<Mode>,
        #[command(flatten)]
        change: ChangeArgs,
    },

    /// Revokes a grant or removes a saved decision
    ///
    /// Everything that depends on a revoked grant is revoked with it.
    #[command(after_long_help = "\
Examples:
  bestow revoke g4 --state /var/lib/bestow --reason 'the work is done'")]
    Revoke {
        /// The grant (g4) or the saved decision (r2)
        #[arg(value_name = "NAME")]
        held: GrantOrDecisionId,
        #[command(flatten)]
        end: EndArgs,
    },

    /// Starts, reads and stops long-running processes of agents
    ///
    /// The engine that runs on the state directory holds the processes. Without a running engine there are none.
    #[command(subcommand, arg_required_else_help = false)]
    Process(ProcessCommand),
}

/// Returns a parser for modes that lists all of them.
fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|mode| mode.parse::<Mode>())
}

/// An answer to a request.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The code of the request, or its id
    #[arg(value_name = "CODE")]
    request: String,
    /// The time for which the answer holds: once, session, always or 'until TIME'
    #[arg(long, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// A text that the agent reads
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    feedback: Option<Reason>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// The arguments of `watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The state directory with which the engine was opened
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
}

/// The arguments of `keep`.
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// The grant (g4) or the saved decision (r2)
    #[arg(value_name = "NAME")]
    pub(crate) held: GrantOrDecisionId,
    /// The state directory with which the engine was opened
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) file: PolicyFileArgs,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
}

impl AnswerArgs {
    fn request(&self, verdict: Approval) -> Result<AdminRequest, Exit> {
        let (request, scope, feedback) = (self.request.clone(), self.scope, self.feedback.clone());
        self.change.request(|by| AdminCommand::Answer {
            request,
            verdict,
            scope,
            feedback,
            permissions: None,
            instead: None,
            by,
        })
    }
}

impl EngineCommand {
    /// Returns the request to the engine.
    pub(crate) fn request(&self) -> Result<AdminRequest, Exit> {
        Ok(match self {
            EngineCommand::Requests { follow: false, state } => AdminRequest::of(AdminCommand::Requests, state),
            EngineCommand::Requests { follow: true, state } => {
                AdminRequest::of(AdminCommand::Follow { known: Vec::new(), attends: None }, state)
            }
            EngineCommand::Approve { answer, write, config } => {
                if *write && answer.scope.is_some_and(|scope| scope != Scope::Always) {
                    return Err(Exit::usage("`--write` is permanent: the only `--scope` for it is `always`"));
                }
                AdminRequest { write: write.then(|| config.clone()), ..answer.request(Approval::Approve)? }
            }
            EngineCommand::Deny { answer } => answer.request(Approval::Deny)?,
            EngineCommand::Agree { number, change } => {
                change.request(|by| AdminCommand::Agree { change: *number, by })?
            }
            EngineCommand::Grants { agent, state } => {
                AdminRequest::of(AdminCommand::Grants { agent: agent.clone() }, state)
            }
            EngineCommand::Why { agent, permission, state } => {
                AdminRequest::of(AdminCommand::Why { agent: agent.clone(), permission: permission.clone() }, state)
            }
            EngineCommand::State { agent, state } => {
                AdminRequest::of(AdminCommand::State { agent: agent.clone() }, state)
            }
            EngineCommand::Mode { agent, mode, change } => {
                change.request(|by| AdminCommand::Mode { agent: agent.clone(), mode: *mode, by })?
            }
            EngineCommand::Revoke { held, end: EndArgs { reason, change } } => {
                change.request(|by| AdminCommand::Revoke { held: *held, reason: reason.clone(), by })?
            }
            EngineCommand::Process(command) => command.request()?,
        })
    }
}
