//! Commands about the audit trail of a state directory.

use std::path::PathBuf;

use bestow::{
    AgentId,
    control::GrantOrDecisionId,
    event::Timestamp,
    journal::{Head, audit::Filter},
};
use clap::{Args, Subcommand};

use super::{FormArgs, admin_request::PersonArgs, values};
use crate::exit::Exit;

/// Commands about the audit trail.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Prints the records of the trail that match every option
    ///
    /// Each line names the person or rule that decided, and the way the decision came. A name that occurs in no record
    /// is an error (exit code 1).
    #[command(after_long_help = "\
Examples:
  bestow audit show --state /var/lib/bestow
  bestow audit show --state /var/lib/bestow --agent writer --since 2026-11-22T09:30:00Z
  bestow audit show --state /var/lib/bestow --grant g4 --json")]
    Show(ShowArgs),

    /// Finds the first record that was altered, moved or removed
    ///
    /// It ends with 1 if there is one, and says where. An older copy of the directory, and a trail that was cut back or
    /// rewritten as a whole, are found only with a head that was noted before: --expect or --noted. A mistyped head
    /// gives the same message; then nothing needs to be cut.
    #[command(after_long_help = "\
Examples:
  bestow audit verify --state /var/lib/bestow
  bestow audit verify --state /var/lib/bestow --noted /srv/notes/bestow-head")]
    Verify {
        #[command(flatten)]
        trail: TrailArgs,
        /// A head that `bestow audit head` printed before
        #[arg(long, value_name = "HEAD", conflicts_with = "noted")]
        expect: Option<Head>,
        /// A file into which `bestow audit head --to` or `bestow serve --note-head` noted a head
        #[arg(long, value_name = "FILE")]
        noted: Option<PathBuf>,
    },

    /// Prints the head of the trail, and notes it elsewhere
    ///
    /// The head is the number and the hash of the last record. With --to or --to-command, it is noted outside of the
    /// state directory. Only such a note reveals an older copy of the whole directory. A noted head that the trail does
    /// not contain stays as it is, and is an error.
    #[command(after_long_help = "\
Examples:
  bestow audit head --state /var/lib/bestow
  bestow audit head --state /var/lib/bestow --to /srv/notes/bestow-head
  bestow audit head --state /var/lib/bestow --to-command 'logger -t bestow-head'")]
    Head {
        #[command(flatten)]
        trail: TrailArgs,
        /// The file for the head. It is replaced as a whole, and is on the disk when the command ends
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// A command for the shell that reads the head from its standard input. It has 30 seconds
        #[arg(long, value_name = "COMMAND", conflicts_with = "to")]
        to_command: Option<String>,
    },

    /// Moves old records into an archive
    ///
    /// The segments before the last snapshot but one are verified, copied into the archive, and removed from the state
    /// directory. Like every order that changes something, it needs a terminal or the secret of the engine. An engine
    /// may run meanwhile. It prints the head of the archive, to be noted elsewhere. `bestow audit
    /// verify --state ARCHIVE --expect HEAD` verifies the archive, and `bestow audit verify --state DIRECTORY` the
    /// rest.
    #[command(after_long_help = "\
Examples:
  bestow audit rotate --state /var/lib/bestow --to /srv/archive/bestow")]
    Rotate {
        #[command(flatten)]
        trail: TrailArgs,
        /// The archive. It is created if it is missing, and later segments follow into it
        #[arg(long, value_name = "DIRECTORY")]
        to: PathBuf,
        #[command(flatten)]
        person: PersonArgs,
    },

    /// Sets the damaged end of the trail aside
    ///
    /// It is the way out of damage where there is no copy. Everything from event --before on is set aside. Revocations,
    /// denials and restrictions that can still be read there are applied again. It says what they are, and how many
    /// records cannot be read. Like every order that changes something, it needs a terminal or the secret of the
    /// engine.
    #[command(after_long_help = "\
Examples:
  bestow audit cut --state /var/lib/bestow --before 120")]
    Cut {
        #[command(flatten)]
        trail: TrailArgs,
        /// The first event to set aside
        #[arg(long, value_name = "NUMBER", value_parser = values::whole_number, allow_hyphen_values = true)]
        before: u64,
        #[command(flatten)]
        person: PersonArgs,
    },
}

/// The state directory of a trail.
#[derive(Debug, Args)]
pub(crate) struct TrailArgs {
    /// The state directory with which the engine was opened
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) state: PathBuf,
}

/// The arguments of `audit show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) trail: TrailArgs,
    /// Records about this agent
    #[arg(long, value_name = "ID")]
    agent: Option<AgentId>,
    /// Records about the request with this code or id
    #[arg(long, value_name = "CODE")]
    request: Option<String>,
    /// Records about this grant (g4) or saved decision (r2)
    #[arg(long, value_name = "NAME")]
    grant: Option<GrantOrDecisionId>,
    /// Records from this moment on, such as 2026-11-22T09:30:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Records before this moment
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

impl ShowArgs {
    /// Returns the conditions that a record must meet.
    pub(crate) fn filter(&self) -> Result<Filter, Exit> {
        let ShowArgs { agent, request, grant, since, until, .. } = self;
        if since.is_some() && until.is_some() && until <= since {
            return Err(Exit::usage("`--until` must be after `--since`"));
        }
        let (grant, ruling) = match *grant {
            Some(GrantOrDecisionId::Grant(grant)) => (Some(grant), None),
            Some(GrantOrDecisionId::Ruling(ruling)) => (None, Some(ruling)),
            None => (None, None),
        };
        Ok(Filter { agent: agent.clone(), request: request.clone(), grant, ruling, since: *since, until: *until })
    }
}

impl AuditCommand {
    /// Returns the state directory of the trail.
    pub(crate) fn state(&self) -> &PathBuf {
        match self {
            AuditCommand::Show(args) => &args.trail.state,
            AuditCommand::Verify { trail, .. }
            | AuditCommand::Head { trail, .. }
            | AuditCommand::Rotate { trail, .. }
            | AuditCommand::Cut { trail, .. } => &trail.state,
        }
    }
}
