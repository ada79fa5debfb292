//! The part of a bot that acts as one agent.

use std::{collections::BTreeMap, future::poll_fn, sync::Arc, task::Poll};

use crate::{
    engine::process_order::{ProcessOrder, Runner},
    engine::{Agent, AgentEvents, Authorization, Delivery, Engine, Error, Inbox, NoEvent, Notification, Ticket},
    kernel::{Check, Refusal},
    model::{
        Action, Effect, Event, Origin, Permission, PermissionRequest, ProcessEvent, ProcessExit, ProcessId, RequestId,
        Resolution, Scope, camel_case,
    },
};

use super::{
    error_mapping::NotDone,
    holdings::holdings,
    message::{
        AgentHello, Answered, AskPermissionState, Authorize, AuthorizeResult, Bye, CancelRequest, CheckPermission,
        CheckResult, Checked, CheckedPermission, ErrorCode, Fault, FromAgent, GrantPermission, GrantResult, Holdings,
        MessageFromAgent, MessageToAgent, Notice, NoticeKind, PROTOCOL, PermissionResult, PermissionStateResult,
        PolicyUpdated, ProcessExited, ProcessList, RequestAccepted, RequestPermission, RevokePermission, RevokeResult,
        Role, ToAgent, UsePermission, UseResult,
    },
    session::{Ended, Peer, Reply, answered, greeted, now},
    sinks::Speech,
};

pub(super) struct AgentPart {
    pub(super) engine: Engine,
    pub(super) agent: Agent,
    /// The runner that starts processes for the bot, if the host allows it processes.
    pub(super) runner: Option<Arc<dyn Runner>>,
    /// The receiver of the texts that the agent says to its own user, if the host has one.
    said: Option<Speech>,
    hears: Hears,
    /// True if the conversation lasts only as long as the agent holds `@events`.
    needs_events: bool,
    events: AgentEvents,
    /// The holdings that the bot was last informed of.
    told: Holdings,
    /// For each pending request, the `requestId` with which the bot last made it.
    asked_as: BTreeMap<RequestId, Option<String>>,
}

/// The part of the agent's notifications that this conversation delivers.
enum Hears {
    /// All notifications: the bot is the agent.
    Everything(Inbox),
    /// Only the results of requests made in this conversation. The bot is one of several that act as the agent.
    ItsOwn(Vec<Ticket>),
}

/// Something that concerns this agent.
pub(super) enum News {
    Mail(Notification),
    /// The agent's holdings may have changed.
    Held,
    /// A process of the agent ended.
    Exited(ProcessId, ProcessExit),
}

impl AgentPart {
    pub(super) fn new(engine: Engine, agent: Agent) -> AgentPart {
        let hears = Hears::Everything(agent.mailbox());
        AgentPart::hearing(hears, engine, agent)
    }

    /// Creates the part for one of several bots that act as `agent`, through its `@events`.
    pub(super) fn beside_others(engine: Engine, agent: Agent) -> AgentPart {
        AgentPart { needs_events: true, ..AgentPart::one_of_several(engine, agent) }
    }

    /// Creates the part for one of several bots that act as `agent`, whatever the agent holds.
    pub(super) fn one_of_several(engine: Engine, agent: Agent) -> AgentPart {
        AgentPart::hearing(Hears::ItsOwn(Vec::new()), engine, agent)
    }

    fn hearing(hears: Hears, engine: Engine, agent: Agent) -> AgentPart {
        let events = agent.events();
        let (told, asked_as) = (Holdings::default(), BTreeMap::new());
        AgentPart { engine, agent, runner: None, said: None, hears, needs_events: false, events, told, asked_as }
    }

    /// Returns this part with a runner that starts processes.
    pub(super) fn with_runner(self, runner: Option<Arc<dyn Runner>>) -> AgentPart {
        AgentPart { runner, ..self }
    }

    /// Returns this part with a receiver of what the agent says to its own user.
    pub(super) fn saying_to(self, said: Option<Speech>) -> AgentPart {
        AgentPart { said, ..self }
    }

