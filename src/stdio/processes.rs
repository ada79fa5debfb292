//! Long-running processes for a bot whose host allows them.

use crate::{
    engine::process_order::{ProcessOrder, Processed, Unprocessed},
    model::{OutputStream, ProcessId, Verdict},
};

use super::{
    agent::AgentPart,
    error_mapping::NotDone,
    message::{
        ErrorCode, ListedProcess, ProcessListResult, ProcessOutput, ProcessStarted, ProcessStopping, ProcessWritten,
        ToAgent,
    },
};

const NOT_LET: &str = "the host runs no processes for this bot";

impl From<Unprocessed> for NotDone {
    fn from(why: Unprocessed) -> NotDone {
        match why {
            Unprocessed::Engine(why) => why.into(),
            Unprocessed::Other(why) => NotDone::new(ErrorCode::Refused, why),
        }
    }
}

/// Returns the process that an order names, and the output stream that it reads.
fn about(order: &ProcessOrder) -> (Option<ProcessId>, OutputStream) {
    match order {
        ProcessOrder::Start { .. } | ProcessOrder::List => (None, OutputStream::Stdout),
        ProcessOrder::Read { process, stream, .. } => (Some(*process), *stream),
        ProcessOrder::Write { process, .. }
        | ProcessOrder::Stop { process, .. }
        | ProcessOrder::Restart { process } => (Some(*process), OutputStream::Stdout),
    }
}

impl AgentPart {
    /// Carries out an order. If the action needs approval by a person, it is requested as `authorize` does.
    pub(super) async fn process(
        &mut self,
        order: Result<ProcessOrder, &'static str>,
        request_id: Option<String>,
    ) -> Result<ToAgent, NotDone> {
        let order = order.map_err(|why| NotDone::new(ErrorCode::ValidationError, why))?;
        let runner = self.runner.clone().ok_or_else(|| NotDone::new(ErrorCode::Refused, NOT_LET))?;
        if let Some(action) = runner.action(&self.agent, &order).await?
            && self.agent.verdict(&action)? == Verdict::Ask
        {
            return self.authorize_action(action, request_id).await;
        }
        let (process, stream) = about(&order);
        let done = runner.carry_out(&self.agent, order).await?;
        let none = || NotDone::new(ErrorCode::InternalError, "the process is unknown");
        Ok(match done {
            Processed::Started(process_id) => {
                ToAgent::ProcessStarted(self.answered(ProcessStarted { process_id }, request_id))
            }
            Processed::List(all) => {
                let listed = all.into_iter().map(|(process, exit)| ListedProcess {
                    process_id: process.id,
                    agent_id: process.agent.clone(),
                    command: process.command.to_string(),
                    since: process.since,
                    restarts: process.restarts,
                    exit,
                });
                let listed = ProcessListResult { processes: listed.collect() };
                ToAgent::ProcessListResult(self.answered(listed, request_id))
            }
            Processed::Output { from, bytes, dropped, next, is_end } => {
                let (text, base64, next) = ProcessOutput::told(bytes, next, is_end);
                let process_id = process.ok_or_else(none)?;
                let end = is_end;
                let output = ProcessOutput { process_id, stream, from, next, dropped, text, base64, end };
                ToAgent::ProcessOutput(self.answered(output, request_id))
            }
            Processed::Written(written) => {
                let (process_id, written) = (process.ok_or_else(none)?, u64::try_from(written).unwrap_or(u64::MAX));
                ToAgent::ProcessWritten(self.answered(ProcessWritten { process_id, written }, request_id))
            }
            Processed::Stopping => {
                let process_id = process.ok_or_else(none)?;
                ToAgent::ProcessStopping(self.answered(ProcessStopping { process_id }, request_id))
            }
        })
    }
}
