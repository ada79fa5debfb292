//! `bestow acp wrap`: an editor, an agent, and the engine between them.

use std::time::Duration;

use bestow_hosts::acp::{Broken, Otherwise, WrapOptions, Wrapper};
use tokio::{
    io, runtime,
    time::{sleep, timeout},
};

use super::{child::Agent, engine::Judge, log::log};
use crate::{
    args::{UnansweredBy, WrapArgs},
    exit::Exit,
    pump, signals,
};

/// The time in which the last lines of an agent that has ended are copied. A process that it started may still have its
/// output open.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The time in which an agent ends that was told to.
const GRACE: Duration = Duration::from_secs(5);

/// Copies lines until the agent ends.
pub(super) fn wrap(args: &WrapArgs) -> Result<Exit, Exit> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Exit::failed)?;
    let exit = runtime.block_on(async {
        let judge = Judge::of(args).await?;
        let exit = wrapped(args, &judge).await;
        judge.end().await;
        exit
    });
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    exit
}

async fn wrapped(args: &WrapArgs, judge: &Judge) -> Result<Exit, Exit> {
    let end = signals::end().map_err(Exit::failed)?;
    let (mut agent, output, input) = Agent::start(&args.words)?;
    let mut options = WrapOptions::default();
    options.hold = args.hold;
    options.allow_always = args.allow_always;
    options.unanswered = match args.unanswered {
        UnansweredBy::Editor => Otherwise::Editor,
        UnansweredBy::Deny => Otherwise::Deny,
    };
    let wrapper = Wrapper::new(judge.sessions.clone(), options).logging(log());
    let unheard = pump::in_thread(pump::wait_for_closed_output);
    let unheard = async {
        if unheard.await.is_err() {
            std::future::pending().await
        }
    };
    let stop = async {
        let is_told = tokio::select! {
            () = agent.ended() => return sleep(LAST_LINES).await,
            () = unheard => false,
            () = end => true,
        };
        if is_told {
            agent.tell();
        }
        // One that does not end is told to, and then killed, below.
        let _ = timeout(GRACE, agent.ended()).await;
    };
    let ended = wrapper.run((io::stdin(), io::stdout()), (output, input), stop).await;
    match ended {
        // The pipes of the agent are closed now, which an agent takes as the end.
        Ok(()) | Err(Broken::Editor(_)) => {}
        Err(why) => log()(&why.to_string()),
    }
    Ok(agent.end().await)
}
