//! The part of a bot that reaches the user of one foreground agent.

use crate::{
    engine::{Approver, Connection, Engine, NoEvent, Prompt, Subscription},
    model::{AgentId, Escaped, Event, OwnerId, Request},
};

use super::{
    approver_client::ApproverClient,
    error_mapping::NotDone,
    message::{
        Bye, ConnectorHello, ErrorCode, Fault, FromConnector, MessageToUser, Notice, NoticeKind, PROTOCOL, Role,
        ToConnector,
    },
    session::{Ended, Peer, Reply, greeted, now},
};

pub(super) struct ConnectorPart {
    engine: Engine,
    agent: AgentId,
    owner: OwnerId,
    /// The client of the person for whom this bot may decide, if it may.
    client: Option<ApproverClient>,
    connection: Connection,
    events: Subscription,
    /// The next item for the user. It is held back until all earlier events are reported.
    held: Option<Prompt>,
}

/// Something that the user should see.
pub(super) enum News {
    Shown(Prompt),
    Config(NoticeKind, String, Option<u64>),
    /// A change of tool policies.
    Policy(ToConnector),
}

impl ConnectorPart {
    pub(super) fn new(
        engine: Engine,
        owner: OwnerId,
        approver: Option<Approver>,
        connection: Connection,
    ) -> ConnectorPart {
        let (agent, events) = (connection.agent().clone(), engine.subscribe());
        let client = approver.map(|approver| ApproverClient::new(&engine, approver));
        ConnectorPart { engine, agent, owner, client, connection, events, held: None }
    }

    async fn carry_out(&mut self, order: FromConnector) -> Result<Option<ToConnector>, NotDone> {
        let shows_only = || NotDone::new(ErrorCode::Forbidden, "this bot only shows questions and may not answer them");
        self.client.as_mut().ok_or_else(shows_only)?.done(order).await
    }

    async fn message(&self, text: &str) -> Result<(), NotDone> {
        self.engine.user_active(&self.agent).await?;
        Ok(self.engine.message(&self.agent, None, text).await?)
    }

    async fn denied_before(&self, request: &Request) -> bool {
        match &self.client {
            Some(client) => client.denied_before(request).await,
            None => false,
        }
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
            may_decide: self.client.is_some(),
            ts: now(&self.engine),
        }))
    }

    async fn hear(&mut self, heard: FromConnector) -> Reply<ToConnector> {
        let request_id = heard.request_id().map(str::to_owned);
        let done = match heard {
            FromConnector::Hello(hello) => return greeted(hello),
            FromConnector::Bye(_) => return Reply::End(Ended::Bye),
            FromConnector::Message(message) => self.message(&message.text).await.map(|()| None),
            order @ (FromConnector::PermissionDecision(_)
            | FromConnector::RevokePermission(_)
            | FromConnector::AgreeToWidening(_)
            | FromConnector::UpdatePolicy(_)
            | FromConnector::ListPolicies(_)
            | FromConnector::EnableAction(_)
            | FromConnector::DeclareTools(_)
            | FromConnector::BeginRun(_)
            | FromConnector::JoinRun(_)
            | FromConnector::EndRun(_)) => self.carry_out(order).await,
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
                    let policy = || ToConnector::of_policy(&recorded.event, &self.owner, now(&self.engine));
                    if let Some(news) = self.config(&recorded.event).or_else(|| policy().map(News::Policy)) {
                        return Ok(news);
                    }
                }
            }
        }
    }

    async fn tell(&mut self, news: News) -> Vec<ToConnector> {
        let said = match news {
            News::Shown(Prompt::Ask(request)) if self.denied_before(&request).await => return Vec::new(),
            News::Shown(Prompt::Ask(request)) => ToConnector::RequestPermission(Box::new((&*request).into())),
            News::Shown(Prompt::Settled(resolution)) => ToConnector::PermissionResolved((&*resolution).into()),
            News::Shown(Prompt::Said { from, text }) => {
                let text = text.as_ref().to_owned();
                ToConnector::Message(MessageToUser { agent_id: from, text, ts: now(&self.engine) })
            }
            News::Policy(said) => said,
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
