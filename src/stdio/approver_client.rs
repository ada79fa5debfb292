//! The client of a person who decides: it carries out the person's messages.

use crate::{
    engine::{Approver, Engine, Error},
    kernel::Refusal,
    model::{Action, ActionFacts, AgentId, Answer, Request, RequestId, Scope, ToolPolicy},
};

use super::{
    denials::Denials,
    error_mapping::NotDone,
    message::{
        ActionEnabled, Answered, Decision, DeclareTools, EnableAction, EndRun, EnterRun, ErrorCode, Fault,
        FromConnector, ListPolicies, ModifiedInput, PermissionDecision, PoliciesOfRun, RevokePermission, RevokeResult,
        RunChanged, ToConnector, ToolGuard, ToolsDeclared, UpdatePolicy,
    },
    render,
    session::{answered, now},
};

/// The client of one person, over any transport. It carries out the messages of the person, and remembers which
/// permissions the person denied for a run.
#[derive(Debug)]
pub struct ApproverClient {
    engine: Engine,
    approver: Approver,
    denials: Denials,
}

impl ApproverClient {
    /// Creates the client of `approver`.
    pub fn new(engine: &Engine, approver: Approver) -> ApproverClient {
        ApproverClient { engine: engine.clone(), approver, denials: Denials::default() }
    }

    /// Carries out a message: a decision, or a change of policies, runs, tools or grants. Returns the direct reply, if
    /// the message has one.
    ///
    /// # Authority
    ///
    /// The message has the authority of the person.
    ///
    /// # Errors
    ///
    /// A fault if the message was not carried out. Then nothing has changed. `hello`, `bye` and `message` are part of a
    /// conversation and no order, which is a fault with the code `UNKNOWN_TYPE`.
    pub async fn carry_out(&mut self, order: FromConnector) -> Result<Option<ToConnector>, Fault> {
        let request_id = order.request_id().map(str::to_owned);
        let done = self.done(order).await;
        done.map_err(|NotDone { code, message }| Fault { code, message, request_id, ts: now(&self.engine) })
    }

    /// Denies a request if the person denied each of its permissions for the run, while this client lives. Returns true
    /// if it did. The engine itself remembers denials of actions.
    pub async fn denied_before(&self, request: &Request) -> bool {
        if !self.denials.answer(request) {
            return false;
        }
        // If another approver answered earlier, there is nothing left to ask.
        let answered = self.approver.answer(request.id, Answer::deny()).await;
        matches!(answered, Ok(()) | Err(Error::Refused(Refusal::AlreadyResolved(_))))
    }

    pub(super) async fn done(&mut self, order: FromConnector) -> Result<Option<ToConnector>, NotDone> {
        match order {
            FromConnector::PermissionDecision(decision) => self.decide(decision).await.map(|()| None),
            FromConnector::RevokePermission(revoke) => self.revoke(revoke).await.map(Some),
            FromConnector::AgreeToWidening(agree) => {
                self.approver.agree_to_widening(agree.change).await?;
                Ok(None)
            }
            FromConnector::UpdatePolicy(update) => self.update_policy(&update).await.map(|()| None),
            FromConnector::ListPolicies(wanted) => self.policies(wanted).map(Some),
            FromConnector::EnableAction(wanted) => self.enable(wanted).await.map(Some),
            FromConnector::DeclareTools(wanted) => self.declare(wanted).await.map(Some),
            FromConnector::BeginRun(wanted) => self.begin_run(wanted).await.map(Some),
            FromConnector::JoinRun(wanted) => self.join_run(wanted).await.map(Some),
            FromConnector::EndRun(wanted) => self.end_run(wanted).await.map(Some),
            FromConnector::Hello(_) | FromConnector::Bye(_) | FromConnector::Message(_) => {
                Err(NotDone::new(ErrorCode::UnknownType, "this message belongs to a conversation and is no order"))
            }
        }
    }

    async fn decide(&mut self, decision: PermissionDecision) -> Result<(), NotDone> {
        let (approver, run) = (&self.approver, decision.run_id.as_ref());
        let named = decision.permission_request_id.as_str();
        let id = match named.parse::<RequestId>() {
            Ok(id) => id,
            Err(_) => approver.request_with_code(named).map_err(|why| NotDone::about_request(named, run, &why))?,
        };
        let waiting = approver.waiting(id)?.map(|pending| pending.request);
        if let (Some(run), Some(request)) = (run, &waiting)
            && *run != request.run
        {
            return Err(NotDone::no_request(named, Some(run)));
        }
        let about_action = waiting.as_ref().is_some_and(|request| request.action.is_some());
        let (kind, answer) = (decision.decision, answer(&decision)?);
        let for_run = about_action && kind == Decision::DenySession;
        let answer = if for_run { answer.scope(Scope::Session) } else { answer };
        let facts = waiting.as_ref().and_then(|request| request.action.as_deref());
        let answer = match decision.modified_input {
            // Without a request that waits there is nothing to change, and the engine says what is missing.
            Some(input) if waiting.is_some() => answer.instead(instead(kind, input, facts)?),
            Some(_) | None => answer,
        };
        approver.answer(id, answer).await.map_err(|why| NotDone::about_request(named, run, &why))?;
        if let (Decision::DenySession, Some(request)) = (kind, waiting)
            && !request.asks_about_action()
        {
            self.denials.remember(&request);
        }
        Ok(())
    }

