//! An engine of its own, for one client.

use bestow::{
    Approver, Engine, Profile,
    control::{self, AdminCommand},
};
use bestow_mcp::{Lines, server};
use rmcp::{ServiceExt, service::ServerInitializeError};

use crate::{
    args::{McpArgs, OwnEngine, user_name},
    exit::Exit,
    own_engine, signals,
    state::secret,
    suggest,
};

/// The means of an answer of the client's user, in records.
const MEANS: &str = "mcp";

/// Serves an agent of an engine that this process runs.
pub(super) async fn serve(own: &OwnEngine, args: &McpArgs) -> Result<Exit, Exit> {
    let stop = signals::end().map_err(Exit::failed)?;
    let engine = own_engine::open(own).await?;
    let served = tokio::select! {
        served = served(&engine, own, args) => served,
        () = stop => Ok(Exit::Done),
    };
    engine.shutdown().await;
    served
}

async fn served(engine: &Engine, own: &OwnEngine, args: &McpArgs) -> Result<Exit, Exit> {
    let agent = &own.agent;
    let known = suggest::registered(engine, agent, &own.config).map_err(Exit::failed)?;
    let profile = known.profile().map_err(Exit::failed)?;
    let server = match args.elicit {
        true => server(engine, agent.clone()).asking(user(engine, &profile, own, args)?),
        false => server(engine, agent.clone()),
    };
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout());
    match server.serve(lines).await {
        Ok(running) => running.waiting().await.map(|_| Exit::Done).map_err(Exit::failed),
        // The client left before its first request.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(Exit::Done),
        Err(why) => Err(Exit::failed(why)),
    }
}

/// Returns the person as whom the user of the client answers. Whoever drives the client answers like `bestow approve`,
/// so the same is asked of this process: a terminal, or the secret of the state directory.
fn user(engine: &Engine, profile: &Profile, own: &OwnEngine, args: &McpArgs) -> Result<Approver, Exit> {
    if !profile.kind.is_foreground() {
        return Err(Exit::usage(format_args!(
            "`--elicit`: the agent `{}` is a background agent, which has no user: its requests reach a person through \
             a foreground agent, the dashboard or `bestow watch`",
            profile.id
        )));
    }
    let by = match &args.by {
        Some(by) => by.clone(),
        None => user_name("--by")?,
    };
    let token = args.approver_token_file.as_deref().map(secret).transpose()?;
    let order = AdminCommand::Verify { by: by.clone() };
    if control::refusal_of_own(&own.state, &order, token.as_deref()).map_err(Exit::failed)?.is_some() {
        return Err(Exit::Denied(
            "`--elicit`: a person answers here, and no terminal shows that one is there: start the client from a \
             terminal, or name the file `approver-token` of the state directory with `--approver-token-file`"
                .to_owned(),
        ));
    }
    Ok(engine.approver(&profile.owner, &by, MEANS))
}
