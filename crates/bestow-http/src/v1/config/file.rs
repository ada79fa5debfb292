//! `GET /v1/config`: the policy file as it is and as it is in force, with its mistakes and its last change.

use std::sync::Arc;

use axum::{Json, extract::State};
use bestow::{
    AgentId, Permission, PolicyFile,
    control::Admin,
    event::Timestamp,
    fs::read_regular_file,
    policy::{ConfigError, DryRun},
    user::OwnerId,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::change::ChangeView;
use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{events::LastReload, sender::Person},
};

/// The longest text that is shown, in bytes.
const LONGEST: u64 = 4 << 20;

/// The policy file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PolicyFileView {
    path: String,
    /// The text of the file. It is missing if it may not be shown; `hidden` has the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<String>,
    /// The text that is in force, if it is known and is not the text of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_force: Option<String>,
    /// The mistakes of the file. If there is one, the last good version is in force.
    problems: Vec<Mistake>,
    /// The last change that took effect since the server began, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_change: Option<LastChange>,
    /// The change that waits for a person, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<ChangeView>,
}

/// A mistake in the file.
#[derive(Debug, Serialize, ToSchema)]
struct Mistake {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    text: String,
    /// The way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

/// A change that took effect.
#[derive(Debug, Serialize, ToSchema)]
struct LastChange {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The permissions that agents gained, and the settings, modes and rules that allow more, one sentence each.
    widened: Vec<String>,
    /// The permissions that agents lost, and the settings, modes and rules that allow less, one sentence each.
    narrowed: Vec<String>,
}

/// Returns the policy file with its mistakes, and its last change. An approver sees the text if all agents belong to
/// its owner, and the text names no other owner.
#[utoipa::path(
    get, path = "/v1/config", tag = "config",
    responses((status = 200, description = "The policy file.", body = PolicyFileView))
)]
pub(super) async fn file(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
) -> Result<Json<PolicyFileView>, Problem> {
    let path = entrance.config().ok_or_else(|| Problem::not_found("this server has no policy file"))?;
    let file = PolicyFile::new(path);
    let name = file.path().display().to_string();
    let sees_agents = sees_all(&entrance, &admin)?;
    let own = caller.owner();
    let (text, problems) = entrance.work(&caller, async move { looked_at(&file) }).await?;
    // The text on the disk may have agents that the engine does not have yet.
    let sees_text = sees_agents && text.as_deref().is_ok_and(|text| has_no_other_owner(text, own.as_ref()));
    let text = if sees_text || text.is_err() { text } else { Err("the file also names other owners".to_owned()) };
    let problems = if sees_text { problems } else { problems.into_iter().map(Mistake::without_text).collect() };
    let in_force = entrance.engine().policy_text()?.filter(|in_force| {
        let is_other = text.as_deref().map_or(true, |text| text != &**in_force);
        is_other && sees_agents && has_no_other_owner(in_force, own.as_ref())
    });
    let (text, hidden) = text.map_or_else(|why| (None, Some(why)), |text| (Some(text), None));
    Ok(Json(PolicyFileView {
        path: name,
        text,
        hidden,
        in_force: in_force.map(|text| text.to_string()),
        problems,
        last_change: entrance.events().last_reload()?.map(|reload| LastChange::of(&reload, &admin)),
        waiting: admin.held_change()?.as_ref().map(ChangeView::of),
    }))
}

/// Returns true if the sender may see every agent.
fn sees_all(entrance: &Entrance, admin: &Admin) -> Result<bool, Problem> {
    Ok(admin.is_of_every_owner() || admin.agents()?.len() == entrance.engine().agents()?.len())
}

/// Returns true if each owner in a text is this one. An operator, who has no owner, sees every text. An owner that
/// cannot be read counts as another one, also in a comment.
fn has_no_other_owner(text: &str, own: Option<&OwnerId>) -> bool {
    let Some(own) = own else { return true };
    let mut values = text.split("owner").skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches(['"', '\'']).trim_start();
        rest.strip_prefix('=').map(str::trim_start)
    });
    let is_own = |value: &str| {
        let value = value.strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next());
        value == Some(own.as_str())
    };
    // A key can be written with escapes, which only a parser resolves.
    let has_escaped_key = text.contains("\\u") || text.contains("\\U");
    !has_escaped_key && values.all(is_own)
}

/// Returns the text of the file and its mistakes, both of the same content.
fn looked_at(file: &PolicyFile) -> (Result<String, String>, Vec<Mistake>) {
    let before = read(file);
    let problems = mistakes(file);
    let is_stable = before == read(file);
    (before.and_then(|text| if is_stable { Ok(text) } else { Err("the file is being changed".to_owned()) }), problems)
}

fn read(file: &PolicyFile) -> Result<String, String> {
    let bytes = read_regular_file(file.path(), LONGEST).map_err(|why| format!("the file cannot be read: {why}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the mistakes for which an engine would not take the file.
fn mistakes(file: &PolicyFile) -> Vec<Mistake> {
    match file.check().map_err(|why| Mistake::all(&why)) {
        Err(mistakes) => mistakes,
        Ok((policy, _)) => DryRun::of(policy).err().map(|why| Mistake::of_file(why.to_string())).into_iter().collect(),
    }
}

impl Mistake {
    fn all(why: &ConfigError) -> Vec<Mistake> {
        let problems = why.problems().iter().map(|problem| Mistake {
            line: problem.position.map(|position| position.line),
            column: problem.position.map(|position| position.column),
            text: problem.message.clone(),
            help: problem.help.clone(),
        });
        let further = Some(why.further_problems()).filter(|number| *number > 0);
        problems.chain(further.map(|number| Mistake::of_file(format!("{number} more mistakes")))).collect()
    }

    fn of_file(text: String) -> Mistake {
        Mistake { line: None, column: None, text, help: None }
    }

    /// Returns the mistake for a person who may not see the file.
    fn without_text(self) -> Mistake {
        Mistake { text: "a mistake in a part that is not shown".to_owned(), help: None, ..self }
    }
}

impl LastChange {
    fn of(reload: &LastReload, admin: &Admin) -> LastChange {
        let is_own = |agent: &AgentId| admin.profile(agent).is_ok();
        // An agent that was removed has no owner any more. Only who sees every agent is told.
        let is_told =
            |agent: &Option<AgentId>| agent.as_ref().is_none_or(|agent| admin.is_of_every_owner() || is_own(agent));
        let permissions = |all: &[(AgentId, Permission)], verb: &str| -> Vec<String> {
            let own = all.iter().filter(|(agent, _)| is_own(agent));
            own.map(|(agent, permission)| format!("{agent} {verb} {permission}")).collect()
        };
        let besides = |all: &[(Option<AgentId>, Arc<str>)]| -> Vec<String> {
            let told = all.iter().filter(|(agent, _)| is_told(agent));
            told.map(|(agent, sentence)| match agent {
                Some(agent) => format!("{agent}: {sentence}"),
                None => format!("settings: {sentence}"),
            })
            .collect()
        };
        LastChange {
            at: reload.at,
            widened: [permissions(&reload.gained, "gained"), besides(&reload.widened)].concat(),
            narrowed: [permissions(&reload.lost, "lost"), besides(&reload.narrowed)].concat(),
        }
    }
}