    async fn update_policy(&self, update: &UpdatePolicy) -> Result<(), NotDone> {
        Ok(self.approver.update_policy(&update.run_id, update.patch()).await?)
    }

    fn policies(&self, wanted: ListPolicies) -> Result<ToConnector, NotDone> {
        let ListPolicies { run_id, tool, request_id } = wanted;
        let guards = match tool {
            Some(tool) => vec![self.approver.policies(&run_id, &tool)?],
            None => self.approver.guards(&run_id)?,
        };
        let guards = guards.into_iter().map(tool_guard).collect();
        Ok(ToConnector::Policies(self.answered(PoliciesOfRun { run_id, guards }, request_id)))
    }

    async fn enable(&self, wanted: EnableAction) -> Result<ToConnector, NotDone> {
        let (agent_id, reason, request_id) =
            (wanted.agent_id.clone(), wanted.reason.clone(), wanted.request_id.clone());
        let action = wanted.action.action().map_err(|why| NotDone::new(ErrorCode::ValidationError, why))?;
        let ruling_id = self.approver.enable(&agent_id, &action, reason).await?;
        Ok(ToConnector::ActionEnabled(self.answered(ActionEnabled { agent_id, ruling_id }, request_id)))
    }

    async fn declare(&self, wanted: DeclareTools) -> Result<ToConnector, NotDone> {
        let DeclareTools { tools, request_id } = wanted;
        let names = tools.iter().map(|tool| tool.name().clone()).collect();
        self.approver.declare(tools).await?;
        Ok(ToConnector::ToolsDeclared(self.answered(ToolsDeclared { tools: names }, request_id)))
    }

    async fn begin_run(&self, EnterRun { agent_id, run_id, request_id }: EnterRun) -> Result<ToConnector, NotDone> {
        self.approver.begin_run(&agent_id, run_id).await?;
        self.run_changed(agent_id, request_id)
    }

    async fn join_run(&self, EnterRun { agent_id, run_id, request_id }: EnterRun) -> Result<ToConnector, NotDone> {
        self.approver.join_run(&agent_id, &run_id).await?;
        self.run_changed(agent_id, request_id)
    }

    async fn end_run(&self, EndRun { agent_id, request_id }: EndRun) -> Result<ToConnector, NotDone> {
        self.approver.end_run(&agent_id).await?;
        self.run_changed(agent_id, request_id)
    }

    fn run_changed(&self, agent_id: AgentId, request_id: Option<String>) -> Result<ToConnector, NotDone> {
        let run_id = self.engine.run_of(&agent_id)?;
        Ok(ToConnector::RunChanged(self.answered(RunChanged { agent_id, run_id }, request_id)))
    }

    async fn revoke(&self, revoke: RevokePermission) -> Result<ToConnector, NotDone> {
        let RevokePermission { grant_id, reason, request_id } = revoke;
        self.approver.revoke(grant_id, reason).await?;
        Ok(ToConnector::RevokeResult(self.answered(RevokeResult { grant_id }, request_id)))
    }

    fn answered<T>(&self, answer: T, request_id: Option<String>) -> Answered<T> {
        answered(&self.engine, answer, request_id)
    }
}

fn tool_guard(ToolPolicy { tool, names, policies: rules }: ToolPolicy) -> ToolGuard {
    ToolGuard { tool, policies: render::names(&names), rules }
}

/// Builds the action that may happen instead of the requested one, with the tool of the requested action.
fn instead(kind: Decision, input: ModifiedInput, asked: Option<&ActionFacts>) -> Result<Action, NotDone> {
    let invalid = |message: &str| Err(NotDone::new(ErrorCode::ValidationError, message));
    if matches!(kind, Decision::Deny | Decision::DenySession) {
        return invalid("`modifiedInput` goes with an `allow`");
    }
    match (input, asked) {
        (_, None) => invalid("`modifiedInput` goes with a question about an action"),
        (ModifiedInput::Resource(resource), Some(asked)) => Ok(Action::new(asked.operation, &resource)),
        (ModifiedInput::Tool(input), Some(asked)) => Ok(Action::tool(asked.tool.clone(), input.into())),
    }
}

/// Translates a user's decision into the engine's answer.
fn answer(decision: &PermissionDecision) -> Result<Answer, NotDone> {
    let invalid = |message: &str| Err(NotDone::new(ErrorCode::ValidationError, message));
    let scope = match (decision.decision, decision.scope) {
        (Decision::Allow, scope) => Some(scope.unwrap_or(Scope::Once)),
        (Decision::AllowOnce, None) => Some(Scope::Once),
        (Decision::AllowSession, None) => Some(Scope::Session),
        (Decision::AllowAlways, None) => Some(Scope::Always),
        (Decision::Deny | Decision::DenySession, None) => None,
        (_, Some(_)) => return invalid("`scope` goes with the decision `allow`"),
    };
    let yes = |scope| {
        let answer = decision.permissions.clone().map_or_else(Answer::allow, Answer::allow_only);
        answer.scope(scope)
    };
    let answer = match scope {
        Some(scope) => yes(scope),
        None if decision.permissions.is_some() => {
            return invalid("`permissions` goes with an `allow`: what is not among them is denied");
        }
        None => Answer::deny(),
    };
    Ok(if let Some(feedback) = decision.feedback.clone() { answer.feedback(feedback) } else { answer })
}
