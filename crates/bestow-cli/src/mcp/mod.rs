//! `bestow mcp`: the Model Context Protocol on standard input and output, for one agent.
//!
//! Standard output has messages of the protocol and nothing else.

mod asking;
mod event_stream;
mod message;
mod own;
mod relay;
mod reply;

use tokio::runtime;

use crate::{
    args::{McpArgs, RemoteArgs},
    exit::Exit,
    remote::Source,
};

/// Serves one agent until standard input ends, or a signal ends this process.
pub(crate) fn mcp(args: McpArgs) -> Result<Exit, Exit> {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(Exit::failed)?;
    let done = runtime.block_on(async {
        match args.engine.own_engine().map_err(Exit::usage)? {
            Some(own) => own::serve(&own, &args).await,
            None => relay::serve(Source::of(&args.engine.remote), approver(&args)?).await,
        }
    });
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    done
}

/// Returns the source of the server with the token of the approver, if the user of the client is asked.
fn approver(args: &McpArgs) -> Result<Option<Source>, Exit> {
    if !args.elicit {
        return Ok(None);
    }
    let token_file = args.approver_token_file.clone().ok_or_else(|| {
        Exit::usage(
            "`--elicit` with a server needs `--approver-token-file FILE`: `bestow token create --role approver` prints \
             the token of the person who answers",
        )
    })?;
    Ok(Some(Source::of(&RemoteArgs { token_file: Some(token_file), ..args.engine.remote.clone() })))
}
