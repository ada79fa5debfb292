//! Commands for a person who answers and inspects an engine, by its state directory.

use std::path::PathBuf;

use bestow::{
    AgentId, Permission,
    agent::Mode,
    control::{AdminCommand, Approval, GrantOrDecisionId},
    grant::Scope,
    text::Reason,
    user::ApproverId,
};
use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};

use super::{Form, FormArgs, PolicyFileArgs, audit_args::AuditCommand, process_args::ProcessCommand, values};
use crate::exit::Exit;

/// Commands about an engine and its state directory.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
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
    #[command(after_long_help = "\
Examples:
  bestow requests --state /var/lib/bestow")]
    Requests {
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
  bestow approve k3f9qd --state /var/lib/bestow --scope 'until 2026-11-22T18:00:00Z'
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
    /// The denial of a permission takes no scope. The agent reads the text of --feedback.
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

/// The state directory, and the form of the answer.
#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    /// The state directory with which the engine was opened
    #[arg(long = "state", value_name = "DIRECTORY")]
    directory: PathBuf,
    #[command(flatten)]
    form: FormArgs,
}

/// The person who decides.
#[derive(Debug, Default, Args)]
pub(crate) struct PersonArgs {
    /// The name of the person who decides [default: USER, LOGNAME or `operator`]
    ///
    /// The name is a claim. The trail also records the user and the process that made it.
    #[arg(long = "as", value_name = "NAME")]
    name: Option<ApproverId>,
    /// The file with the secret of the engine, where there is no terminal
    ///
    /// A running engine takes a change only from a process of the same user that it has not started itself. A process
    /// without a terminal also needs this secret: the file `approver-token` in the state directory.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl PersonArgs {
    /// Returns the person who decides.
    pub(super) fn by(&self) -> Result<ApproverId, Exit> {
        if let Some(name) = &self.name {
            return Ok(name.clone());
        }
        let user = ["USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok()).find(|name| !name.is_empty());
        let name = user.unwrap_or_else(|| "operator".to_owned());
        name.parse().map_err(|why| Exit::usage(format_args!("the name of the user: {why}; name a person with `--as`")))
    }
}

/// The person who decides, and the state directory.
#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    state: StateArgs,
}

impl ChangeArgs {
    /// Returns the request of the person who decides.
    pub(super) fn request(&self, order: impl FnOnce(ApproverId) -> AdminCommand) -> Result<AdminRequest, Exit> {
        let (order, token) = (order(self.person.by()?), self.person.token_file.clone());
        Ok(AdminRequest { token, ..AdminRequest::of(order, &self.state) })
    }
}

/// The end of something, with its reason.
#[derive(Debug, Args)]
pub(crate) struct EndArgs {
    /// The reason that the trail keeps
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) reason: Option<Reason>,
    #[command(flatten)]
    pub(super) change: ChangeArgs,
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
}

/// A request to the engine that has a state directory.
#[derive(Debug)]
pub(crate) struct AdminRequest {
    /// The state directory.
    pub(crate) state: PathBuf,
    /// The request itself.
    pub(crate) order: AdminCommand,
    /// The policy file into which an approval is written for good.
    pub(crate) write: Option<PathBuf>,
    /// The file with the secret of the engine.
    pub(crate) token: Option<PathBuf>,
    /// The form of the answer.
    pub(crate) form: Form,
}

impl AdminRequest {
    pub(super) fn of(order: AdminCommand, state: &StateArgs) -> AdminRequest {
        let form = state.form.form();
        AdminRequest { state: state.directory.clone(), order, write: None, token: None, form }
    }
}

impl AnswerArgs {
    fn request(&self, verdict: Approval) -> Result<AdminRequest, Exit> {
        let (request, scope, feedback) = (self.request.clone(), self.scope, self.feedback.clone());
        self.change.request(|by| AdminCommand::Answer { request, verdict, scope, feedback, by })
    }
}

impl EngineCommand {
    /// Returns the request to the engine.
    pub(crate) fn request(&self) -> Result<AdminRequest, Exit> {
        Ok(match self {
            EngineCommand::Requests { state } => AdminRequest::of(AdminCommand::Requests, state),
            EngineCommand::Approve { answer, write, config } => {
                if *write && answer.scope.is_some_and(|scope| scope != Scope::Always) {
                    return Err(Exit::usage("`--write` is for good: it goes with no other `--scope` than `always`"));
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