    /// Returns true if this conversation may continue. A bot beside others stops acting for the agent once the agent no
    /// longer holds `@events`.
    fn may_go_on(&self) -> bool {
        !self.needs_events || self.agent.check(&Permission::Events) != Check::NotHeld
    }

    pub(super) fn answered<T>(&self, answer: T, request_id: Option<String>) -> Answered<T> {
        answered(&self.engine, answer, request_id)
    }

    async fn request(&mut self, asked: RequestPermission) -> Result<ToAgent, NotDone> {
        let ask = PermissionRequest::new(asked.about.permissions, asked.reason);
        let ask = if let Some(scope) = asked.scope { ask.at_most(scope) } else { ask };
        let ticket = self.agent.request(ask).await?;
        let accepted = RequestAccepted { permission_request_id: ticket.id(), code: ticket.code().to_string() };
        self.awaits(ticket, asked.request_id.clone());
        Ok(ToAgent::RequestAccepted(self.answered(accepted, asked.request_id)))
    }

    /// Registers that this conversation delivers the result of the request, with the `requestId` it was made with.
    fn awaits(&mut self, ticket: Ticket, asked_as: Option<String>) {
        self.asked_as.insert(ticket.id(), asked_as);
        if let Hears::ItsOwn(tickets) = &mut self.hears {
            tickets.push(ticket);
        }
    }

    async fn authorize(&mut self, wanted: Authorize) -> Result<ToAgent, NotDone> {
        let request_id = wanted.request_id.clone();
        let action = wanted.action().map_err(|why| NotDone::new(ErrorCode::ValidationError, why))?;
        self.authorize_action(action, request_id).await
    }

    pub(super) async fn authorize_action(
        &mut self,
        action: Action,
        request_id: Option<String>,
    ) -> Result<ToAgent, NotDone> {
        let authorized = self.agent.authorize(action).await?;
        if let Authorization::Asked(_, ticket) = &authorized {
            self.awaits(ticket.clone(), request_id.clone());
        }
        let changed = match &authorized {
            Authorization::Updated(decision, _) => Some(decision),
            Authorization::Confined(decision, what) => what.instead().map(|_| decision),
            Authorization::Allowed(_) | Authorization::Asked(..) | Authorization::Denied(_) => None,
        };
        if let Some(decision) = changed {
            // A bot that overlooked the change would perform its original action, and that one is not allowed.
            let why = format!("a hook changed the action: only this action may happen: {}", decision.action);
            return Err(NotDone::new(ErrorCode::Refused, why));
        }
        let decision = authorized.decision();
        // A decision that follows an answer also names its request. The bot gets the id only while a request is
        // pending.
        let waits = decision.approval_action_id.filter(|_| decision.verdict() == Effect::Ask);
        let fields = decision.fields();
        let result = AuthorizeResult {
            decision: fields.decision,
            decision_id: decision.id,
            decision_source: fields.decision_source,
            decision_reason: fields.decision_reason,
            rule_refs: fields.rule_refs,
            updated_input_ref: fields.updated_input_ref,
            approval_action_id: fields.approval_action_id,
            expires_at: fields.expires_at,
            scope: fields.scope,
            tier: decision.action.tier,
            destructive: decision.action.destructive.is_some(),
            missing: decision.missing.clone(),
            permission_request_id: waits,
            code: waits.map(|id| id.code().to_string()),
            text: decision.to_string(),
        };
        Ok(ToAgent::AuthorizeResult(self.answered(result, request_id)))
    }

    async fn cancel(&self, named: &str) -> Result<(), NotDone> {
        let id = match named.parse() {
            Ok(id) => id,
            Err(_) => self.own_with_code(named)?,
        };
        self.agent.cancel(id).await.map_err(|why| NotDone::about_request(named, None, &why))
    }

    /// Finds a request by its code among this agent's own requests only. Codes are short, so the codes of other agents
    /// could be guessed.
    fn own_with_code(&self, code: &str) -> Result<RequestId, NotDone> {
        let wanted = code.trim().to_ascii_lowercase();
        let own = self.engine.pending()?.into_iter().map(|pending| pending.request);
        let mut matching = own.filter(|own| own.from == *self.agent.id() && own.code().to_string() == wanted);
        match (matching.next(), matching.next()) {
            (Some(request), None) => Ok(request.id),
            (Some(request), Some(_)) => Err(Error::from(Refusal::AmbiguousCode(request.code())).into()),
            (None, _) => Err(NotDone::no_request(code, None)),
        }
    }

