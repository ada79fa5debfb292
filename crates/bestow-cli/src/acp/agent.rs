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

/// The way to the server that this command needs.
const WAY_OUT: &str = "`bestow acp agent` shows the questions of the agents of a running server: start `bestow serve \
                       --state DIRECTORY`, make a token with `bestow token create --state DIRECTORY --role approver`, \
                       and name both with `--ready-file DIRECTORY/server.json --token-file FILE`";

/// Speaks with the editor until it says no more.
pub(super) fn agent(args: &AcpAgentArgs) -> Result<Exit, Exit> {
    if args.state.is_some() || args.config.is_some() {
        return Err(Exit::usage(format_args!("this command has no engine of its own: {WAY_OUT}")));
    }
    let failed = |why: String| Exit::failed(format_args!("{why}; {WAY_OUT}"));
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Exit::failed)?;
    let exit = runtime.block_on(async {
        let source = Source::of(&args.remote);
        let server = task::spawn_blocking(move || Server::of(source)).await.map_err(Exit::failed)?;
        let agent = args.agent.as_ref().map(ToString::to_string);
        let inbox = ServerInbox::open(server.map_err(failed)?, agent).await.map_err(failed)?;
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
