//! `bestow acp agent`: the questions to a person, in the editor of this person.

use bestow_hosts::acp::foreground;
use tokio::{io, runtime, task};

use super::inbox::ServerInbox;
use crate::{
    args::AcpAgentArgs,
    exit::Exit,
    remote::{Server, Source},
    signals,
};

/// Speaks with the editor until it says no more.
pub(super) fn agent(args: &AcpAgentArgs) -> Result<Exit, Exit> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Exit::failed)?;
    let exit = runtime.block_on(async {
        let source = Source::of(&args.remote);
        let server = task::spawn_blocking(move || Server::of(source)).await.map_err(Exit::failed)?;
        let agent = args.agent.as_ref().map(ToString::to_string);
        let inbox = ServerInbox::open(server.map_err(Exit::Failed)?, agent).await.map_err(Exit::Failed)?;
        let end = signals::end().map_err(Exit::failed)?;
        tokio::select! {
            served = foreground::serve(inbox, io::stdin(), io::stdout()) => match served {
                Ok(()) => Ok(Exit::Done),
                Err(why) => Ok(Exit::output_failed(&why)),
            },
            () = end => Ok(Exit::Done),
        }
    });
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    exit
}
