//! The answer of the engine to one request for permission.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    call::{self, Meant},
    options::{Otherwise, WrapOptions},
    permission::{Asked, Choice, Subject},
    sessions::Found,
    tool_call::ToolCall,
};
use crate::{Answer, Call, Caller, Failure, Sessions, Subagent, Unanswered};

/// The longest time that one question to the engine waits. Servers allow no longer one.
const SLICE: Duration = Duration::from_secs(8);

/// The reason of an answer to a request of a cancelled turn.
pub(super) const CANCELLED: &str = "the turn was cancelled";

/// The fate of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The agent gets this answer, with the reason.
    Allow(Choice, String),
    Refuse(Choice, String),
    /// The editor answers it.
    ToEditor,
}

/// A request, and what is known about it.
pub(super) struct Case {
    pub(super) asked: Asked,
    pub(super) found: Option<Found>,
    pub(super) known: Option<ToolCall>,
}

impl Case {
    /// Asks the engine. Every doubt refuses.
    pub(super) async fn verdict(&self, engine: &dyn Sessions, options: &WrapOptions) -> Verdict {
        if self.found.as_ref().is_some_and(|found| found.is_cancelled) {
            return Verdict::Refuse(Choice::Cancelled, CANCELLED.to_owned());
        }
        let call = match self.call() {
            Ok(call) => call,
            Err(why) => return self.refused(why),
        };
        // An approval is of no use if no option stands for it.
        let hold = if self.asked.allowing().is_some() { options.hold } else { Duration::ZERO };
        let otherwise = options.unanswered;
        match held(engine, &call, hold, otherwise).await {
            Ok(Answer::Allowed { reason }) => match (self.asked.allowing(), otherwise) {
                (Some(choice), _) => Verdict::Allow(choice, reason),
                (None, Otherwise::Editor) => Verdict::ToEditor,
                (None, Otherwise::Deny) => {
                    self.refused("the agent does not offer one option that allows it once".into())
                }
            },
            Ok(Answer::Denied { reason }) => self.refused(reason),
            Ok(Answer::Changed { input, reason }) => self.refused(format!("{reason}; the approved input: {input}")),
            Ok(Answer::Waits { .. }) if otherwise == Otherwise::Editor => Verdict::ToEditor,
            Ok(Answer::Waits { code, reason, .. }) => {
                self.refused(format!("request {code} waits for a person: try again after the decision; {reason}"))
            }
            Err(why) => self.refused(why.to_string()),
        }
    }

    fn refused(&self, reason: String) -> Verdict {
        Verdict::Refuse(self.asked.refusing(), reason)
    }

    /// Withdraws the question, if it waits.
    pub(super) async fn withdraw(&self, engine: &dyn Sessions) {
        if let Ok(call) = self.call() {
            // Without an answer, the question ends with its session.
            let _ = engine.call(of(&call, Duration::ZERO, Unanswered::Withdraw)).await;
        }
    }

    fn call(&self) -> Result<Call, String> {
        let found = self.found.as_ref().ok_or("no editor began this session, so its directory is not known")?;
        let (tool, input) = self.meant(found)?;
        let session = found.root.parse().map_err(|why| format!("the session: {why}"))?;
        let subagent = found.is_subagent.then(|| self.asked.session.parse()).transpose();
        let subagent = subagent.map_err(|why| format!("the session of the subagent: {why}"))?;
        let subagent = subagent.map(|id| Subagent { id, kind: None });
        let working_dir = match &self.asked.subject {
            Subject::Command { cwd, .. } => found.cwd.join(cwd),
            Subject::Call(_) | Subject::Unknown(_) => found.cwd.clone(),
        };
        let caller = Caller { session, subagent, working_dir };
        let (wait, unanswered) = (Duration::ZERO, Unanswered::Leave);
        Ok(Call { caller, tool, input, wait, unanswered, can_replace_input: false })
    }

    fn meant(&self, found: &Found) -> Result<Meant, String> {
        let unknown = || "the subject of the request is of an unknown type".to_owned();
        call::meant(&self.asked.subject, self.known.clone(), &found.cwd).ok_or_else(unknown)
    }
}

fn of(call: &Call, wait: Duration, unanswered: Unanswered) -> Call {
    Call { wait, unanswered, ..call.clone() }
}

/// Asks the engine until it decides, as long as a person is there and the time lasts. A question that the editor is to
/// answer instead is withdrawn.
async fn held(engine: &dyn Sessions, call: &Call, hold: Duration, otherwise: Otherwise) -> Result<Answer, Failure> {
    let end = Instant::now() + hold;
    loop {
        let (began, left) = (Instant::now(), end.saturating_duration_since(Instant::now()));
        let wait = left.min(SLICE);
        let answer = engine.call(of(call, wait, Unanswered::Leave)).await?;
        let Answer::Waits { .. } = answer else { return Ok(answer) };
        // An answer before that time says that nobody is there.
        let is_attended = !wait.is_zero() && began.elapsed() >= wait;
        if is_attended && wait < left {
            continue;
        }
        return match otherwise {
            Otherwise::Editor => engine.call(of(call, Duration::ZERO, Unanswered::Withdraw)).await,
            Otherwise::Deny => Ok(answer),
        };
    }
}
