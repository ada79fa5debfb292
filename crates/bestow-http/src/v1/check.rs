//! `POST /v1/check`: the permissions that an agent holds now.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
};
use bestow::{Permission, decision::Check};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use utoipa::ToSchema;

use super::input;
use crate::{identity::Entrance, problem::Problem};

/// The most permissions of one check.
const MOST: usize = 1_000;

/// The permissions to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckBody {
    /// The permissions, at most 1,000.
    #[serde(deserialize_with = "batch")]
    #[schema(value_type = Vec<String>, max_items = 1_000, example = json!(["@read:/work/site"]))]
    permissions: Vec<Permission>,
}

fn batch<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Permission>, D::Error> {
    let batch = Vec::<Permission>::deserialize(from)?;
    if batch.len() > MOST {
        return Err(D::Error::custom(format!("a check has at most {MOST} permissions")));
    }
    Ok(batch)
}

/// The result of a check, in the order of the permissions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CheckResult {
    results: Vec<Checked>,
}

/// The result for one permission.
#[derive(Debug, Serialize, ToSchema)]
struct Checked {
    #[schema(value_type = String)]
    permission: Permission,
    held: Holds,
}

/// The state of a permission: `held_once` is a permission for one use, which a check does not consume.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Holds {
    Held,
    HeldOnce,
    NotHeld,
}

/// Checks permissions of the agent. It consumes nothing and asks nobody.
#[utoipa::path(
    post, path = "/v1/check", tag = "agent", request_body = CheckBody,
    responses((status = 200, description = "The state of each permission.", body = CheckResult))
)]
pub(super) async fn check(
    State(entrance): State<Arc<Entrance>>,
    request: Request,
) -> Result<Json<CheckResult>, Problem> {
    let (parts, body) = request.into_parts();
    let caller = entrance.caller(&parts)?;
    let agent = caller.agent()?;
    let sent = entrance.json(&caller, &parts.headers, body).await?;
    let CheckBody { permissions } = input::plain(&sent)?;
    // Each check reads the published state and nothing else, so it needs no thread that may wait.
    let checked = permissions.into_iter().map(|permission| {
        let held = match agent.check(&permission) {
            Check::Held => Holds::Held,
            Check::HeldOnce => Holds::HeldOnce,
            Check::NotHeld => Holds::NotHeld,
        };
        Checked { permission, held }
    });
    Ok(Json(CheckResult { results: checked.collect() }))
}
