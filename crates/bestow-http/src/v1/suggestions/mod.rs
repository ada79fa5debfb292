//! `GET /v1/suggestions`: permissions and rules that the policy file could have, and permissions that nobody uses.

mod tally;

use std::{path::Path, sync::Arc, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use bestow::{
    AgentId, Permission, PolicyFile,
    control::Admin,
    event::Timestamp,
    grant::{Grant, GrantId, Origin},
    journal::{JournalError, audit},
    path::SanitizedPath,
    policy::{LineEdit, PermanentDecision},
    user::OwnerId,
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use self::tally::{Allowed, Tally};
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
    /// People gave a permission again and again. The policy file could give it.
    AddPermission {
        #[schema(value_type = String)]
        agent_id: AgentId,
        #[schema(value_type = String)]
        permission: Permission,
        /// The number of times.
        times: u32,
        edit: Edit,
        /// The first names in the directory that the permission would cover.
        covers: Vec<String>,
        /// True if the directory has more.
        more: bool,
    },
    /// People allowed actions of one form again and again. A rule of the policy file could allow them.
    AddRule {
        #[schema(value_type = String)]
        agent_id: AgentId,
        /// The actions that the rule would allow.
        action: String,
        /// The number of times.
        times: u32,
        edit: Edit,
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

/// The change of the policy file, exactly as it would be written.
#[derive(Debug, Serialize, ToSchema)]
struct Edit {
    /// The line of the file before which the new lines come, or which they replace.
    line: u32,
    /// The lines that are replaced. They are often none.
    old: String,
    /// The new lines.
    new: String,
}

/// Suggests lines of the policy file for what people allowed at least three times in the last seven days, and names
/// permissions that no recorded decision used in that time.
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
    let file = entrance.config().map(PolicyFile::new);
    let suggested = async move {
        let tally = tally(&trail, since).map_err(|why| unreadable(&why))?;
        let grants = admin.grants(None)?;
        let added = file.map(|file| Additions { file, admin: &admin, grants: &grants, protected: &protected });
        let added = added.into_iter().flat_map(|additions| additions.of(&tally));
        Ok::<_, Problem>(added.chain(unused(&tally, &grants, now)).collect())
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

pub(super) fn unreadable(why: &JournalError) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "trail_unreadable", why.to_string())
}

/// The suggestions of lines for the policy file.
struct Additions<'a> {
    file: PolicyFile,
    admin: &'a Admin,
    grants: &'a [Arc<Grant>],
    protected: &'a [SanitizedPath],
}

impl Additions<'_> {
    /// Returns the suggestions that the file can say exactly.
    fn of(&self, tally: &Tally) -> Vec<Suggestion> {
        let permissions = tally.given_often(OFTEN).filter_map(|(agent, permission, times)| {
            let edit = self.permission_edit(agent, permission, times)?;
            let Covered { covers, more, .. } = Covered::of(permission, self.protected);
            let (agent_id, permission) = (agent.clone(), permission.clone());
            Some(Suggestion::AddPermission { agent_id, permission, times, edit, covers, more })
        });
        let actions = tally.allowed_often(OFTEN).filter_map(|(agent, allowed)| {
            let edit = self.action_edit(agent, allowed)?;
            Some(Suggestion::AddRule { agent_id: agent.clone(), action: allowed.shown(), times: allowed.times, edit })
        });
        permissions.chain(actions).collect()
    }

    fn permission_edit(&self, agent: &AgentId, permission: &Permission, times: u32) -> Option<Edit> {
        let owner = self.owner_of(agent)?;
        let is_in_file = self.grants.iter().any(|grant| {
            grant.to == *agent
                && matches!(grant.origin, Origin::Config(_))
                && grant.pinned.permission.covers(permission)
        });
        let said = PermanentDecision::suggested_permission(agent, &owner, permission, why(times));
        if is_in_file { None } else { self.edit(&said) }
    }

    fn action_edit(&self, agent: &AgentId, allowed: &Allowed) -> Option<Edit> {
        let owner = self.owner_of(agent)?;
        let said = PermanentDecision::suggested_action(agent, &owner, &allowed.action, why(allowed.times)).ok()?;
        self.edit(&said)
    }

    /// Returns the owner of an agent of the file. An agent that another one created is not in the file.
    fn owner_of(&self, agent: &AgentId) -> Option<OwnerId> {
        let profile = self.admin.profile(agent).ok()?;
        profile.parent.is_none().then(|| profile.owner.clone())
    }

    /// Returns the change of the file. `None` if the file cannot say exactly this, has mistakes, or says it already.
    fn edit(&self, said: &PermanentDecision) -> Option<Edit> {
        let LineEdit { line, old, new, .. } = self.file.edit_to_keep(said).ok()??;
        Some(Edit { line, old, new })
    }
}

/// Returns the comment of a suggested line.
fn why(times: u32) -> String {
    format!("allowed by hand {times} times in 7 days")
}

/// Returns the permissions that no recorded decision used.
fn unused(tally: &Tally, grants: &[Arc<Grant>], now: Timestamp) -> Vec<Suggestion> {
    let is_unused = |grant: &&Arc<Grant>| {
        let is_settled = grant.since.after(SETTLED) <= now;
        is_settled && !tally.uses(&grant.to, &grant.pinned.permission) && !is_passed_on(grant, grants)
    };
    let suggestion = |grant: &Arc<Grant>| Suggestion::Unused {
        agent_id: grant.to.clone(),
        permission: grant.pinned.permission.clone(),
        grant_id: grant.id,
        since: grant.since,
        place: if let Origin::Config(place) = &grant.origin { Some(place.to_string()) } else { None },
    };
    grants.iter().filter(is_unused).map(suggestion).collect()
}

/// Returns true if the holder passed a part of the permission on.
fn is_passed_on(grant: &Grant, grants: &[Arc<Grant>]) -> bool {
    grants.iter().any(|other| {
        matches!(&other.origin, Origin::Agent { from } if *from == grant.to)
            && grant.pinned.permission.covers(&other.pinned.permission)
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
