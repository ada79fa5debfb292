//! A run whose bots this server has started: from its begin to its end.

use std::sync::Arc;

use bestow::{
    Profile,
    agent::{AgentId, BotCommand, RunId},
    event::Timestamp,
    stdio::{Bot, Exit, Running},
    user::OwnerId,
};
use serde_json::{Value, json};
use tokio::{process::Command, sync::watch, task::JoinSet};

use super::board::Board;

/// A run that begins.
#[derive(Clone, Debug)]
pub(super) struct Starting {
    pub(super) owner: OwnerId,
    pub(super) run: RunId,
    pub(super) agents: Vec<Arc<Profile>>,
}

/// The bots of one run, each in a task that ends with the bot.
struct Bots {
    ends: JoinSet<(AgentId, Exit)>,
    /// The signal that ends all of them.
    end: watch::Sender<bool>,
}

impl Bots {
    fn none() -> Bots {
        Bots { ends: JoinSet::new(), end: watch::channel(false).0 }
    }

    fn add(&mut self, agent: AgentId, mut running: Running) {
        let mut end = self.end.subscribe();
        self.ends.spawn(async move {
            let exit = tokio::select! {
                exit = running.wait() => Some(exit),
                // The sender lives as long as its bots.
                _ = end.wait_for(|end| *end) => None,
            };
            let exit = match exit {
                Some(exit) => exit,
                None => running.stop().await,
            };
            (agent, exit)
        });
    }

    /// Waits until every bot has ended well, until one has not, or until somebody stops the run.
    async fn watch(&mut self, mut stopped: watch::Receiver<bool>) -> Outcome {
        loop {
            let ended = tokio::select! {
                biased;
                _ = stopped.wait_for(|stop| *stop) => return Outcome::Cancelled,
                ended = self.ends.join_next() => ended,
            };
            match ended {
                None => return Outcome::Completed,
                Some(Ok((_, exit))) if is_good(&exit) => {}
                Some(Ok((agent, exit))) => {
                    return Outcome::Failed(format!("the bot of the agent {agent} ended: {exit}"));
                }
                Some(Err(why)) => return Outcome::Failed(format!("a bot cannot be watched: {why}")),
            }
        }
    }

    /// Ends the bots that still run.
    async fn end(mut self) {
        let _ = self.end.send(true);
        while self.ends.join_next().await.is_some() {}
    }
}

/// Starts the bots of a run, and watches them until the run is over.
///
/// # Errors
///
/// The reason why a bot cannot be started. The run is over then.
pub(super) async fn start(board: Arc<Board>, starting: Starting, stopped: watch::Receiver<bool>) -> Result<(), String> {
    let Starting { owner, run, agents } = &starting;
    let ids: Vec<_> = agents.iter().map(|profile| &profile.id).collect();
    board.tell(
        owner,
        run,
        json!({ "type": "strategy_started", "runId": run, "agents": ids, "ts": board.engine.now().ok() }),
    );
    let mut bots = Bots::none();
    for profile in agents {
        let Some(command) = &profile.bot else { continue };
        match spawn(&board, &starting, profile, command).await {
            Ok(running) => bots.add(profile.id.clone(), running),
            Err(why) => {
                let why = format!("the bot of the agent {} cannot be started: {why}", profile.id);
                finish(&board, &starting, bots, Outcome::Failed(why.clone())).await;
                return Err(why);
            }
        }
    }
    tokio::spawn(async move {
        let outcome = bots.watch(stopped).await;
        finish(&board, &starting, bots, outcome).await;
    });
    Ok(())
}

async fn spawn(
    board: &Arc<Board>,
    starting: &Starting,
    profile: &Arc<Profile>,
    bot: &BotCommand,
) -> Result<Running, String> {
    let output = |stream: &'static str| {
        let (board, starting, profile) = (Arc::clone(board), starting.clone(), Arc::clone(profile));
        move |text: &str| {
            let Starting { owner, run, .. } = &starting;
            board.tell(owner, run, agent_output(run, &profile, stream, text, board.engine.now().ok()));
        }
    };
    let own = Bot::agent(&board.engine, &profile.id).map_err(|why| why.to_string())?;
    let own = own.stderr(output("stderr")).saying_to(output("message"));
    if bot.sandbox {
        let sandbox = board.sandbox.as_ref().ok_or("this server has no sandbox")?;
        return own.spawn_confined(sandbox, &bot.command).await.map_err(|why| why.to_string());
    }
    let (program, arguments) = bot.command.split_first().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(profile.working_dir.as_str());
    own.spawn(command).map_err(|why| why.to_string())
}

/// The way in which a run ended.
#[derive(Clone, Debug)]
enum Outcome {
    Completed,
    Failed(String),
    Cancelled,
}

fn is_good(exit: &Exit) -> bool {
    exit.status.is_some_and(|status| status.success())
}

/// Ends the run: what waits is cancelled, its bots end, and its clients are told.
async fn finish(board: &Board, starting: &Starting, bots: Bots, outcome: Outcome) {
    let Starting { owner, run, agents } = starting;
    for profile in agents {
        // A person may have moved the agent to another run since.
        if board.engine.run_of(&profile.id).is_ok_and(|of| of == *run) {
            let _ = board.engine.end_run(&profile.id).await;
        }
    }
    bots.end().await;
    board.forget(owner, run);
    let at = board.engine.now().ok();
    board.tell(
        owner,
        run,
        match outcome {
            Outcome::Completed => json!({ "type": "strategy_completed", "runId": run, "ts": at }),
            Outcome::Failed(why) => error(run, "EXECUTION_ERROR", &why, at),
            Outcome::Cancelled => cancelled(run, at),
        },
    );
}

/// Renders the end of a run that was stopped.
pub(super) fn cancelled(run: &RunId, ts: Option<Timestamp>) -> Value {
    error(run, "CANCELLED", "the run was stopped", ts)
}

fn error(run: &RunId, code: &str, message: &str, ts: Option<Timestamp>) -> Value {
    json!({ "type": "strategy_error", "runId": run, "code": code, "message": message, "ts": ts })
}

fn agent_output(run: &RunId, profile: &Profile, stream: &str, text: &str, ts: Option<Timestamp>) -> Value {
    let name = profile.name.as_ref().map_or(profile.id.as_str(), |name| name.as_str());
    json!({
        "type": "agent_output",
        "runId": run,
        "agentId": profile.id,
        "agentName": name,
        "stream": stream,
        "text": text,
        "ts": ts,
    })
}
