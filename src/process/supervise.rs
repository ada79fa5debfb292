//! The supervisor thread of a process: it starts the process, waits for its end or for orders, and ends it.

use std::{
    io::{self, PipeReader},
    os::fd::OwnedFd,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::fs::{OFlags, fcntl_setfl};
use tokio::sync::oneshot;

use super::{
    OutputStream,
    entry::{Entry, Word},
    registry::{Registry, Seat},
};
use crate::{
    compose::exec::{Listening, keeping_from},
    engine::{Agent, Standing, WeakAgent},
    kernel::{SandboxDenials, Starting},
    model::{Action, Cause, Process, ProcessExit, ProcessId},
    sandbox::{ExecError, Going, Gone, Heard, SandboxError},
};

/// The number of bytes at the end of standard error that are searched for refusals of the sandbox.
const LAST_WORDS: u64 = 64 << 10;

/// A process to start.
pub(super) struct Start {
    pub(super) agent: Agent,
    pub(super) registry: Arc<Registry>,
    pub(super) entry: Arc<Entry>,
    pub(super) starting: Starting,
    pub(super) action: Action,
    /// The registry's change counter at the time of the decision.
    pub(super) generation: u64,
}

/// The exit that is recorded if the real one is unknown.
const KILLED: ProcessExit = ProcessExit::Signalled { signal: 9 };

type Answer = Result<ProcessId, ExecError>;

impl Start {
    /// Starts the process on a thread of its own, which stays until the process is gone.
    pub(super) async fn start(self) -> Answer {
        let (answer, answered) = oneshot::channel();
        let seat = self.registry.seat();
        let spawned = thread::Builder::new().name("bestow-process".into()).spawn(move || self.live(answer, seat));
        spawned.map_err(SandboxError::from)?;
        answered.await.unwrap_or_else(|_| Err(SandboxError::Io(io::ErrorKind::UnexpectedEof.into()).into()))
    }

    fn live(self, answer: oneshot::Sender<Answer>, seat: Seat) {
        let (registry, entry) = (Arc::clone(&self.registry), Arc::clone(&self.entry));
        match self.begin() {
            Err(why) => drop(answer.send(Err(why))),
            Ok(begun) => {
                let id = begun.process.id;
                // The caller may have given up meanwhile.
                if answer.send(Ok(id)).is_err() {
                    entry.tell(Word::End(Duration::ZERO));
                }
                drop(registry);
                begun.live();
            }
        }
        drop(seat);
    }

    /// Sets up the sandbox, records the start, and lets the process run.
    fn begin(self) -> Result<Begun, ExecError> {
        let Start { agent, registry, entry, starting, action, generation } = self;
        let kept = agent.kept_from_commands()?;
        let profile = keeping_from(entry.plan.profile.clone(), &kept);
        let weak = agent.downgrade();
        let (listening, way) = if profile.events() {
            let weak = weak.clone();
            Listening::start(move || weak.upgrade())?
        } else {
            Listening::nowhere()
        };
        let (input, output) = input()?;
        let going = entry.plan.sandbox.stand_up(&profile, &entry.plan.command, way, input, hears(&entry))?;
        let cause = starting.cause.clone();
        agent.tell_sandbox(going.facts().clone(), cause.clone())?;
        let standing = agent.standing(&action)?;
        let (tell, told) = channel();
        let mut taken = false;
        let begins = |process: &Arc<Process>| {
            entry.begins(process, output, tell.clone());
            registry.take(process, &entry);
            taken = true;
        };
        let is_first = starting.again.is_none();
        let begun = agent.begin_process(starting, begins);
        let process = match begun {
            Ok(process) => process,
            Err(why) => {
                if taken {
                    forgotten(&registry, &entry, is_first);
                }
                return Err(why.into());
            }
        };
        // The rules may have changed since the decision. Then the process is reviewed again.
        let is_same = registry.generation() == generation;
        let standing = if is_same { standing } else { Standing::default() };
        if !is_same {
            entry.tell(Word::Review);
        }
        let begun = Begun { agent: weak, entry, process, going, listening, cause, kept, action, standing, tell, told };
        match begun.going.go() {
            Ok(()) => Ok(begun),
            Err(why) => {
                let entry = Arc::clone(&begun.entry);
                entry.tell(Word::End(Duration::ZERO));
                begun.live();
                if is_first {
                    forgotten(&registry, &entry, true);
                }
                Err(why.into())
            }
        }
    }
}

/// Undoes a failed start. A process that existed before keeps its earlier exit.
fn forgotten(registry: &Registry, entry: &Arc<Entry>, is_first: bool) {
    entry.ends(entry.exit().unwrap_or(KILLED));
    if let Some(process) = entry.process().filter(|_| is_first) {
        registry.let_go(process.id, entry);
    }
}

/// Creates the input pipe: the end for the process, and our end, which never blocks.
fn input() -> Result<(OwnedFd, io::PipeWriter), SandboxError> {
    let (theirs, ours): (PipeReader, _) = io::pipe()?;
    fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    Ok((theirs.into(), ours))
}

fn hears(entry: &Arc<Entry>) -> [Heard; 2] {
    [OutputStream::Stdout, OutputStream::Stderr].map(|stream| {
        let entry = Arc::clone(entry);
        Box::new(move |piece: &[u8]| entry.wrote(stream, piece)) as Heard
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a child may take is real time, whatever the engine's clock says"
)]
fn now() -> Instant {
    Instant::now()
}

/// A running process, on its thread.
struct Begun {
    agent: WeakAgent,
    entry: Arc<Entry>,
    process: Arc<Process>,
    going: Going,
    listening: Listening,
    cause: Option<Arc<Cause>>,
    /// The paths and globs that were kept from the agent's commands when the process was confined.
    kept: SandboxDenials,
    action: Action,
    /// The evaluation of the action when the process was started.
    standing: Standing,
    tell: Sender<Word>,
    told: Receiver<Word>,
}

impl Begun {
    fn live(self) {
        let tell = self.tell.clone();
        let ended = self.going.when_ended(move || {
            // A supervisor that no longer receives is done.
            let _ = tell.send(Word::Ended);
        });
        // The process cannot continue without a thread that waits for its end.
        let Ok(ended) = ended else { return self.entry.ends(KILLED) };
        let was_told = self.until_the_end();
        self.finish(ended, was_told);
    }

    /// Waits for the end of the process. Returns true if it was told to end.
    fn until_the_end(&self) -> bool {
        let mut kill_at: Option<Instant> = None;
        loop {
            let word = match kill_at {
                None => self.told.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => self.told.recv_timeout(at.saturating_duration_since(now())),
            };
            match word {
                Ok(Word::Ended) => return kill_at.is_some(),
                Ok(Word::Review) => {
                    if kill_at.is_none() {
                        self.review();
                    }
                }
                Ok(Word::End(grace)) if grace.is_zero() => return true,
                Ok(Word::End(grace)) => {
                    self.going.terminate();
                    let at = now().checked_add(grace);
                    kill_at = kill_at.into_iter().chain(at).min();
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return true,
            }
        }
    }

    /// Ends the process if a change after its start denies it.
    fn review(&self) {
        let Some(agent) = self.agent.upgrade() else { return };
        let Some(why) = self.denied(&agent) else { return };
        // If the denial cannot be recorded any more, the process ends all the same.
        if agent.deny_process(self.process.id, why).is_err() {
            let _ = self.tell.send(Word::End(Duration::ZERO));
        }
    }

    fn denied(&self, agent: &Agent) -> Option<Arc<str>> {
        let (Ok(now), Ok(kept)) = (agent.standing(&self.action), agent.kept_from_commands()) else {
            return Some("the engine cannot decide any more if the process may continue".into());
        };
        let roots: Vec<_> = self.entry.plan.profile.write_roots().cloned().collect();
        let more = kept.is_more_than(&self.kept, &roots);
        now.newly_denied(&self.standing)
            .or_else(|| more.then(|| "commands are now more restricted than when the process started".into()))
    }

    fn finish(self, ended: JoinHandle<()>, was_told: bool) {
        let Begun { agent, entry, process, going, listening, cause, .. } = self;
        let said = || entry.last_words(LAST_WORDS);
        let gone = going.finish(ended, was_told, &said);
        drop(listening);
        let gone = gone.unwrap_or(Gone { exit: KILLED, violations: Vec::new() });
        if let Some(agent) = agent.upgrade() {
            // If the engine is closed, the next engine records the exit.
            let _ = agent.tell_violations(gone.violations, cause.as_ref());
            let _ = agent.tell_exit(process.id, gone.exit);
        }
        entry.ends(gone.exit);
    }
}
