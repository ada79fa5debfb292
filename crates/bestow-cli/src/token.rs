//! `bestow token`: creates, lists, rotates and revokes credentials.

use std::{collections::BTreeSet, fs, io, os::unix::fs::DirBuilderExt as _, path::Path};

use bestow::{
    PolicyFile,
    control::{self, AdminCommand, Line},
    event::{CredentialOrder, RecordedCredential, Timestamp},
    host::{Clock as _, SystemClock},
    sandbox::Limits,
    text::Escaped,
    user::{ApproverId, OwnerId},
};
use bestow_http::credentials::{Credential, NewCredential, Role, UnrecordedToken};
use serde_json::json;

use crate::{
    args::{CreateArgs, Form, NewRole, PersonArgs, TokenArgs, TokenPart},
    exit::Exit,
    state::{Lasting, lines, require},
};

/// Carries out a command about credentials.
pub(crate) fn token(args: &TokenArgs) -> Result<Exit, Exit> {
    let now = SystemClock::new().now().map_err(Exit::failed)?;
    let (form, state) = (args.form(), &args.state);
    Ok(match &args.part {
        TokenPart::Create(args) => {
            let new = new(args, now)?;
            prepare(state)?;
            let new = UnrecordedToken::create(new).map_err(Exit::failed)?;
            let credential = record(state, new.order, &args.person)?;
            shown_once(&credential, &new.token, form)
        }
        TokenPart::Rotate { id, person } => {
            let new = UnrecordedToken::rotate(id).map_err(Exit::failed)?;
            let credential = record(state, new.order, person)?;
            shown_once(&credential, &new.token, form)
        }
        TokenPart::List => list(&read_list(state)?, now, form),
        TokenPart::Revoke { id, person } => {
            let order = CredentialOrder::Revoke { credential: id.as_str().into() };
            let revoked = record(state, order, person)?;
            match form {
                Form::Json => Exit::print(&format!("{}\n", json!(revoked))),
                Form::Text => Exit::print(&format!("The credential {id} ({}) is revoked.\n", revoked.role)),
            }
        }
    })
}

/// Creates the state directory and the secret of its person, which the first credential needs without a terminal.
fn prepare(state: &Path) -> Result<(), Exit> {
    match fs::DirBuilder::new().mode(0o700).create(state) {
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Exit::failed(format_args!("the directory {} cannot be created: {why}", state.display())));
        }
        Ok(()) | Err(_) => {}
    }
    require(state)?;
    control::create_secret(state).map_err(Exit::failed)
}

/// Lets the engine that runs on the directory record a change, or records it in an engine of its own. The change counts
/// once it is recorded.
fn record(state: &Path, change: CredentialOrder, person: &PersonArgs) -> Result<Credential, Exit> {
    let order = AdminCommand::Credential { change, by: person.by()? };
    let lines = lines(state, &order, person.token_file(), Lasting::ByItself)?;
    let credential = lines.iter().find_map(credential);
    credential.ok_or_else(|| Exit::failed("the engine answered without the credential: it may be of another version"))
}

/// Returns all credentials. A directory that does not exist has none.
fn read_list(state: &Path) -> Result<Vec<Credential>, Exit> {
    if !state.exists() {
        return Ok(Vec::new());
    }
    let lines = lines(state, &AdminCommand::Credentials, None, Lasting::ByItself)?;
    Ok(lines.iter().filter_map(credential).collect())
}

fn credential(line: &Line) -> Option<Credential> {
    serde_json::from_value::<RecordedCredential>(line.json.clone()).ok().and_then(|known| Credential::of(&known))
}

/// Returns the owner of the agent in the policy file, or the only owner there. Warns on standard error if the file
/// does not know the holder. The credential is created all the same: agents can be registered by other means, and a
/// file can change.
fn owner_in_file(role: &Role, file: &Path) -> Option<OwnerId> {
    let shown = Escaped(&file.to_string_lossy()).to_string();
    let Ok((policy, _)) = PolicyFile::new(file).check() else {
        if !matches!(role, Role::Operator) {
            eprintln!(
                "bestow: note: {shown} cannot be read, so the {role} was not looked up: name the policy file with \
                 `--config`"
            );
        }
        return None;
    };
    let (what, owner) = match role {
        Role::Agent { agent } => {
            let known = policy.agents.get(agent);
            (format!("agent `{agent}`"), known.map(|known| known.profile.owner.clone()))
        }
        Role::Approver { owner, .. } => {
            let is_known = policy.agents.values().any(|agent| agent.profile.owner == *owner);
            (format!("agent of the owner `{owner}`"), is_known.then(|| owner.clone()))
        }
        Role::Operator => return None,
    };
    if owner.is_some() {
        return owner;
    }
    eprintln!("bestow: note: {shown} has no {what}: the credential works once there is one");
    let owners: BTreeSet<_> = policy.agents.values().map(|agent| &agent.profile.owner).collect();
    owners.first().filter(|_| owners.len() == 1).map(|owner| OwnerId::clone(owner))
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
    let in_file = owner_in_file(&role, &args.policy.config);
    let owner = if matches!(role, Role::Agent { .. }) { args.owner.clone().or(in_file) } else { None };
    let expires_at = (args.expires != Limits::FOREVER).then(|| now.after(args.expires));
    Ok(NewCredential { role, owner, name: args.name.clone(), expires_at })
}

fn shown_once(credential: &Credential, token: &str, form: Form) -> Exit {
    Exit::print(&match form {
        Form::Json => format!("{}\n", json!({ "id": credential.id, "token": token })),
        Form::Text => format!(
            "{token}\n\nThis is the token of {} (credential {}). {} It is shown only once.\n",
            credential.role,
            credential.id,
            credential
                .expires_at
                .map_or_else(|| "It does not expire.".to_owned(), |end| format!("It is valid until {end}.")),
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
        (None, _) if credential.needs_rotation => {
            format!("of an earlier version: `bestow token rotate {}` makes it valid", credential.id)
        }
        (None, Some(end)) if end <= now => format!("expired {end}"),
        (None, Some(end)) => format!("until {end}"),
        (None, None) => "does not expire".to_owned(),
    };
    let name = credential.name.as_deref().map_or_else(String::new, |name| format!("  ({})", Escaped(name)));
    format!("{}  {}  {state}{name}\n", credential.id, credential.role)
}
