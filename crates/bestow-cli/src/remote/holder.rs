//! The holder of a token.

use serde::Deserialize;

use super::{post::get, settings::Server};

#[derive(Deserialize)]
struct Session {
    role: String,
}

/// Checks that the server knows the token, and that it is for this role.
pub(crate) async fn holder(server: &Server, role: &str) -> Result<(), String> {
    let failed = |why: String| format!("{server}: {why}");
    let session: Session = get(server, "/v1/session").await.and_then(|reply| reply.understood()).map_err(failed)?;
    if session.role == role {
        return Ok(());
    }
    let article = if role.starts_with(['a', 'o']) { "an" } else { "a" };
    Err(failed(format!("the token is not that of {article} {role}: `bestow token create --role {role}` prints one")))
}
