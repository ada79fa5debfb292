//! The orders about runs: preparing, starting and stopping. Everything about a run but its bots is in the engine.

use std::{collections::BTreeMap, sync::Arc};

use bestow::{
    Approver, Engine, Error, Profile,
    agent::{AgentId, RunId},
    sandbox::Sandbox,
    stdio::ErrorCode,
    text::Escaped,
    user::OwnerId,
};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::{
    board::Board,
    message::{Code, NotDone},
    news::Inbox,
    policy_signals::PolicySignals,
    running::{self, Starting},
};
use crate::shares::Shares;

/// The agents of one run.
const AGENTS: usize = 64;

/// The runs of an engine.
#[derive(Debug)]
pub(crate) struct Runs {
    board: Arc<Board>,
    policies: Arc<PolicySignals>,
    /// The turn of whoever prepares, joins, starts or stops a run of an owner. The runs of one owner do not delay those
    /// of another.
    turns: Shares<OwnerId>,
}

impl Runs {
    pub(crate) fn new(engine: &Engine, sandbox: Option<Sandbox>) -> Runs {
        let board = Arc::new(Board::new(engine, sandbox));
        Runs { board, policies: Arc::default(), turns: Shares::of(1) }
    }

    /// Returns the sandbox for programs and processes, if the server has one.
    pub(crate) fn sandbox(&self) -> Option<Sandbox> {
        self.board.sandbox.clone()
    }

    /// Returns the signal that the policies of an owner have changed.
    pub(super) fn policies(&self, owner: &OwnerId) -> watch::Receiver<()> {
        self.policies.of(&self.board.engine, owner)
    }

    pub(super) fn news(&self, owner: &OwnerId) -> Inbox {
        self.board.news(owner)
    }

    async fn turn(&self, owner: &OwnerId) -> Result<OwnedSemaphorePermit, NotDone> {
        let broken = || NotDone::new(Code::Shared(ErrorCode::InternalError), "the server is not able to work");
        self.turns.take(owner).await.ok_or_else(broken)
    }

    /// Returns the runs of an owner's agents, with the agents in each.
    pub(crate) fn all(&self, owner: &OwnerId) -> Result<BTreeMap<RunId, Vec<AgentId>>, Error> {
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for profile in self.board.engine.agents()?.iter().filter(|profile| profile.owner == *owner) {
            // An agent that is gone by now is in no run.
            if let Ok(run) = self.board.engine.run_of(&profile.id) {
                all.entry(run).or_default().push(profile.id.clone());
            }
        }
        Ok(all)
    }

    /// Returns true while bots that this server has started act in a run.
    pub(crate) fn is_running(&self, owner: &OwnerId, run: &RunId) -> bool {
        self.board.is_running(owner, run)
    }

    /// Returns the number of the runs whose bots are going on, of one owner or of all.
    pub(crate) fn running(&self, owner: Option<&OwnerId>) -> usize {
        self.board.count(owner)
    }

    /// Puts an agent into a run of its owner's agents. Returns the agents in the run.
    pub(crate) async fn join(
        &self,
        approver: &Approver,
        owner: &OwnerId,
        run: &RunId,
        agent: &AgentId,
    ) -> Result<Vec<AgentId>, NotDone> {
        let _turn = self.turn(owner).await?;
        self.agents_of(owner, run)?;
        if let Some(busy) = self.board.running_with(owner, agent).filter(|busy| busy != run) {
            return Err(failed(format!("the agent is in the run {busy}, which is going on: stop that run first")));
        }
        approver.join_run(agent, run).await.map_err(|why| failed(why.to_string()))?;
        Ok(self.agents_of(owner, run)?.iter().map(|profile| profile.id.clone()).collect())
    }

    /// Puts agents of a person's owner into a new run. Without a list these are the agents that have a command.
    pub(crate) async fn prepare(
        &self,
        approver: &Approver,
        owner: &OwnerId,
        wanted: Option<Vec<AgentId>>,
        cwd: Option<&str>,
    ) -> Result<(RunId, Vec<AgentId>), NotDone> {
        let _turn = self.turn(owner).await?;
        let chosen = self.chosen(owner, wanted)?;
        if let Some(busy) = chosen.iter().find_map(|profile| self.board.running_with(owner, &profile.id)) {
            let message = format!("one of the agents is in the run {busy}, which is going on: stop that run first");
            return Err(failed(message));
        }
        if let Some(other) = cwd.and_then(|cwd| chosen.iter().find(|profile| profile.working_dir.as_str() != cwd)) {
            let Profile { id, working_dir, .. } = &**other;
            return Err(failed(format!(
                "`cwd` is not the working directory of the agent {id}, which is {working_dir}: leave `cwd` out, or set \
                 `working_dir` in the policy file"
            )));
        }
        let run = fresh_run().map_err(failed)?;
        let agents: Vec<_> = chosen.iter().map(|profile| profile.id.clone()).collect();
        for (at, agent) in agents.iter().enumerate() {
            let entered = match at {
                0 => approver.begin_run(agent, run.clone()).await,
                _ => approver.join_run(agent, &run).await,
            };
            if let Err(why) = entered {
                end(approver, agents.iter().take(at)).await;
                return Err(failed(why.to_string()));
            }
        }
        Ok((run, agents))
    }