    async fn grant(&self, give: GrantPermission) -> Result<ToAgent, NotDone> {
        let scope = give.scope.unwrap_or(Scope::Always);
        let grant_ids = self.agent.grant_for(&give.agent_id, give.about.permissions, scope, give.reason).await?;
        let GrantPermission { agent_id, request_id, .. } = give;
        Ok(ToAgent::GrantResult(self.answered(GrantResult { agent_id, grant_ids }, request_id)))
    }

    async fn revoke(&self, revoke: RevokePermission) -> Result<ToAgent, NotDone> {
        let RevokePermission { grant_id, reason, request_id } = revoke;
        self.agent.revoke(grant_id, reason).await?;
        Ok(ToAgent::RevokeResult(self.answered(RevokeResult { grant_id }, request_id)))
    }

    fn check(&self, check: CheckPermission) -> ToAgent {
        let held = |permission: &Permission| match self.agent.check(permission) {
            Check::Held => Checked::Held,
            Check::HeldOnce => Checked::HeldOnce,
            Check::NotHeld => Checked::NotHeld,
        };
        let permissions = Vec::from(check.about.permissions).into_iter();
        let results = permissions.map(|permission| CheckedPermission { held: held(&permission), permission });
        ToAgent::CheckResult(self.answered(CheckResult { results: results.collect() }, check.request_id))
    }

    fn state(&self, asked: AskPermissionState) -> Result<ToAgent, NotDone> {
        let state = serde_json::to_value(self.agent.permission_state()?).map(camel_case);
        let state = state.map_err(|why| NotDone::new(ErrorCode::InternalError, why.to_string()))?;
        Ok(ToAgent::PermissionStateResult(self.answered(PermissionStateResult { state }, asked.request_id)))
    }

    async fn spend(&self, wanted: UsePermission) -> Result<ToAgent, NotDone> {
        let UsePermission { permission, request_id } = wanted;
        self.agent.spend(&permission).await?;
        Ok(ToAgent::UseResult(self.answered(UseResult { permission }, request_id)))
    }

    async fn message(&self, message: &MessageFromAgent) -> Result<(), NotDone> {
        let Some(to) = &message.agent_id else {
            let shown = self.agent.say(&message.text).await?;
            if let Some(said) = &self.said {
                said(&message.text);
                return Ok(());
            }
            return match shown {
                Delivery::Shown => Ok(()),
                Delivery::ByNobody => Err(NotDone::new(ErrorCode::NobodyThere, self.why_nobody()?)),
            };
        };
        Ok(self.agent.message(to, &message.text).await?)
    }

