//! A run whose bots this server has started: from its begin to its end.

use std::sync::Arc;

use bestow::{
    Engine, Profile,
    agent::{AgentId, BotCommand, RunId},
    decision::{SavedDecision, Verdict},
    event::Timestamp,
    grant::Scope,
    stdio::{Bot, Exit, Running},
    user::OwnerId,
};
use serde_json::{Value, json};
use tokio::{process::Command, sync::watch, task::JoinSet};

use super::{
    board::{BEGIN, Board},
    output::Output,
    program,
};

/// A run that begins.
#[derive(Clone, Debug)]
pub(super) struct Starting {
    pub(super) owner: OwnerId,
    pub(super) run: RunId,
    pub(super) agents: Vec<Arc<Profile>>,
    /// The text that each bot gets as its first message.
    pub(super) input: Option<String>,
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
    let Starting { owner, run, agents, input } = &starting;
    let ids: Vec<_> = agents.iter().map(|profile| &profile.id).collect();
    board.tell(owner, run, json!({ "type": BEGIN, "runId": run, "agents": ids, "ts": board.engine.now().ok() }));
    let mut bots = Bots::none();
    for profile in agents {
        let Some(command) = &profile.bot else { continue };
        let started = match spawn(&board, &starting, profile, command).await {
            Ok(running) => {
                bots.add(profile.id.clone(), running);
                greet(&board, &profile.id, input.as_deref()).await
            }
            Err(why) => Err(why),
        };
        if let Err(why) = started {
            let why = format!("the bot of the agent {} cannot be started: {why}", profile.id);
            finish(&board, &starting, bots, Outcome::Failed(why.clone())).await;
            return Err(why);
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
    if let Some(why) = program::refusal(&board.engine, profile, bot).map_err(|why| why.to_string())? {
        return Err(why);
    }
    let output = Arc::new(Output::new(board, &starting.owner, &starting.run, profile));
    let output = |stream: &'static str| {
        let output = Arc::clone(&output);
        move |text: &str| output.tell(stream, text)
    };
    let own = Bot::agent(&board.engine, &profile.id).map_err(|why| why.to_string())?;
    let own = own.stderr(output("stderr")).saying_to(output("message")).telling_faults_to(output("error"));
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

/// Ends the run: first its bots, so that none of them acts without its policies, and then what was valid for it.
async fn finish(board: &Board, starting: &Starting, bots: Bots, outcome: Outcome) {
    let Starting { owner, run, .. } = starting;
    bots.end().await;
    // A person may have moved agents out of the run, or into it.
    for profile in board.members(owner, run).unwrap_or_default() {
        match outcome {
            // A person ends the run, with its policies and denials.
            Outcome::Cancelled => drop(board.engine.end_run(&profile.id).await),
            Outcome::Completed | Outcome::Failed(_) => end_what_allows(&board.engine, &profile.id, run).await,
        }
    }
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

/// Ends what an agent asks and what a person allowed it for the run. What was denied stays until a person ends the run:
/// a bot that exits must not rid its agent of a denial.
async fn end_what_allows(engine: &Engine, agent: &AgentId, run: &RunId) {
    // What cannot be ended here ends with the next run, or with the engine.
    if let Ok(handle) = engine.agent(agent) {
        let pending = engine.pending().unwrap_or_default().into_iter().map(|pending| pending.request);
        for request in pending.filter(|request| request.from == *agent) {
            let _ = handle.cancel(request.id).await;
        }
    }
    let grants = engine.grants().unwrap_or_default().into_iter();
    for grant in grants.filter(|grant| grant.to == *agent && grant.scope == Scope::Session) {
        let _ = engine.revoke(grant.id, None).await;
    }
    let saved = engine.rulings().unwrap_or_default().into_iter();
    let allows = |saved: &SavedDecision| saved.verdict == Verdict::Allow && saved.run.as_ref() == Some(run);
    for saved in saved.filter(|saved| saved.agent == *agent && allows(saved)) {
        let _ = engine.revoke_ruling(saved.id, None).await;
    }
}

/// Gives the input of a run to a bot that has started.
async fn greet(board: &Board, agent: &AgentId, input: Option<&str>) -> Result<(), String> {
    let Some(input) = input else { return Ok(()) };
    board.engine.message(agent, None, input).await.map_err(|why| why.to_string())
}

/// Renders the end of a run that was stopped.
pub(super) fn cancelled(run: &RunId, ts: Option<Timestamp>) -> Value {
    error(run, "CANCELLED", "the run was stopped", ts)
}

fn error(run: &RunId, code: &str, message: &str, ts: Option<Timestamp>) -> Value {
    json!({ "type": "strategy_error", "runId": run, "code": code, "message": message, "ts": ts })
}
