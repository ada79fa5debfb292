//! `bestow token`: creates, lists, rotates and revokes credentials.

use std::{collections::BTreeSet, fs, io, os::unix::fs::DirBuilderExt as _, path::Path};

use bestow::{
    PolicyFile,
    control::{self, AdminCommand, Line},
    event::{CredentialHolder, CredentialOrder, RecordedCredential, Timestamp},
    host::{Clock as _, SystemClock},
    sandbox::Limits,
    text::Escaped,
    user::{ApproverId, OwnerId},
};
use bestow_http::credentials::{Credential, NewCredential, Role, UnrecordedToken};
use serde_json::json;

use crate::{
    args::{CreateArgs, Form, NewRole, PersonArgs, RotateArgs, TokenArgs, TokenPart, USUAL_LIFETIME},
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
        TokenPart::Rotate(args) => {
            let new = rotated(state, args, now)?;
            let credential = record(state, new.order, &args.person)?;
            shown_once(&credential, &new.token, form)
        }
        TokenPart::List => {
            let all: Vec<_> = read_list(state)?.iter().filter_map(Credential::of).collect();
            list(&all, now, form)
        }
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
    let credential = lines.iter().filter_map(recorded).find_map(|known| Credential::of(&known));
    credential.ok_or_else(|| Exit::failed("the engine answered without the credential: it may be of another version"))
}

/// Returns the new secret of a credential, with what an earlier version did not record about it: the owner of its agent
/// and its end are as for a new one.
fn rotated(state: &Path, args: &RotateArgs, now: Timestamp) -> Result<UnrecordedToken, Exit> {
    let RotateArgs { id, policy, owner, expires, .. } = args;
    let known = read_list(state)?.into_iter().find(|known| *known.id == *id.as_str());
    let owner = match known.as_ref().map(|known| &known.holder) {
        Some(CredentialHolder::Agent { agent, owner: None }) if owner.is_none() => {
            owner_in_file(&Role::Agent { agent: agent.clone() }, &policy.config)
        }
        Some(CredentialHolder::Approver { .. } | CredentialHolder::Operator) if owner.is_some() => {
            return Err(Exit::usage("`--owner` belongs to the credential of an agent alone"));
        }
        Some(_) | None => owner.clone(),
    };
    let is_of_earlier_version = known.is_some_and(|known| known.secret.is_none() && known.expires_at.is_none());
    let lifetime = expires.or(is_of_earlier_version.then_some(USUAL_LIFETIME));
    UnrecordedToken::rotate(id, owner, lifetime.map(|lifetime| now.after(lifetime))).map_err(Exit::failed)
}

/// Returns all credentials. A directory that does not exist has none.
fn read_list(state: &Path) -> Result<Vec<RecordedCredential>, Exit> {
    if !state.exists() {
        return Ok(Vec::new());
    }
    let lines = lines(state, &AdminCommand::Credentials, None, Lasting::ByItself)?;
    Ok(lines.iter().filter_map(recorded).collect())
}

fn recorded(line: &Line) -> Option<RecordedCredential> {
    serde_json::from_value(line.json.clone()).ok()
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