    fn why_nobody(&self) -> Result<&'static str, Error> {
        Ok(if self.agent.profile()?.kind.is_foreground() {
            "no user of this agent is connected"
        } else {
            "a background agent has no user: write to a foreground agent, with `agentId`"
        })
    }

    fn policy_updated(&mut self) -> Option<ToAgent> {
        let holdings = holdings(&self.agent);
        if holdings == self.told {
            return None;
        }
        self.told = holdings.clone();
        let agent_id = self.agent.id().clone();
        Some(ToAgent::PolicyUpdated(PolicyUpdated { agent_id, holdings, ts: now(&self.engine) }))
    }

    fn mail(&mut self, mail: Notification) -> ToAgent {
        let (text, silent) = (mail.to_string(), mail.is_silent());
        let notice = |notice| Notice {
            notice,
            silent,
            text,
            agent_id: None,
            grant_id: None,
            permission: None,
            permission_request_id: None,
            change: None,
            ts: now(&self.engine),
        };
        ToAgent::Notice(match mail {
            Notification::Resolved(resolution) => return self.result(&resolution),
            Notification::Message { from, text } => {
                let (agent_id, text) = (from, text.as_ref().to_owned());
                return ToAgent::Message(MessageToAgent { agent_id, text, ts: now(&self.engine) });
            }
            Notification::Granted(grant) => Notice {
                agent_id: if let Origin::Agent { from } = &grant.origin { Some(from.clone()) } else { None },
                grant_id: Some(grant.id),
                permission: Some(grant.pinned.permission.clone()),
                ..notice(NoticeKind::Granted)
            },
            Notification::Lost { grant, .. } => Notice {
                grant_id: Some(grant.id),
                permission: Some(grant.pinned.permission.clone()),
                ..notice(NoticeKind::Lost)
            },
            Notification::Carried(request) => Notice {
                agent_id: Some(request.from.clone()),
                permission_request_id: Some(request.id),
                ..notice(NoticeKind::Carried)
            },
            Notification::CarriedResolved(resolution) => Notice {
                agent_id: Some(resolution.from.clone()),
                permission_request_id: Some(resolution.request),
                ..notice(NoticeKind::CarriedResolved)
            },
            Notification::Task(_) => notice(NoticeKind::Task),
            Notification::Missed(_) => notice(NoticeKind::Missed),
        })
    }

    fn result(&mut self, resolution: &Resolution) -> ToAgent {
        ToAgent::PermissionResult(PermissionResult {
            permission_request_id: resolution.request,
            code: resolution.request.code().to_string(),
            request_id: self.asked_as.remove(&resolution.request).flatten(),
            outcome: resolution.outcome,
            granted: resolution.granted.clone(),
            refused: resolution.refused.clone(),
            scope: resolution.scope,
            updated_input: resolution.updated_input.as_ref().map(|action| action.resource.as_ref().to_owned()),
            feedback: resolution.feedback.clone(),
            text: resolution.to_string(),
            ts: resolution.at,
        })
    }
}

impl AgentPart {
    /// Translates news into messages.
    pub(super) fn messages_about(&mut self, news: News) -> Vec<ToAgent> {
        // The holdings come first, so that the bot knows them before it reads the explanation.
        let held = self.policy_updated();
        let ts = now(&self.engine);
        let mail = match news {
            News::Mail(mail) => Some(self.mail(mail)),
            News::Exited(process_id, exit) => Some(ToAgent::ProcessExited(ProcessExited { process_id, exit, ts })),
            News::Held => None,
        };
        held.into_iter().chain(mail).collect()
    }
}

impl Peer for AgentPart {
    type Heard = FromAgent;
    type Said = ToAgent;
    type News = News;

    fn greeting(&mut self) -> Result<ToAgent, Ended> {
        let profile = self.agent.profile().map_err(|_| Ended::Superseded)?;
        self.told = holdings(&self.agent);
        Ok(ToAgent::Hello(AgentHello {
            protocol: PROTOCOL,
            role: Role::Agent,
            agent_id: profile.id.clone(),
            agent_name: profile.name.clone(),
            agent_kind: profile.kind,
            working_dir: profile.working_dir.as_str().to_owned(),
            holdings: self.told.clone(),
            ts: now(&self.engine),
        }))
    }

