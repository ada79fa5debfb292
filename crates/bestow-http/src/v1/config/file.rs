//! `GET /v1/config`: the policy file as it is, with its mistakes and its last change.

use std::sync::Arc;

use axum::{Json, extract::State};
use bestow::{
    AgentId, Permission, PolicyFile,
    control::Admin,
    event::Timestamp,
    policy::{ConfigError, DryRun},
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
const LONGEST: usize = 4 << 20;

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
    /// The permissions that agents gained, one sentence each.
    widened: Vec<String>,
    /// The permissions that agents lost, one sentence each.
    narrowed: Vec<String>,
}

/// Returns the policy file with its mistakes, and its last change. An approver sees the text if all agents belong to
/// its owner.
#[utoipa::path(
    get, path = "/v1/config", tag = "config",
    responses((status = 200, description = "The policy file.", body = PolicyFileView))
)]
pub(super) async fn file(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
) -> Result<Json<PolicyFileView>, Problem> {
    let path = entrance.config().ok_or_else(|| Problem::not_found("this server has no policy file"))?;
    let sees_all = sees_all(&entrance, &admin)?;
    let file = PolicyFile::new(path);
    let name = file.path().display().to_string();
    let (text, problems) = entrance.work(&caller, async move { (read(&file), mistakes(&file)) }).await?;
    let foreign = || Err("the file also has agents of other owners".to_owned());
    let text = if sees_all { text } else { foreign() };
    let problems = if sees_all { problems } else { problems.into_iter().map(Mistake::without_text).collect() };
    let (text, hidden) = text.map_or_else(|why| (None, Some(why)), |text| (Some(text), None));
    Ok(Json(PolicyFileView {
        path: name,
        text,
        hidden,
        problems,
        last_change: entrance.events().last_reload()?.map(|reload| LastChange::of(&reload, &admin)),
        waiting: admin.held_change()?.as_ref().map(ChangeView::of),
    }))
}

/// Returns true if the sender may see every agent.
fn sees_all(entrance: &Entrance, admin: &Admin) -> Result<bool, Problem> {
    Ok(admin.is_of_every_owner() || admin.agents()?.len() == entrance.engine().agents()?.len())
}

fn read(file: &PolicyFile) -> Result<String, String> {
    let text = std::fs::read(file.path()).map_err(|why| format!("the file cannot be read: {why}"))?;
    if text.len() > LONGEST {
        return Err(format!("the file is longer than {LONGEST} bytes"));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
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
        let sentences = |all: &[(AgentId, Permission)], verb: &str| {
            let own = all.iter().filter(|(agent, _)| admin.profile(agent).is_ok());
            own.map(|(agent, permission)| format!("{agent} {verb} {permission}")).collect()
        };
        LastChange {
            at: reload.at,
            widened: sentences(&reload.gained, "gained"),
            narrowed: sentences(&reload.lost, "lost"),
        }
    }
}
