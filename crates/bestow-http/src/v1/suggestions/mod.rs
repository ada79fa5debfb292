//! `GET /v1/suggestions`: permissions that the policy file could give, and permissions that nobody uses.

mod tally;

use std::{path::Path, sync::Arc, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use bestow::{
    AgentId, Permission,
    control::Admin,
    event::Timestamp,
    grant::{Grant, GrantId, Origin},
    journal::{JournalError, audit},
    path::SanitizedPath,
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use self::tally::Tally;
use super::{covered::Covered, sender::Person};
use crate::{identity::Entrance, problem::Problem};

/// The time before now that counts.
const WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The number of times that a person gave a permission, from which a line of the policy file is suggested.
const OFTEN: u32 = 3;

/// The age of a grant from which its use counts.
const SETTLED: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// The suggestions.
#[derive(Debug, Serialize, ToSchema)]
struct SuggestionList {
    /// The begin of the time that counts.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    suggestions: Vec<Suggestion>,
}

/// A suggestion. Nothing happens by itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Suggestion {
    /// People gave a permission again and again. A line of the policy file would give it.
    AddRule {
        #[schema(value_type = String)]
        agent_id: AgentId,
        #[schema(value_type = String)]
        permission: Permission,
        /// The number of times.
        times: u32,
        /// The table of the policy file.
        table: String,
        /// The line of the table.
        line: String,
        /// The first names in the directory that the line would cover.
        covers: Vec<String>,
        /// True if the directory has more.
        more: bool,
    },
    /// No recorded decision used a permission.
    Unused {
        #[schema(value_type = String)]
        agent_id: AgentId,
        #[schema(value_type = String)]
        permission: Permission,
        #[schema(value_type = String)]
        grant_id: GrantId,
        /// The begin of the grant.
        #[schema(value_type = String, format = DateTime)]
        since: Timestamp,
        /// The line of the policy file that gives it.
        #[serde(skip_serializing_if = "Option::is_none")]
        place: Option<String>,
    },
}

/// Suggests lines of the policy file for permissions that people gave at least three times in the last seven days, and
/// names permissions that no recorded decision used in that time.
#[utoipa::path(
    get, path = "/v1/suggestions", tag = "config",
    responses((status = 200, description = "The suggestions.", body = SuggestionList))
)]
async fn list(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
) -> Result<Json<SuggestionList>, Problem> {
    let trail = entrance.trail().ok_or_else(|| Problem::not_found("this server keeps no audit trail"))?;
    let now = entrance.engine().now()?;
    let since = Timestamp::from_millis(now.as_millis().saturating_sub(millis(WINDOW)));
    let protected = entrance.engine().protected()?;
    let suggested = async move {
        let tally = tally(&trail, since).map_err(|why| unreadable(&why))?;
        suggestions(&tally, &admin, &protected, now)
    };
    Ok(Json(SuggestionList { since, suggestions: entrance.work(&caller, suggested).await?? }))
}

fn tally(trail: &Path, since: Timestamp) -> Result<Tally, JournalError> {
    let mut tally = Tally::default();
    for record in audit::records(trail)? {
        let recorded = record?.recorded;
        if since <= recorded.at {
            tally.take(&recorded.event);
        }
    }
    Ok(tally)
}

fn unreadable(why: &JournalError) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "trail_unreadable", why.to_string())
}

fn suggestions(
    tally: &Tally,
    admin: &Admin,
    protected: &[SanitizedPath],
    now: Timestamp,
) -> Result<Vec<Suggestion>, Problem> {
    let grants = admin.grants(None)?;
    let by_file = |agent: &AgentId, permission: &Permission| {
        grants.iter().any(|grant| {
            grant.to == *agent
                && matches!(grant.origin, Origin::Config(_))
                && grant.pinned.permission.covers(permission)
        })
    };
    let often = tally.given_often(OFTEN).filter(|(agent, permission, _)| {
        // An agent that another one created is not in the file.
        let is_in_file = admin.profile(agent).is_ok_and(|profile| profile.parent.is_none());
        is_in_file && !by_file(agent, permission)
    });
    let add = often.map(|(agent, permission, times)| {
        let Covered { covers, more, .. } = Covered::of(permission, protected);
        Suggestion::AddRule {
            agent_id: agent.clone(),
            permission: permission.clone(),
            times,
            table: format!("[agents.{}]", key(agent.as_str())),
            line: format!("permissions = [{}]", quoted(&permission.to_string())),
            covers,
            more,
        }
    });
    let is_unused = |grant: &&Arc<Grant>| {
        let is_settled = grant.since.after(SETTLED) <= now;
        is_settled && !tally.uses(&grant.to, &grant.pinned.permission) && !is_passed_on(grant, &grants)
    };
    let unused = grants.iter().filter(is_unused).map(|grant| Suggestion::Unused {
        agent_id: grant.to.clone(),
        permission: grant.pinned.permission.clone(),
        grant_id: grant.id,
        since: grant.since,
        place: if let Origin::Config(place) = &grant.origin { Some(place.to_string()) } else { None },
    });
    Ok(add.chain(unused).collect())
}

/// Returns true if the holder passed a part of the permission on.
fn is_passed_on(grant: &Grant, grants: &[Arc<Grant>]) -> bool {
    grants.iter().any(|other| {
        matches!(&other.origin, Origin::Agent { from } if *from == grant.to)
            && grant.pinned.permission.covers(&other.pinned.permission)
    })
}

/// Returns the name of an agent as a key of TOML.
fn key(name: &str) -> String {
    let is_bare = name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'));
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// Returns a text as a string of TOML.
fn quoted(text: &str) -> String {
    // The escapes of JSON are escapes of TOML.
    serde_json::Value::from(text).to_string()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
