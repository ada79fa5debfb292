//! Sessions of a host in an engine of this process.

use async_trait::async_trait;
use bestow::{
    Agent, AgentId, Engine, Error, Kind, Permission, Profile, decision::Refusal, path::SanitizedPath, text::Name,
};
use tokio::sync::{Mutex, MutexGuard};

use crate::{
    answer::{Here, answered},
    book::Book,
    call::{Answer, Call, Caller, Sessions, Subagent},
    failure::Failure,
    id::{self, SessionId, SubagentId},
    member::Member,
    passing_on::{begun_with, not_passed_on, shared},
    place::{directory, last_name},
};

/// The most sessions of one host. For a further one, the longest unused session ends.
const MOST: usize = 256;

/// The sessions of a host under an engine. Each session is an agent that the host's agent has created, and each
/// subagent is an agent that its session has created.
///
/// A session begins with what the host's agent may use then. A subagent begins with the part of it that its session
/// still holds; if the policy file has an agent `HOST:TYPE` for its type, with the part that this agent may use, too. A
/// permission that a person gives to one of them belongs to it alone.
#[derive(Debug)]
pub struct OwnSessions {
    engine: Engine,
    host: Agent,
    book: Mutex<Book>,
}

impl OwnSessions {
    /// Creates the sessions of a host. Sessions of the host that the engine already has go on.
    pub fn new(engine: Engine, host: Agent) -> OwnSessions {
        OwnSessions { engine, host, book: Mutex::default() }
    }

