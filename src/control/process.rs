//! Long-running processes, as a user of the command line manages them.

use serde::{Deserialize, Serialize};

use crate::model::{AgentId, OutputStream, Permission, ProcessId, Reason};

/// An operation on processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ProcessCall {
    /// Starts a process as an agent.
    Start {
        /// The agent.
        agent: AgentId,
        /// The program and its arguments.
        command: Vec<String>,
        /// Permissions that the process needs in addition to the agent's working directory.
        #[serde(default)]
        named: Vec<Permission>,
    },
    /// Lists the running processes of all agents, or of one.
    List {
        /// The agent.
        #[serde(default)]
        agent: Option<AgentId>,
    },
    /// Shows the output of a process.
    Read {
        /// The process.
        process: ProcessId,
        /// The output stream.
        stream: OutputStream,
        /// The first byte to show.
        #[serde(default)]
        from: u64,
    },
    /// Writes to the input of a process.
    Write {
        /// The process.
        process: ProcessId,
        /// The text.
        text: String,
        /// Closes the input after the text.
        #[serde(default)]
        close: bool,
    },
    /// Stops a process.
    Stop {
        /// The process.
        process: ProcessId,
        /// The time in milliseconds that it has to end by itself.
        grace_ms: u64,
        /// The reason.
        #[serde(default)]
        reason: Option<Reason>,
    },
    /// Restarts a process.
    Restart {
        /// The process.
        process: ProcessId,
    },
}

impl ProcessCall {
    /// Returns true if the operation changes something.
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
) -> Result<Vec<super::Line>, super::reply::NotDone> {
    Err(super::reply::NotDone::Refused(
        "this engine was built without the feature `sandbox`, so it runs no processes".to_owned(),
    ))
}

#[cfg(feature = "sandbox")]
pub(super) use ordered::carry_out;

#[cfg(feature = "sandbox")]
mod ordered {
    use std::{sync::Arc, time::Duration};

    use serde_json::json;

    use super::{
        super::reply::{Line, NotDone},
        ProcessCall,
    };
    use crate::{
        engine::process_order::{ProcessOrder, Processed, Unprocessed},
        engine::{Agent, Engine, Error},
        kernel::Refusal,
        model::{Actor, ApproverId, Escaped, Means, Process, ProcessId},
        process,
    };

    /// The maximum number of output bytes that are shown at once.
    const MOST: usize = 1 << 20;

    impl From<Unprocessed> for NotDone {
        fn from(why: Unprocessed) -> NotDone {
            match why {
                Unprocessed::Engine(why) => NotDone::Engine(why),
                Unprocessed::Other(why) => NotDone::Refused(why),
            }
        }
    }

    /// Carries out an order typed by a person. The person approves it once by typing it, as with `exec`. A rule that
    /// denies it stays in force. A refused order leaves no approval behind that the agent could use.
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
        let person = engine.approver(&agent.profile()?.owner, by.clone(), means.clone());
        let yes = person.enable(agent.id(), &action, reason("typed on the command line")?).await?;
        let done = process::carry_out_for(engine, agent, order, Actor::Person { by: by.clone(), means }).await;
        if done.is_err() {
            // If the approval was used, it no longer exists.
            match person.revoke_ruling(yes, Some(reason("the typed command did not run")?)).await {
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

    /// Returns the agent to which the process belongs.
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
                return Ok(vec![Line::new(format!("{process} was asked to end"), json!({ "stopping": process }))]);
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
            Processed::Started(process) => Line::new(format!("{process} is running"), json!({ "started": process })),
            Processed::List(all) => Line::new(format!("{} processes", all.len()), json!({ "processes": all.len() })),
            Processed::Output { from, bytes, dropped, next, is_end } => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let json =
                    json!({ "from": from, "next": next, "dropped": dropped, "text": text.clone(), "end": is_end });
                let lines = text.lines().map(|line| Escaped(line).to_string());
                let gap = (dropped > 0).then(|| format!("[{dropped} earlier bytes were discarded]"));
                Line::new(gap.into_iter().chain(lines).collect::<Vec<_>>().join("\n"), json)
            }
            Processed::Written(written) => Line::new(format!("{written} bytes"), json!({ "written": written })),
            Processed::Stopping => Line::new("it was asked to end", json!({ "stopping": true })),
        }
    }
}
