//! The part of a bot that reaches the user of one foreground agent.

use std::sync::Arc;

use crate::{
    engine::{Approver, Connection, Engine, Error, NoEvent, Prompt, Subscription},
    kernel::Refusal,
    model::{
        Action, ActionFacts, AgentId, Answer, Escaped, Event, OwnerId, Permission, Request, RequestId, Resolution,
        RunId, Scope, ToolName, ToolPolicy,
    },
};

use super::{
    denials::Denials,
    error_mapping::NotDone,
    message::{
        ActionEnabled, Answered, Bye, ConnectorHello, Decision, DeclareTools, EnableAction, EndRun, EnterRun,
        ErrorCode, Fault, FromConnector, GuardForAll, GuardUpdated, ListPolicies, MessageToUser, ModifiedInput, Notice,
        NoticeKind, Operation, PROTOCOL, PermissionDecision, PermissionRequest, PermissionResolved, PoliciesOfRun,
        PolicyName, ReasonKind, RevokePermission, RevokeResult, Role, RunChanged, ToConnector, ToolGuard,
        ToolsDeclared, UpdatePolicy,
    },
    session::{Ended, Peer, Reply, answered, greeted, now},
};

pub(super) struct ConnectorPart {
    engine: Engine,
    agent: AgentId,
    owner: OwnerId,
    /// The person for whom this bot may decide, if it may.
    approver: Option<Approver>,
    connection: Connection,
    events: Subscription,
    /// The next item for the user. It is held back until all earlier events are reported.
    held: Option<Prompt>,
    denials: Denials,
}

/// Something that the user should see.
pub(super) enum News {
    Shown(Prompt),
    Config(NoticeKind, String, Option<u64>),
    /// A policy change: of one tool, or, without a tool, of every tool that the run will have.
    Guard(RunId, Option<ToolName>, Vec<PolicyName>),
}

impl ConnectorPart {
    pub(super) fn new(
        engine: Engine,
        owner: OwnerId,
        approver: Option<Approver>,
        connection: Connection,
    ) -> ConnectorPart {
        let (agent, events) = (connection.agent().clone(), engine.subscribe());
        ConnectorPart { engine, agent, owner, approver, connection, events, held: None, denials: Denials::default() }
    }

    fn approver(&self) -> Result<&Approver, NotDone> {
        let nobody = || NotDone::new(ErrorCode::Forbidden, "this bot only shows questions and may not answer them");
        self.approver.as_ref().ok_or_else(nobody)
    }