    async fn hear(&mut self, heard: FromAgent) -> Reply<ToAgent> {
        if !self.may_go_on() {
            return Reply::End(Ended::NotHeld);
        }
        let (request_id, done) = match heard {
            FromAgent::Hello(hello) => return greeted(hello),
            FromAgent::Bye(_) => return Reply::End(Ended::Bye),
            FromAgent::CheckPermission(check) => return Reply::Say(self.check(check)),
            FromAgent::RequestPermission(ask) => (ask.request_id.clone(), self.request(ask).await.map(Some)),
            FromAgent::GrantPermission(give) => (give.request_id.clone(), self.grant(give).await.map(Some)),
            FromAgent::RevokePermission(revoke) => (revoke.request_id.clone(), self.revoke(revoke).await.map(Some)),
            FromAgent::Authorize(wanted) => (wanted.request_id.clone(), self.authorize(wanted).await.map(Some)),
            FromAgent::PermissionState(asked) => (asked.request_id.clone(), self.state(asked).map(Some)),
            FromAgent::UsePermission(wanted) => (wanted.request_id.clone(), self.spend(wanted).await.map(Some)),
            FromAgent::ProcessStart(wanted) => {
                let id = wanted.request_id.clone();
                (id.clone(), self.process(wanted.order(), id).await.map(Some))
            }
            FromAgent::ProcessList(ProcessList { request_id: id }) => {
                (id.clone(), self.process(Ok(ProcessOrder::List), id).await.map(Some))
            }
            FromAgent::ProcessRead(wanted) => {
                let id = wanted.request_id.clone();
                (id.clone(), self.process(wanted.order(), id).await.map(Some))
            }
            FromAgent::ProcessWrite(wanted) => {
                let id = wanted.request_id.clone();
                (id.clone(), self.process(wanted.order(), id).await.map(Some))
            }
            FromAgent::ProcessStop(wanted) => {
                let id = wanted.request_id.clone();
                (id.clone(), self.process(wanted.order(), id).await.map(Some))
            }
            FromAgent::ProcessRestart(wanted) => {
                let id = wanted.request_id.clone();
                (id.clone(), self.process(wanted.order(), id).await.map(Some))
            }
            FromAgent::CancelRequest(CancelRequest { permission_request_id: id, request_id }) => {
                (request_id, self.cancel(&id).await.map(|()| None))
            }
            FromAgent::Message(message) => {
                let said = self.message(&message).await;
                (message.request_id, said.map(|()| None))
            }
        };
        match done {
            Ok(said) => said.map_or(Reply::Nothing, Reply::Say),
            Err(why) => Reply::NotDone { why, request_id, then: None },
        }
    }

    async fn news(&mut self) -> Result<News, Ended> {
        loop {
            let event = match &mut self.hears {
                Hears::Everything(mailbox) => tokio::select! {
                    Some(mail) = mailbox.next() => return Ok(News::Mail(mail)),
                    event = self.events.next() => event,
                },
                // A ticket is told before the people and the subscribers of events, of whom there may be many.
                Hears::ItsOwn(tickets) => tokio::select! {
                    biased;
                    resolution = next_over(tickets) => {
                        let told = News::Mail(Notification::Resolved(resolution));
                        return if self.may_go_on() { Ok(told) } else { Err(Ended::NotHeld) };
                    }
                    event = self.events.next() => event,
                },
            };
            match event {
                Err(NoEvent::Ended) => return Err(Ended::Superseded),
                _ if !self.may_go_on() => return Err(Ended::NotHeld),
                Err(NoEvent::Missed(_)) => return Ok(News::Held),
                Ok(event) => {
                    if matches!(event, Event::AgentRetired { .. }) {
                        return Err(Ended::Superseded);
                    }
                    if let Event::Process(ProcessEvent::Exited { process, exit }) = &event
                        && self.runner.is_some()
                    {
                        return Ok(News::Exited(process.id, *exit));
                    }
                    if event.grant().is_some() {
                        return Ok(News::Held);
                    }
                }
            }
        }
    }

    async fn tell(&mut self, news: News) -> Vec<ToAgent> {
        self.messages_about(news)
    }

    fn fault(fault: Fault) -> ToAgent {
        ToAgent::Error(fault)
    }

    fn bye(bye: Bye) -> ToAgent {
        ToAgent::Bye(bye)
    }
}

/// Waits for the first request to end, and removes its ticket so that it is reported only once.
///
/// # Cancellation
///
/// Dropping the future loses nothing.
async fn next_over(tickets: &mut Vec<Ticket>) -> Arc<Resolution> {
    let mut waits: Vec<_> = tickets.iter().map(|ticket| Box::pin(ticket.resolution())).collect();
    let first = poll_fn(|context| {
        let over = waits.iter_mut().enumerate().find_map(|(place, wait)| match wait.as_mut().poll(context) {
            Poll::Ready(resolution) => Some((place, resolution)),
            Poll::Pending => None,
        });
        over.map_or(Poll::Pending, Poll::Ready)
    });
    let (place, resolution) = first.await;
    drop(waits);
    tickets.swap_remove(place);
    resolution
}