    /// Returns the agent of the host.
    pub fn host(&self) -> &Agent {
        &self.host
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the agent of a caller. It is created with its first call.
    ///
    /// # Errors
    ///
    /// There is no such agent, and none can be created: the call may not happen.
    pub async fn member(&self, caller: &Caller) -> Result<Member, Failure> {
        let mut book = self.book.lock().await;
        let session = self.session(&mut book, caller).await?;
        let in_use = book.used(session.id());
        let Some(subagent) = &caller.subagent else {
            return Ok(Member { agent: session, limit: None, _in_use: vec![in_use] });
        };
        let limit = self.limit(subagent)?;
        let agent = self.subagent(&mut book, &session, caller, subagent, limit.as_ref()).await?;
        // The subagent keeps its session in use.
        let both_in_use = vec![in_use, book.used(agent.id())];
        Ok(Member { agent, limit, _in_use: both_in_use })
    }

    async fn session(&self, book: &mut MutexGuard<'_, Book>, caller: &Caller) -> Result<Agent, Failure> {
        let id = id::of_session(self.host.id(), &caller.session)?;
        if let Some(known) = self.known(&id, &self.host)? {
            return Ok(known);
        }
        self.make_room(book, &id).await?;
        let directory = directory(caller)?;
        let name = format!("{} in {}", self.host.id(), last_name(&directory));
        let profile = self.profile(id, directory, &name)?;
        let held = self.host.permissions()?.iter().collect();
        self.create(book, &self.host, profile, held, "a session begins").await
    }

    async fn subagent(
        &self,
        book: &mut MutexGuard<'_, Book>,
        session: &Agent,
        caller: &Caller,
        subagent: &Subagent,
        limit: Option<&Agent>,
    ) -> Result<Agent, Failure> {
        let id = id::of_subagent(self.host.id(), &caller.session, &subagent.id)?;
        if let Some(known) = self.known(&id, session)? {
            return Ok(known);
        }
        let directory = directory(caller)?;
        let kind = subagent.kind.as_deref().unwrap_or("subagent");
        let name = format!("{kind} of {} in {}", self.host.id(), last_name(&directory));
        let profile = self.profile(id, directory, &name)?;
        let own = begun_with(session, &self.host)?;
        let held = match limit {
            Some(limit) => shared(&own, &limit.permissions()?),
            None => own.iter().collect(),
        };
        self.create(book, session, profile, held, "a subagent begins").await
    }

    /// Returns the agent of the policy file that limits the type of a subagent.
    fn limit(&self, subagent: &Subagent) -> Result<Option<Agent>, Failure> {
        let id = subagent.kind.as_deref().and_then(|kind| id::of_kind(self.host.id(), kind));
        let Some(id) = id else { return Ok(None) };
        let limit = match self.engine.agent(&id) {
            Ok(limit) => limit,
            Err(Error::Refused(Refusal::UnknownAgent(_))) => return Ok(None),
            Err(why) => return Err(why.into()),
        };
        let is_own = limit.profile()?.owner == self.host.profile()?.owner;
        if is_own { Ok(Some(limit)) } else { Err(Failure::OtherOwner(id)) }
    }

    /// Returns an agent that `creator` has created. An agent of somebody else under this id is an error.
    fn known(&self, id: &AgentId, creator: &Agent) -> Result<Option<Agent>, Failure> {
        match self.engine.agent(id) {
            Ok(agent) if agent.profile()?.parent.as_ref() == Some(creator.id()) => Ok(Some(agent)),
            Ok(_) => Err(Failure::Taken(id.clone())),
            Err(Error::Refused(Refusal::UnknownAgent(_))) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    fn profile(&self, id: AgentId, directory: SanitizedPath, name: &str) -> Result<Profile, Failure> {
        let profile = Profile::new(id, self.host.profile()?.owner.clone(), Kind::Subagent, directory);
        Ok(match name.parse::<Name>() {
            Ok(name) => profile.named(name),
            Err(_) => profile,
        })
    }

    /// Creates an agent with these permissions, except those that its creator cannot pass on. If there are too many
    /// agents, the longest unused session ends.
    async fn create(
        &self,
        book: &mut MutexGuard<'_, Book>,
        creator: &Agent,
        profile: Profile,
        mut held: Vec<Permission>,
        reason: &str,
    ) -> Result<Agent, Failure> {
        loop {
            let why = match creator.create(profile.clone(), &held, reason).await {
                Ok(agent) => return Ok(agent),
                Err(why) => why,
            };
            if let Error::Refused(Refusal::TooManyChildren { .. }) = &why {
                let oldest = self.longest_unused(book, creator.id())?.ok_or(why)?;
                self.retire(book, &oldest).await?;
                continue;
            }
            let before = held.len();
            if let Some(refused) = not_passed_on(&why) {
                held.retain(|permission| permission != refused);
            }
            if held.len() == before {
                return Err(why.into());
            }
        }
    }

    /// Ends the longest unused session if the host has as many as it may have.
    async fn make_room(&self, book: &mut MutexGuard<'_, Book>, for_session: &AgentId) -> Result<(), Failure> {
        if self.members(self.host.id())?.len() < MOST {
            return Ok(());
        }
        let oldest = self.longest_unused(book, for_session)?.ok_or_else(|| Failure::Full(self.host.id().clone()))?;
        self.retire(book, &oldest).await
    }

    /// Returns the longest unused session, except `but` and those with a call in progress. If there is none, it returns
    /// the longest unused subagent of `but`. Sessions without a use since the start of this program come first.
    fn longest_unused(&self, book: &Book, but: &AgentId) -> Result<Option<AgentId>, Failure> {
        let oldest = |all: Vec<AgentId>| {
            let idle = all.into_iter().filter(|id| id != but && !book.is_in_use(id));
            idle.min_by_key(|id| (book.last_use(id), id.clone()))
        };
        match oldest(self.members(self.host.id())?) {
            Some(session) => Ok(Some(session)),
            None if but == self.host.id() => Ok(None),
            None => Ok(oldest(self.members(but)?)),
        }
    }

    /// Returns the sessions of the host, or the subagents of a session. Other agents that it created are not among
    /// them.
    fn members(&self, of: &AgentId) -> Result<Vec<AgentId>, Failure> {
        let mut children = self.children(of)?;
        children.retain(|id| id.as_str().strip_prefix(of.as_str()).is_some_and(|rest| rest.starts_with(':')));
        Ok(children)
    }

    /// Returns the agents that this agent has created.
    fn children(&self, of: &AgentId) -> Result<Vec<AgentId>, Failure> {
        let all = self.engine.agents()?;
        let children = all.iter().filter(|profile| profile.parent.as_ref() == Some(of));
        Ok(children.map(|profile| profile.id.clone()).collect())
    }

    /// Retires an agent after its descendants.
    async fn retire(&self, book: &mut MutexGuard<'_, Book>, agent: &AgentId) -> Result<(), Failure> {
        let (mut all, mut done) = (vec![agent.clone()], 0);
        while let Some(next) = all.get(done) {
            all.extend(self.children(&next.clone())?);
            done += 1;
        }
        for agent in all.iter().rev() {
            match self.engine.retire(agent).await {
                Ok(()) | Err(Error::Refused(Refusal::UnknownAgent(_))) => book.forget(agent),
                Err(why) => return Err(why.into()),
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Sessions for OwnSessions {
    async fn call(&self, call: Call) -> Result<Answer, Failure> {
        let member = self.member(&call.caller).await?;
        answered(&Here(&self.engine), &member, &call).await
    }

    async fn begin(&self, caller: Caller) -> Result<AgentId, Failure> {
        Ok(self.member(&caller).await?.agent.id().clone())
    }

    async fn end(&self, session: SessionId, subagent: Option<SubagentId>) -> Result<(), Failure> {
        let mut book = self.book.lock().await;
        let of_session = id::of_session(self.host.id(), &session)?;
        let Some(agent) = self.known(&of_session, &self.host)? else { return Ok(()) };
        let Some(subagent) = subagent else { return self.retire(&mut book, agent.id()).await };
        let of_subagent = id::of_subagent(self.host.id(), &session, &subagent)?;
        match self.known(&of_subagent, &agent)? {
            Some(subagent) => self.retire(&mut book, subagent.id()).await,
            None => Ok(()),
        }
    }
}
