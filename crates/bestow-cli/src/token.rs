//! `bestow token`: creates, lists, rotates and revokes credentials.

use std::path::Path;

use bestow::{
    PolicyFile,
    control::AdminCommand,
    event::{CredentialChange, CredentialEvent, Timestamp},
    host::{Clock as _, SystemClock},
    text::Escaped,
    user::ApproverId,
};
use bestow_http::credentials::{Credential, CredentialFile, Issued, NewCredential, Role};
use serde_json::json;

use crate::{
    args::{CreateArgs, Form, NewRole, TokenArgs, TokenPart, user_name},
    exit::Exit,
    state::{Lasting, lines},
};

/// Carries out a command about credentials.
pub(crate) fn token(args: &TokenArgs) -> Result<Exit, Exit> {
    let file = CredentialFile::in_directory(&args.state);
    let now = SystemClock::new().now().map_err(Exit::failed)?;
    let (form, state) = (args.form(), &args.state);
    Ok(match &args.part {
        TokenPart::Create(args) => {
            let new = new(args, now)?;
            warn_of_unknown(&new.role, &args.policy.config);
            let issued = file.create(new, now).map_err(Exit::failed)?;
            record(state, &issued.credential, CredentialEvent::Created);
            shown_once(&issued, form)
        }
        TokenPart::Rotate { id } => {
            let issued = file.rotate(id, now).map_err(Exit::failed)?;
            record(state, &issued.credential, CredentialEvent::Rotated);
            shown_once(&issued, form)
        }
        TokenPart::List => list(&file.list().map_err(Exit::failed)?, now, form),
        TokenPart::Revoke { id } => {
            let revoked = file.revoke(id, now).map_err(Exit::failed)?;
            record(state, &revoked, CredentialEvent::Revoked);
            match form {
                Form::Json => Exit::print(&format!("{}\n", json!(revoked))),
                Form::Text => Exit::print(&format!("The credential {id} ({}) is revoked.\n", revoked.role)),
            }
        }
    })
}

/// Records a change in the audit trail: through the engine that runs on the directory, or in an engine of its own. The
/// change is in force already, so a trail that cannot be written is named on standard error.
fn record(state: &Path, credential: &Credential, change: CredentialEvent) {
    let recorded = user_name("USER").and_then(|by| {
        let CredentialChange { credential, change, holder, name, .. } = credential.changed(change, None, "cli".into());
        lines(state, &AdminCommand::Credential { credential, change, holder, name, by }, Lasting::ByItself)
    });
    if let Err(Exit::Denied(why) | Exit::Failed(why) | Exit::Usage(why)) = recorded {
        eprintln!("bestow: note: the change is in force, but the audit trail does not record it: {why}");
    }
}

/// Warns on standard error if the policy file does not know the holder. The credential is created all the same: agents
/// can be registered by other means, and a file can change.
fn warn_of_unknown(role: &Role, file: &Path) {
    let shown = Escaped(&file.to_string_lossy()).to_string();
    let Ok((policy, _)) = PolicyFile::new(file).check() else {
        if !matches!(role, Role::Operator) {
            eprintln!(
                "bestow: note: {shown} cannot be read, so the {role} was not looked up: name the policy file with \
                 `--config`"
            );
        }
        return;
    };
    let (what, is_known) = match role {
        Role::Agent { agent } => (format!("agent `{agent}`"), policy.agents.contains_key(agent)),
        Role::Approver { owner, .. } => {
            let is_known = policy.agents.values().any(|agent| agent.profile.owner == *owner);
            (format!("agent of the owner `{owner}`"), is_known)
        }
        Role::Operator => return,
    };
    if !is_known {
        eprintln!("bestow: note: {shown} has no {what}: the credential works once there is one");
    }
}

/// Returns the credential to create. An option of another role is refused: it would have no effect.
fn new(args: &CreateArgs, now: Timestamp) -> Result<NewCredential, Exit> {
    let foreign = |option: &str, is_given: bool| {
        let role = format!("{:?}", args.role).to_lowercase();
        if is_given { Err(Exit::usage(format!("`{option}` does not belong to the role {role}"))) } else { Ok(()) }
    };
    let missing = |option: &str| Exit::usage(format!("`{option}` is missing"));
    let role = match args.role {
        NewRole::Agent => {
            foreign("--owner", args.owner.is_some())?;
            foreign("--by", args.by.is_some())?;
            Role::Agent { agent: args.agent.clone().ok_or_else(|| missing("--agent"))? }
        }
        NewRole::Approver => {
            foreign("--agent", args.agent.is_some())?;
            let owner = args.owner.clone().ok_or_else(|| missing("--owner"))?;
            let by = args.by.clone().map_or_else(|| owner.as_str().parse::<ApproverId>(), Ok);
            Role::Approver { owner, by: by.map_err(Exit::usage)? }
        }
        NewRole::Operator => {
            foreign("--agent", args.agent.is_some())?;
            foreign("--owner", args.owner.is_some())?;
            foreign("--by", args.by.is_some())?;
            Role::Operator
        }
    };
    let expires_at = args.expires.map(|lifetime| now.after(lifetime));
    Ok(NewCredential { role, name: args.name.clone(), expires_at })
}

fn shown_once(Issued { credential, token, .. }: &Issued, form: Form) -> Exit {
    Exit::print(&match form {
        Form::Json => format!("{}\n", json!({ "id": credential.id, "token": token })),
        Form::Text => format!(
            "{token}\n\nThis is the token of {} (credential {}). It is shown only once.\n",
            credential.role, credential.id
        ),
    })
}

fn list(all: &[Credential], now: Timestamp, form: Form) -> Exit {
    if form == Form::Json {
        return Exit::print(&format!("{}\n", json!({ "credentials": all })));
    }
    if all.is_empty() {
        return Exit::print("There are no credentials: `bestow token create` makes one.\n");
    }
    Exit::print(&all.iter().map(|credential| line(credential, now)).collect::<String>())
}

fn line(credential: &Credential, now: Timestamp) -> String {
    let state = match (credential.revoked_at, credential.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(end)) if end <= now => format!("expired {end}"),
        (None, Some(end)) => format!("until {end}"),
        (None, None) => "does not expire".to_owned(),
    };
    let name = credential.name.as_deref().map_or_else(String::new, |name| format!("  ({})", Escaped(name)));
    format!("{}  {}  {state}{name}\n", credential.id, credential.role)
}
