//! A request to the engine on a state directory, with the arguments that every such request has.

use std::path::{Path, PathBuf};

use bestow::{control::AdminCommand, text::Reason, user::ApproverId};
use clap::Args;

use super::{Form, FormArgs};
use crate::exit::Exit;

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
    person_name: Option<ApproverId>,
    /// The file with the secret of the engine, where there is no terminal
    ///
    /// A running engine takes a change only from a process of the same user that it has not started itself. A process
    /// without a terminal also needs this secret: the file `approver-token` in the state directory.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl PersonArgs {
    /// Returns the file with the secret of the engine, if one is named.
    pub(crate) fn token_file(&self) -> Option<&Path> {
        self.token_file.as_deref()
    }

    /// Returns the person who decides.
    pub(crate) fn by(&self) -> Result<ApproverId, Exit> {
        if let Some(name) = &self.person_name {
            return Ok(name.clone());
        }
        user_name("--as")
    }
}

/// Returns the name of the user of this process. `option` names a person instead.
pub(crate) fn user_name(option: &str) -> Result<ApproverId, Exit> {
    let user = ["USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok()).find(|name| !name.is_empty());
    let name = user.unwrap_or_else(|| "operator".to_owned());
    name.parse().map_err(|why| Exit::usage(format_args!("the name of the user: {why}; name a person with `{option}`")))
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
