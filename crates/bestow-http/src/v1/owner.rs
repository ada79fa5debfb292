//! The owner for whom a person acts. An approver has one, and an operator names one.

use bestow::{Approver, user::OwnerId};
use serde::Deserialize;
use utoipa::IntoParams;

use super::sender::Person;
use crate::{credentials::Role, problem::Problem};

/// The owner of the agents.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OfOwner {
    /// The owner. An operator names it. An approver may repeat its own.
    #[param(value_type = Option<String>)]
    owner_id: Option<OwnerId>,
}

impl OfOwner {
    /// Returns the owner.
    pub(super) fn owner(self, person: &Person) -> Result<OwnerId, Problem> {
        match (&person.caller.credential().role, self.owner_id) {
            (Role::Approver { owner, .. }, None) => Ok(owner.clone()),
            (Role::Approver { owner, .. }, Some(named)) if named == *owner => Ok(named),
            (Role::Operator, Some(named)) => Ok(named),
            (Role::Approver { .. } | Role::Agent { .. }, Some(_)) | (Role::Agent { .. }, None) => {
                Err(Problem::forbidden("the credential belongs to another `ownerId`"))
            }
            (Role::Operator, None) => {
                let detail = "`ownerId` is missing: an operator names the owner of the agents";
                Err(Problem::new(axum::http::StatusCode::BAD_REQUEST, "invalid_query", detail))
            }
        }
    }

    /// Returns the handle of the person for the owner.
    pub(super) fn approver(self, person: &Person) -> Result<Approver, Problem> {
        let owner = self.owner(person)?;
        Ok(person.admin.approver(&owner, person.by.clone()))
    }
}
