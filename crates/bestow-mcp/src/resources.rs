//! The resources: what the agent holds and why, and what waits.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents};
use serde::Serialize;
use serde_json::json;

use crate::{
    failure::Failure,
    tools::{Acting, grants_of, waiting_of},
    view::GrantView,
};

/// The address of the grants of the agent.
pub(crate) const PERMISSIONS: &str = "bestow://permissions";

/// The address of the requests of the agent that wait.
pub(crate) const REQUESTS: &str = "bestow://requests";

/// The form of the resources.
const JSON: &str = "application/json";

/// A resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shelf {
    Permissions,
    Requests,
}

/// A grant, and the chain of grants to its root.
#[derive(Serialize)]
struct Held {
    #[serde(flatten)]
    grant: GrantView,
    /// The grant of the agent first, the root last.
    provenance: Vec<String>,
}

impl Shelf {
    pub(crate) const ALL: [Shelf; 2] = [Shelf::Permissions, Shelf::Requests];

    /// Returns the resource at this address.
    pub(crate) fn at(uri: &str) -> Option<Shelf> {
        Shelf::ALL.into_iter().find(|shelf| shelf.uri() == uri)
    }

    pub(crate) fn uri(self) -> &'static str {
        match self {
            Shelf::Permissions => PERMISSIONS,
            Shelf::Requests => REQUESTS,
        }
    }

    pub(crate) fn described(self) -> Resource {
        let (name, title, description) = match self {
            Shelf::Permissions => (
                "permissions",
                "Permissions and their provenance",
                "The permissions that you hold now, each with the chain of grants to its root, and the grants that you \
                 gave.",
            ),
            Shelf::Requests => {
                ("requests", "Requests that wait", "Your requests for permissions that wait for a person.")
            }
        };
        Resource::new(self.uri(), name).with_title(title).with_description(description).with_mime_type(JSON)
    }

    pub(crate) async fn read(self, acting: Acting) -> Result<ReadResourceResult, Failure> {
        let content = match self {
            Shelf::Permissions => {
                let (_, given) = grants_of(&acting)?;
                json!({ "agent_id": acting.agent.id(), "grants": held(&acting)?, "given": given })
            }
            Shelf::Requests => json!({ "agent_id": acting.agent.id(), "waiting": waiting_of(&acting)? }),
        };
        let content = ResourceContents::text(content.to_string(), self.uri()).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![content]))
    }
}

/// Returns the grants of the agent with their provenance.
fn held(acting: &Acting) -> Result<Vec<Held>, Failure> {
    let with_provenance = |grant: &bestow::grant::Grant| {
        let provenance = acting.agent.why(&grant.pinned.permission)?;
        Ok(Held { grant: GrantView::of(grant), provenance: provenance.iter().map(ToString::to_string).collect() })
    };
    acting.agent.grants()?.iter().map(|grant| with_provenance(grant)).collect()
}