    fn chosen(&self, owner: &OwnerId, wanted: Option<Vec<AgentId>>) -> Result<Vec<Arc<Profile>>, NotDone> {
        let all = self.board.engine.agents().map_err(|why| failed(why.to_string()))?;
        let mut own = all.into_iter().filter(|profile| profile.owner == *owner);
        let chosen: Vec<_> = match wanted {
            None => own.filter(|profile| profile.bot.is_some()).collect(),
            Some(mut wanted) => {
                wanted.sort();
                wanted.dedup();
                let own: Vec<_> = own.by_ref().collect();
                let found = wanted.iter().map(|id| {
                    let found = own.iter().find(|profile| profile.id == *id).cloned();
                    found.ok_or_else(|| failed(format!("there is no agent {id}")))
                });
                found.collect::<Result<_, _>>()?
            }
        };
        match chosen.len() {
            0 => Err(failed("no agent has a `command` in the policy file: name the agents of the run in `agents`")),
            1..=AGENTS => Ok(chosen),
            _ => Err(failed(format!("a run has at most {AGENTS} agents"))),
        }
    }

    /// Starts the bots that the policy file declares for the agents of a run.
    pub(crate) async fn start(&self, owner: &OwnerId, run: &RunId, input: Option<&str>) -> Result<(), NotDone> {
        let _turn = self.turn(owner).await?;
        let failed = |message: String| NotDone::new(Code::StartFailed, message);
        let agents = self.agents_of(owner, run)?;
        if self.board.is_running(owner, run) {
            return Err(failed(format!("the run {run} is running already")));
        }
        if !agents.iter().any(|profile| profile.bot.is_some()) {
            return Err(failed(format!(
                "no agent of the run {run} has a `command` in the policy file: set one, or connect a tool host with \
                 the credential of the agent"
            )));
        }
        let ids = agents.iter().map(|profile| profile.id.clone()).collect();
        let stopped = self.board.enter(owner, run, ids);
        let input = input.map(str::to_owned);
        let starting = Starting { owner: owner.clone(), run: run.clone(), agents, input };
        running::start(Arc::clone(&self.board), starting, stopped).await.map_err(failed)
    }

    /// Stops a run: its bots end, and then everything that was valid for it. What waits for a person is cancelled.
    pub(crate) async fn stop(&self, approver: &Approver, owner: &OwnerId, run: &RunId) -> Result<(), NotDone> {
        let _turn = self.turn(owner).await?;
        let agents = self.agents_of(owner, run)?;
        if !self.board.stop(owner, run) {
            end(approver, agents.iter().map(|profile| &profile.id)).await;
            self.board.tell(owner, run, running::cancelled(run, self.board.engine.now().ok()));
        }
        Ok(())
    }

    /// Returns the agents of an owner in a run.
    fn agents_of(&self, owner: &OwnerId, run: &RunId) -> Result<Vec<Arc<Profile>>, NotDone> {
        let broken = |why: Error| NotDone::new(Code::Shared(ErrorCode::InternalError), why.to_string());
        let agents = self.board.members(owner, run).map_err(broken)?;
        // The agents of a running run may have been moved to another run since. It can still be stopped.
        if agents.is_empty() && !self.board.is_running(owner, run) { Err(NotDone::no_run(run)) } else { Ok(agents) }
    }
}

/// Ends the run of each of these agents, with everything that was valid for it.
async fn end<'a>(approver: &Approver, agents: impl Iterator<Item = &'a AgentId>) {
    for agent in agents {
        // An agent that is gone has no run, and a broken engine allows nothing more.
        let _ = approver.end_run(agent).await;
    }
}

fn failed(message: impl Into<String>) -> NotDone {
    NotDone::new(Code::PrepareFailed, message)
}

/// Returns a new id of a run.
fn fresh_run() -> Result<RunId, String> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|why| format!("the system gives no random bytes: {why}"))?;
    let text = random.iter().fold("run_".to_owned(), |text, byte| format!("{text}{byte:02x}"));
    text.parse().map_err(|why| format!("{} is not an id: {why}", Escaped(&text)))
}