    async fn decide(&mut self, decision: PermissionDecision) -> Result<(), NotDone> {
        let approver = self.approver()?;
        let named = decision.permission_request_id.as_str();
        let id = match named.parse::<RequestId>() {
            Ok(id) => id,
            Err(_) => approver.request_with_code(named).map_err(|why| NotDone::about_request(named, &why))?,
        };
        let waiting = approver.pending()?.into_iter().find(|pending| pending.request.id == id);
        let waiting = waiting.map(|pending| pending.request);
        if let (Some(run), Some(request)) = (&decision.run_id, &waiting)
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
            None => answer,
            Some(input) => answer.instead(instead(kind, input, facts)?),
        };
        approver.answer(id, answer).await.map_err(|why| NotDone::about_request(named, &why))?;
        if let (Decision::DenySession, Some(request)) = (kind, waiting)
            && !request.asks_about_action()
        {
            self.denials.remember(&request);
        }
        Ok(())
    }

    async fn update_policy(&self, update: &UpdatePolicy) -> Result<(), NotDone> {
        Ok(self.approver()?.update_policy(&update.run_id, update.patch()).await?)
    }

    fn policies(&self, wanted: ListPolicies) -> Result<ToConnector, NotDone> {
        let ListPolicies { run_id, tool, request_id } = wanted;
        let approver = self.approver()?;
        let guards = match tool {
            Some(tool) => vec![approver.policies(&run_id, &tool)?],
            None => approver.guards(&run_id)?,
        };
        let guards = guards.into_iter().map(tool_guard).collect();
        Ok(ToConnector::Policies(self.answered(PoliciesOfRun { run_id, guards }, request_id)))
    }

    async fn enable(&self, wanted: EnableAction) -> Result<ToConnector, NotDone> {
        let approver = self.approver()?;
        let (agent_id, reason, request_id) =
            (wanted.agent_id.clone(), wanted.reason.clone(), wanted.request_id.clone());
        let action = wanted.action.action().map_err(|why| NotDone::new(ErrorCode::ValidationError, why))?;
        let ruling_id = approver.enable(&agent_id, &action, reason).await?;
        Ok(ToConnector::ActionEnabled(self.answered(ActionEnabled { agent_id, ruling_id }, request_id)))
    }

    async fn declare(&self, wanted: DeclareTools) -> Result<ToConnector, NotDone> {
        let DeclareTools { tools, request_id } = wanted;
        let names = tools.iter().map(|tool| tool.name().clone()).collect();
        self.approver()?.declare(tools).await?;
        Ok(ToConnector::ToolsDeclared(self.answered(ToolsDeclared { tools: names }, request_id)))
    }

    async fn begin_run(&self, EnterRun { agent_id, run_id, request_id }: EnterRun) -> Result<ToConnector, NotDone> {
        self.approver()?.begin_run(&agent_id, run_id).await?;
        self.run_changed(agent_id, request_id)
    }

    async fn join_run(&self, EnterRun { agent_id, run_id, request_id }: EnterRun) -> Result<ToConnector, NotDone> {
        self.approver()?.join_run(&agent_id, &run_id).await?;
        self.run_changed(agent_id, request_id)
    }

    async fn end_run(&self, EndRun { agent_id, request_id }: EndRun) -> Result<ToConnector, NotDone> {
        self.approver()?.end_run(&agent_id).await?;
        self.run_changed(agent_id, request_id)
    }

    fn run_changed(&self, agent_id: AgentId, request_id: Option<String>) -> Result<ToConnector, NotDone> {
        let run_id = self.engine.run_of(&agent_id)?;
        Ok(ToConnector::RunChanged(self.answered(RunChanged { agent_id, run_id }, request_id)))
    }

    fn answered<T>(&self, answer: T, request_id: Option<String>) -> Answered<T> {
        answered(&self.engine, answer, request_id)
    }

    /// Returns the news of a policy change in a run of this owner; `None` for other events.
    fn guard(&self, event: &Event) -> Option<News> {
        let told = |owner: &OwnerId, run: &RunId, tool: Option<&ToolName>, policies: &[Arc<str>]| {
            (*owner == self.owner).then(|| News::Guard(run.clone(), tool.cloned(), names(policies)))
        };
        if let Event::PolicyForAll { owner, run, policies, .. } = event {
            return told(owner, run, None, policies);
        }
        let Event::PolicyUpdated { owner, run, tool, policies, .. } = event else { return None };
        told(owner, run, Some(tool), policies)
    }

    async fn revoke(&self, revoke: RevokePermission) -> Result<ToConnector, NotDone> {
        let RevokePermission { grant_id, reason, request_id } = revoke;
        self.approver()?.revoke(grant_id, reason).await?;
        Ok(ToConnector::RevokeResult(self.answered(RevokeResult { grant_id }, request_id)))
    }

    async fn message(&self, text: &str) -> Result<(), NotDone> {
        self.engine.user_active(&self.agent).await?;
        Ok(self.engine.message(&self.agent, None, text).await?)
    }

    /// Denies the request automatically if the user does not want to be asked again. Returns true if it did.
    async fn denied_before(&self, request: &Request) -> bool {
        let Some(approver) = self.approver.as_ref().filter(|_| self.denials.answer(request)) else { return false };
        // If another approver answered earlier, there is nothing left to ask.
        let answered = approver.answer(request.id, Answer::deny()).await;
        matches!(answered, Ok(()) | Err(Error::Refused(Refusal::AlreadyResolved(_))))
    }

    /// Returns the part of a policy file change that concerns this user. Agents of other owners are not named.
    fn config(&self, event: &Event) -> Option<News> {
        if let Event::ConfigRejected { .. } = event {
            return Some(News::Config(NoticeKind::ConfigRejected, event.to_string(), None));
        }
        let Event::ConfigHeldBack { change, policy, would_gain, besides } = event else { return None };
        let own = |agent: &AgentId| policy.agents.get(agent).is_some_and(|told| told.profile.owner == self.owner);
        let gains = would_gain.iter().filter(|(agent, _)| own(agent));
        let gains = gains.map(|(agent, permission)| format!("{agent} {}", shown(&permission.to_string())));
        let besides = besides.iter().filter(|(agent, _)| agent.as_ref().is_none_or(own));
        let besides = besides.map(|(agent, sentence)| match agent {
            Some(agent) => format!("{agent}: {}", shown(sentence)),
            None => shown(sentence),
        });
        let all: Vec<_> = gains.chain(besides).collect();
        let text =
            format!("the policy file gives more than before; change {change} waits for the approval of a person: ");
        (!all.is_empty()).then(|| News::Config(NoticeKind::ConfigHeldBack, text + &all.join(", "), Some(*change)))
    }
}

