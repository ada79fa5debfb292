//! Processes that go on, as somebody orders them who uses the command line.

use serde::{Deserialize, Serialize};

use crate::model::{AgentId, OutputStream, Permission, ProcessId, Reason};

/// What a person orders of processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ProcessCall {
    /// Start one, as an agent.
    Start {
        /// As whom.
        agent: AgentId,
        /// The program and its words.
        command: Vec<String>,
        /// What it needs besides its agent's working directory.
        #[serde(default)]
        named: Vec<Permission>,
    },
    /// Show those that go on: everybody's, or one agent's.
    List {
        /// Whose.
        #[serde(default)]
        agent: Option<AgentId>,
    },
    /// Show what one wrote.
    Read {
        /// Which.
        process: ProcessId,
        /// Which output.
        stream: OutputStream,
        /// From which byte on.
        #[serde(default)]
        from: u64,
    },
    /// Write to its input.
    Write {
        /// Which.
        process: ProcessId,
        /// The words.
        text: String,
        /// Nothing follows.
        #[serde(default)]
        close: bool,
    },
    /// Stop one.
    Stop {
        /// Which.
        process: ProcessId,
        /// How long it may take to end by itself.
        grace_ms: u64,
        /// Why.
        #[serde(default)]
        reason: Option<Reason>,
    },
    /// Start one again.
    Restart {
        /// Which.
        process: ProcessId,
    },
}

impl ProcessCall {
    /// True for an order that does more than to show something.
    pub(super) fn changes(&self) -> bool {
        match self {
            ProcessCall::List { .. } | ProcessCall::Read { .. } => false,
            ProcessCall::Start { .. }
            | ProcessCall::Write { .. }
            | ProcessCall::Stop { .. }
            | ProcessCall::Restart { .. } => true,
        }
    }
}

#[cfg(not(feature = "sandbox"))]
pub(super) async fn carry_out(
    _engine: &crate::engine::Engine,
    _call: ProcessCall,
    _by: crate::model::ApproverId,
    _means: crate::model::Means,
) -> Result<Vec<super::Line>, super::order::NotDone> {
    Err(super::order::NotDone::Refused(
        "this engine was built without the feature `sandbox`, and runs nothing".to_owned(),
    ))
}

#[cfg(feature = "sandbox")]
pub(super) use ordered::carry_out;

#[cfg(feature = "sandbox")]
mod ordered {
    use std::{sync::Arc, time::Duration};

    use serde_json::json;

    use super::{
        super::order::{Line, NotDone},
        ProcessCall,
    };
    use crate::{
        edge::{
            process,
            process_order::{ProcessOrder, Processed, Unprocessed},
        },
        engine::{Agent, Engine, Error},
        kernel::Refusal,
        model::{Actor, ApproverId, Means, Process, ProcessId, Shown},
    };

    /// How much of what a process wrote is shown at once.
    const MOST: usize = 1 << 20;

    impl From<Unprocessed> for NotDone {
        fn from(why: Unprocessed) -> NotDone {
            match why {
                Unprocessed::Engine(why) => NotDone::Engine(why),
                Unprocessed::Other(why) => NotDone::Refused(why),
            }
        }
    }

    /// Carries out an order of whoever types it, who stands behind it, once, as with `exec`; what a rule denies stays denied.
    /// What is refused leaves nothing behind that the agent could use.
    async fn carry_out_typed(
        engine: &Engine,
        agent: &Agent,
        order: ProcessOrder,
        by: &ApproverId,
        means: Means,
    ) -> Result<Processed, NotDone> {
        let Some(action) = process::action(agent, &order).await? else {
            return Ok(process::carry_out_for(engine, agent, order, Actor::Person { by: by.clone(), means }).await?);
        };
        let reason = |text: &str| text.parse().map_err(|_| NotDone::Refused("no reason".to_owned()));
        let person = engine.approver(&agent.profile()?.owner.clone(), by.clone(), means.clone());
        let yes = person.enable(agent.id(), &action, reason("typed on the command line")?).await?;
        let done = process::carry_out_for(engine, agent, order, Actor::Person { by: by.clone(), means }).await;
        if done.is_err() {
            // It is used up if it was used.
            match person.revoke_ruling(yes, Some(reason("what was typed did not happen")?)).await {
                Ok(()) | Err(Error::Refused(_)) => {}
                Err(why) => return Err(why.into()),
            }
        }
        Ok(done?)
    }

    fn listed(process: &Arc<Process>) -> Line {
        let text = format!("{process}, since {}, run {}", process.since, process.run);
        Line::new(text, json!(**process))
    }

    /// Acts as whoever's the process is.
    fn agent_of(engine: &Engine, id: ProcessId) -> Result<Agent, NotDone> {
        let agent = process::whose(engine, id).ok_or(Refusal::UnknownProcess(id))?;
        Ok(engine.agent(&agent)?)
    }

    pub(in super::super) async fn carry_out(
        engine: &Engine,
        call: ProcessCall,
        by: ApproverId,
        means: Means,
    ) -> Result<Vec<Line>, NotDone> {
        let (agent, order) = match call {
            ProcessCall::List { agent } => {
                let all = engine.processes()?;
                let wanted = all.iter().filter(|process| agent.as_ref().is_none_or(|agent| process.agent == *agent));
                return Ok(wanted.map(listed).collect());
            }
            ProcessCall::Stop { process, grace_ms, reason } => {
                let by = Actor::Person { by, means };
                engine.stop_process_as(by, process, Duration::from_millis(grace_ms), reason).await?;
                return Ok(vec![Line::new(format!("{process} is told to end"), json!({ "stopping": process }))]);
            }
            ProcessCall::Start { agent, command, named } => {
                (engine.agent(&agent)?, ProcessOrder::Start { command, named })
            }
            ProcessCall::Read { process, stream, from } => {
                (agent_of(engine, process)?, ProcessOrder::Read { process, stream, from, most: MOST })
            }
            ProcessCall::Write { process, text, close } => {
                (agent_of(engine, process)?, ProcessOrder::Write { process, bytes: text.into_bytes(), close })
            }
            ProcessCall::Restart { process } => (agent_of(engine, process)?, ProcessOrder::Restart { process }),
        };
        Ok(vec![told(carry_out_typed(engine, &agent, order, &by, means).await?)])
    }

    fn told(done: Processed) -> Line {
        match done {
            Processed::Started(process) => Line::new(format!("{process} goes on"), json!({ "started": process })),
            Processed::List(all) => Line::new(format!("{} processes", all.len()), json!({ "processes": all.len() })),
            Processed::Output { from, bytes, dropped, next, is_end } => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let json =
                    json!({ "from": from, "next": next, "dropped": dropped, "text": text.clone(), "end": is_end });
                let lines = text.lines().map(|line| Shown(line).to_string());
                let gap = (dropped > 0).then(|| format!("[{dropped} bytes are no longer kept]"));
                Line::new(gap.into_iter().chain(lines).collect::<Vec<_>>().join("\n"), json)
            }
            Processed::Written(written) => Line::new(format!("{written} bytes"), json!({ "written": written })),
            Processed::Stopping => Line::new("it is told to end", json!({ "stopping": true })),
        }
    }
}
