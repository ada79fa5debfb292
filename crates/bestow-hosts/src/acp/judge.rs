//! The answer of the engine to one request for permission.

use std::time::Duration;

use bestow::{command::Shell, text::Escaped};
use tokio::time::timeout;

use super::{
    call::{self, Meant},
    calls::Known,
    options::{Otherwise, WrapOptions},
    permission::{Asked, Choice, Subject},
    sessions::Found,
};
use crate::{Answer, Call, Caller, Failure, Sessions, Subagent, Unanswered};

/// The time by which the engine may answer later than it was asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most characters of a subject in a remark.
const LONGEST_SUBJECT: usize = 80;

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
    pub(super) known: Known,
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
        if !call.is_whole {
            return self.verdict_in_part(engine, &call.call, options.unanswered).await;
        }
        let call = call.call;
        let allowing = self.asked.allowing(options.allow_always);
        // An approval is of no use if no option stands for it.
        let hold = if allowing.is_some() { options.hold } else { Duration::ZERO };
        let otherwise = options.unanswered;
        match held(engine, &call, hold, otherwise).await {
            Ok(Answer::Allowed { reason, .. }) => match (allowing, otherwise) {
                (Some(choice), _) => Verdict::Allow(choice, reason),
                (None, Otherwise::Editor) => Verdict::ToEditor,
                (None, Otherwise::Deny) => self.refused(
                    "not exactly one option of the agent allows it once, so only a person at the editor can choose"
                        .into(),
                ),
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

    /// Asks the engine about the paths and the short texts of a call that is too large. It may refuse, and allows
    /// nothing.
    async fn verdict_in_part(&self, engine: &dyn Sessions, call: &Call, otherwise: Otherwise) -> Verdict {
        match held(engine, call, Duration::ZERO, Otherwise::Editor).await {
            Ok(Answer::Denied { reason }) => self.refused(reason),
            Err(why) => self.refused(why.to_string()),
            Ok(Answer::Allowed { .. } | Answer::Changed { .. } | Answer::Waits { .. }) => match otherwise {
                Otherwise::Editor => Verdict::ToEditor,
                Otherwise::Deny => self.refused("the call is too large to be judged: make it smaller".to_owned()),
            },
        }
    }

    /// Returns the request, for people.
    pub(super) fn subject(&self) -> String {
        let session = Escaped(&self.asked.session).to_string();
        let named = match &self.asked.subject {
            Subject::Call(call) => {
                let call = match &self.known {
                    Known::Told(known) => known.clone().updated((**call).clone()),
                    Known::Nothing | Known::Unclear => (**call).clone(),
                };
                call.title.clone().or_else(|| call.tool_name().map(str::to_owned))
            }
            Subject::Command { command, .. } => Some(command.clone()),
            Subject::Unknown(kind) => Some(kind.clone()),
        };
        let named: String = named.unwrap_or_default().chars().take(LONGEST_SUBJECT).collect();
        format!("`{}` in the session {session}", Escaped(&named))
    }

    fn refused(&self, reason: String) -> Verdict {
        Verdict::Refuse(self.asked.refusing(), reason)
    }

    /// Withdraws the question, if it waits.
    pub(super) async fn withdraw(&self, engine: &dyn Sessions) {
        if let Ok(call) = self.call() {
            // Without an answer, the question ends with its session.
            let _ = held(engine, &call.call, Duration::ZERO, Otherwise::Editor).await;
        }
    }

    fn call(&self) -> Result<Prepared, String> {
        let found = self.found.as_ref().ok_or(
            "the directory of this session is not known: the editor did not begin it, or not with an absolute path",
        )?;
        let Meant { tool, input, is_whole } = self.meant(found)?;
        let session = found.root.parse().map_err(|why| format!("the session: {why}"))?;
        let subagent = found.is_subagent.then(|| self.asked.session.parse()).transpose();
        let subagent = subagent.map_err(|why| format!("the session of the subagent: {why}"))?;
        let subagent = subagent.map(|id| Subagent { id, kind: None });
        let working_dir = match &self.asked.subject {
            Subject::Command { cwd, .. } => found.cwd.join(cwd),
            Subject::Call(_) | Subject::Unknown(_) => found.cwd.clone(),
        };
        let caller = Caller { session, subagent, working_dir, shell: Shell::Unknown };
        let (wait, unanswered) = (Duration::ZERO, Unanswered::Leave);
        let call = Call { caller, coding_agent: None, tool, input, wait, unanswered, can_replace_input: false };
        Ok(Prepared { call, is_whole })
    }

    fn meant(&self, found: &Found) -> Result<Meant, String> {
        let unknown = || "the subject of the request is of an unknown type".to_owned();
        call::meant(&self.asked.subject, self.known.clone(), &found.cwd).ok_or_else(unknown)
    }
}

/// A call as the engine gets it.
struct Prepared {
    call: Call,
    /// False if the engine gets a part only.
    is_whole: bool,
}

fn of(call: &Call, wait: Duration, unanswered: Unanswered) -> Call {
    Call { wait, unanswered, ..call.clone() }
}

/// Asks the engine, and waits for a person who is there. A question that the editor is to answer instead is withdrawn,
/// also if this process is killed meanwhile.
async fn held(engine: &dyn Sessions, call: &Call, hold: Duration, otherwise: Otherwise) -> Result<Answer, Failure> {
    let unanswered = match otherwise {
        Otherwise::Editor => Unanswered::Withdraw,
        Otherwise::Deny => Unanswered::Leave,
    };
    let late = |_| Failure::Server("the engine does not answer in time".to_owned());
    timeout(hold.saturating_add(PATIENCE), engine.call(of(call, hold, unanswered))).await.map_err(late)?
}