fn names(policies: &[Arc<str>]) -> Vec<PolicyName> {
    policies.iter().map(|name| PolicyName { name: name.as_ref().to_owned() }).collect()
}

fn tool_guard(ToolPolicy { tool, names: policies, policies: rules }: ToolPolicy) -> ToolGuard {
    ToolGuard { tool, policies: names(&policies), rules }
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

/// Describes the actions that `allow-always` would allow; `None` if it is not on offer.
fn always(request: &Request) -> Option<String> {
    let action = request.action.as_ref().filter(|action| !action.cut && !request.only_lacks)?;
    action.shape.as_ref().map(|shape| shape.shown.to_string())
}

fn question(request: &Request) -> ToConnector {
    let (operation, resource) = match (&request.action, request.widest_first().first().copied()) {
        (Some(action), _) => (action.operation.into(), action.resource.as_ref().to_owned()),
        (None, first) => asked_first(first),
    };
    let overrides = request.action.as_ref().is_some_and(|action| action.overrides);
    ToConnector::RequestPermission(Box::new(PermissionRequest {
        run_id: request.run.clone(),
        request_id: request.id,
        code: request.code().to_string(),
        agent_id: request.from.clone(),
        agent_name: request.name.as_ref().map_or(request.from.as_str(), |name| name.as_str()).to_owned(),
        agent_kind: request.kind,
        tool_name: request.action.as_ref().map(|action| action.tool.clone()),
        operation,
        resource,
        details: request.details.as_ref().map(Into::into),
        tier: request.action.as_ref().map(|action| action.tier),
        always: always(request),
        once_only: request.is_once_only(),
        permissions: request.widest_first().into_iter().cloned().collect(),
        scope: request.scope,
        reason: if overrides { ReasonKind::PolicyDenyOverride } else { ReasonKind::PolicyAsk },
        reason_text: request.reason.clone(),
        prompt: request.to_string(),
        expires_at: request.deadline,
        ts: request.since,
    }))
}

/// Returns the operation and the resource of the first requested permission.
fn asked_first(first: Option<&Permission>) -> (Operation, String) {
    match first {
        Some(Permission::Path(crate::model::Access::Read, path)) => (Operation::Read, path.to_string()),
        Some(Permission::Path(crate::model::Access::Write, path)) => (Operation::Write, path.to_string()),
        Some(Permission::Tool(name)) => (Operation::Tool, name.to_string()),
        Some(Permission::Network) => (Operation::Network, Permission::Network.to_string()),
        // A request that is shown names at least one permission. This arm only occurs for `@events`.
        Some(Permission::Events) | None => (Operation::Events, Permission::Events.to_string()),
    }
}

fn settled(resolution: &Resolution) -> ToConnector {
    ToConnector::PermissionResolved(PermissionResolved {
        permission_request_id: resolution.request,
        code: resolution.request.code().to_string(),
        agent_id: resolution.from.clone(),
        outcome: resolution.outcome,
        granted: resolution.granted.clone(),
        refused: resolution.refused.clone(),
        scope: resolution.scope,
        text: resolution.to_string(),
        ts: resolution.at,
    })
}

impl Peer for ConnectorPart {
    type Heard = FromConnector;
    type Said = ToConnector;
    type News = News;

    fn greeting(&mut self) -> Result<ToConnector, Ended> {
        let agent = self.engine.agent(&self.agent).and_then(|agent| agent.profile()).map_err(|_| Ended::Superseded)?;
        Ok(ToConnector::Hello(ConnectorHello {
            protocol: PROTOCOL,
            role: Role::Connector,
            agent_id: self.agent.clone(),
            agent_name: agent.name.clone(),
            owner: self.owner.clone(),
            may_decide: self.approver.is_some(),
            ts: now(&self.engine),
        }))
    }

    async fn hear(&mut self, heard: FromConnector) -> Reply<ToConnector> {
        let (request_id, done) = match heard {
            FromConnector::Hello(hello) => return greeted(hello),
            FromConnector::Bye(_) => return Reply::End(Ended::Bye),
            FromConnector::PermissionDecision(decision) => {
                (decision.request_id.clone(), self.decide(decision).await.map(|()| None))
            }
            FromConnector::RevokePermission(revoke) => (revoke.request_id.clone(), self.revoke(revoke).await.map(Some)),
            FromConnector::AgreeToWidening(agree) => {
                let agreed = match self.approver() {
                    Ok(approver) => approver.agree_to_widening(agree.change).await.map_err(NotDone::from),
                    Err(why) => Err(why),
                };
                (agree.request_id, agreed.map(|()| None))
            }
            FromConnector::UpdatePolicy(update) => {
                let updated = self.update_policy(&update).await;
                (update.request_id, updated.map(|()| None))
            }
            FromConnector::ListPolicies(wanted) => (wanted.request_id.clone(), self.policies(wanted).map(Some)),
            FromConnector::EnableAction(wanted) => (wanted.request_id.clone(), self.enable(wanted).await.map(Some)),
            FromConnector::DeclareTools(wanted) => (wanted.request_id.clone(), self.declare(wanted).await.map(Some)),
            FromConnector::BeginRun(wanted) => (wanted.request_id.clone(), self.begin_run(wanted).await.map(Some)),
            FromConnector::JoinRun(wanted) => (wanted.request_id.clone(), self.join_run(wanted).await.map(Some)),
            FromConnector::EndRun(wanted) => (wanted.request_id.clone(), self.end_run(wanted).await.map(Some)),
            FromConnector::Message(message) => (message.request_id, self.message(&message.text).await.map(|()| None)),
        };
        match done {
            Ok(said) => said.map_or(Reply::Nothing, Reply::Say),
            Err(why) => Reply::NotDone { why, request_id, then: None },
        }
    }

    async fn news(&mut self) -> Result<News, Ended> {
        loop {
            // Events that happened before an item is shown are reported before it.
            let event = tokio::select! {
                biased;
                event = self.events.next() => Some(event),
                shown = self.connection.next(), if self.held.is_none() => {
                    self.held = Some(shown.ok_or(Ended::Superseded)?);
                    continue;
                }
                () = std::future::ready(()), if self.held.is_some() => None,
            };
            match event {
                None => {
                    if let Some(held) = self.held.take() {
                        return Ok(News::Shown(held));
                    }
                }
                Some(Err(NoEvent::Ended)) => return Err(Ended::Superseded),
                Some(Err(NoEvent::Missed(_))) => {}
                Some(Ok(recorded)) => {
                    if let Some(news) = self.config(&recorded.event).or_else(|| self.guard(&recorded.event)) {
                        return Ok(news);
                    }
                }
            }
        }
    }

    async fn tell(&mut self, news: News) -> Vec<ToConnector> {
        let said = match news {
            News::Shown(Prompt::Ask(request)) if self.denied_before(&request).await => return Vec::new(),
            News::Shown(Prompt::Ask(request)) => question(&request),
            News::Shown(Prompt::Settled(resolution)) => settled(&resolution),
            News::Shown(Prompt::Said { from, text }) => {
                let text = text.as_ref().to_owned();
                ToConnector::Message(MessageToUser { agent_id: from, text, ts: now(&self.engine) })
            }
            News::Guard(run_id, Some(tool), policies) => {
                ToConnector::PolicyUpdated(GuardUpdated { run_id, tool, policies, ts: now(&self.engine) })
            }
            News::Guard(run_id, None, policies) => {
                ToConnector::PolicyForAll(GuardForAll { run_id, policies, ts: now(&self.engine) })
            }
            News::Config(notice, text, change) => ToConnector::Notice(Notice {
                change,
                notice,
                silent: false,
                text,
                agent_id: None,
                grant_id: None,
                permission: None,
                permission_request_id: None,
                ts: now(&self.engine),
            }),
        };
        vec![said]
    }

    fn fault(fault: Fault) -> ToConnector {
        ToConnector::Error(fault)
    }

    fn bye(bye: Bye) -> ToConnector {
        ToConnector::Bye(bye)
    }
}

/// Escapes untrusted text for a sentence for people.
fn shown(text: &str) -> String {
    Escaped(text).to_string()
}
