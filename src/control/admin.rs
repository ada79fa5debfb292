//! The orders of a person.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ProcessCall;
use crate::{
    engine::{Approver, Engine, Error},
    kernel::Refusal,
    model::{
        Actor, AgentId, Answer, ApproverId, Decider, Escaped, Grant, GrantId, HeldChange, Means, Mode, Pending,
        Permission, Reason, RequestId, Resolution, SavedDecisionId, Scope,
    },
};

use super::{
    admission::own_means,
    reply::{Line, NotDone, Reply},
};

/// An order of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum AdminCommand {
    /// Shows the grants and the saved decisions of every agent, or of one.
    Grants {
        /// The agent.
        #[serde(default)]
        agent: Option<AgentId>,
    },
    /// Shows the provenance of a permission: the chain of grants that it depends on.
    Why {
        /// The agent that holds it.
        agent: AgentId,
        /// The permission.
        permission: Permission,
    },
    /// Shows everything that waits for an answer: the requests of agents, and a policy file change that is held back.
    Requests,
    /// Approves a change of the policy file that is held back.
    Agree {
        /// The number of the change.
        change: u64,
        /// The person who approves.
        by: ApproverId,
    },
    /// Shows the permission state of an agent.
    State {
        /// The agent.
        agent: AgentId,
    },
    /// Shows the mode of an agent, or sets it.
    Mode {
        /// The agent.
        agent: AgentId,
        /// The new mode. If missing, the mode stays.
        #[serde(default)]
        mode: Option<Mode>,
        /// The person who sets it.
        by: ApproverId,
    },
    /// Revokes a grant or a saved decision.
    Revoke {
        /// The grant or the saved decision.
        held: GrantOrDecisionId,
        /// The reason.
        #[serde(default)]
        reason: Option<Reason>,
        /// The person who revokes.
        by: ApproverId,
    },
    /// Manages long-running processes.
    Process {
        /// The operation.
        call: ProcessCall,
        /// The person who gives the order.
        by: ApproverId,
    },
    /// Answers a request.
    Answer {
        /// The code or the id of the request.
        request: String,
        /// The answer.
        verdict: Approval,
        /// The scope of the answer. If missing, the requested one.
        #[serde(default)]
        scope: Option<Scope>,
        /// A remark to the agent.
        #[serde(default)]
        feedback: Option<Reason>,
        /// The person who answers.
        by: ApproverId,
    },
}

impl AdminCommand {
    /// Returns the name of the order, and the person who gives it, where that matters.
    pub(super) fn told(&self) -> (&'static str, Option<&ApproverId>) {
        match self {
            AdminCommand::Grants { .. } => ("grants", None),
            AdminCommand::Why { .. } => ("why", None),
            AdminCommand::Requests => ("requests", None),
            AdminCommand::State { .. } => ("state", None),
            AdminCommand::Agree { by, .. } => ("agree", Some(by)),
            AdminCommand::Mode { by, .. } => ("mode", Some(by)),
            AdminCommand::Revoke { by, .. } => ("revoke", Some(by)),
            AdminCommand::Process { by, .. } => ("process", Some(by)),
            AdminCommand::Answer { by, .. } => ("answer", Some(by)),
        }
    }

    /// Returns true if the order changes something.
    pub(super) fn changes(&self) -> bool {
        match self {
            AdminCommand::Grants { .. }
            | AdminCommand::Why { .. }
            | AdminCommand::Requests
            | AdminCommand::State { .. } => false,
            AdminCommand::Mode { mode, .. } => mode.is_some(),
            AdminCommand::Process { call, .. } => call.changes(),
            AdminCommand::Agree { .. } | AdminCommand::Revoke { .. } | AdminCommand::Answer { .. } => true,
        }
    }
}

/// A reference to a revocable item by its name: `g4`, `r2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::exhaustive_enums, reason = "what an agent has it holds, or was told")]
pub enum GrantOrDecisionId {
    /// A grant.
    Grant(GrantId),
    /// A saved decision of a person about an action.
    Ruling(SavedDecisionId),
}

/// The error for a text that names neither a grant nor a saved decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("name a grant (`g4`) or a saved decision (`r2`) from the list of `bestow grants`")]
pub struct InvalidHeld;

impl FromStr for GrantOrDecisionId {
    type Err = InvalidHeld;

    fn from_str(text: &str) -> Result<GrantOrDecisionId, InvalidHeld> {
        let grant = text.parse().map(GrantOrDecisionId::Grant).ok();
        grant.or_else(|| text.parse().map(GrantOrDecisionId::Ruling).ok()).ok_or(InvalidHeld)
    }
}

impl fmt::Display for GrantOrDecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GrantOrDecisionId::Grant(grant) => grant.fmt(f),
            GrantOrDecisionId::Ruling(ruling) => ruling.fmt(f),
        }
    }
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "yes and no")]
pub enum Approval {
    /// Approves the request.
    Approve,
    /// Denies the request.
    Deny,
}

/// Carries out an order of this process itself.
pub async fn carry_out(engine: &Engine, order: AdminCommand) -> Reply {
    carry_out_through(engine, order, own_means()).await
}

/// Carries out an order that comes through `means`.
pub(super) async fn carry_out_through(engine: &Engine, order: AdminCommand, means: Means) -> Reply {
    done(engine, order, means).await.map_or_else(NotDone::into_reply, Reply::Done)
}

/// Carries out an order in an engine that ends right after it. An approval that would end with the engine is refused,
/// and the request stays pending.
pub async fn carry_out_and_end(engine: &Engine, order: AdminCommand) -> Reply {
    match would_last(engine, &order) {
        Ok(()) => carry_out(engine, order).await,
        Err(why) => why.into_reply(),
    }
}

/// Refuses an approval that would end with the engine. A run ends with its engine, and so do its approvals: every one
/// for the session, and a one-time approval of an action.
fn would_last(engine: &Engine, order: &AdminCommand) -> Result<(), NotDone> {
    let AdminCommand::Answer { request, verdict: Approval::Approve, scope, .. } = order else { return Ok(()) };
    let asked = waiting(engine, request)?.request;
    let is_action = asked.action.is_some();
    let by_default = if is_action { Scope::Once } else { Scope::Session };
    let scope = scope.or(asked.scope).unwrap_or(by_default);
    if scope != Scope::Session && !(is_action && scope == Scope::Once) {
        return Ok(());
    }
    let lasting: &[_] = match (is_action, asked.scope) {
        (true, _) => &["`--scope always`", "`--scope 'until TIME'`"],
        (false, Some(Scope::Session)) => &["`--scope once`"],
        (false, _) => &["`--scope once`", "`--scope always`", "`--scope 'until TIME'`"],
    };
    Err(NotDone::Refused(format!(
        "no engine runs on this directory, and an approval for `{scope}` ends before the next engine starts: answer \
         with {}, or while an engine runs; [{}] stays pending",
        lasting.join(" or "),
        asked.code()
    )))
}

async fn done(engine: &Engine, order: AdminCommand, means: Means) -> Result<Vec<Line>, NotDone> {
    match order {
        AdminCommand::Grants { agent } => Ok(grants(engine, agent.as_ref())?),
        AdminCommand::Why { agent, permission } => {
            engine.agent(&agent)?;
            let chain = engine.why(&agent, &permission)?;
            if chain.is_empty() {
                return Err(NotDone::Refused(format!(
                    "agent `{agent}` does not hold `{}`: add it to the `permissions` of the agent in the policy \
                     file, or approve a request of the agent",
                    Escaped(&permission.to_string())
                )));
            }
            Ok(chain.iter().map(|link| Line::new(link, json!(link.to_string()))).collect())
        }
        AdminCommand::Requests => {
            let held = engine.held_change()?;
            Ok(engine.pending()?.iter().map(request).chain(held.as_ref().map(held_change)).collect())
        }
        AdminCommand::Agree { change, by } => {
            let held = engine.held_change()?.ok_or(Refusal::NothingHeldBack)?;
            engine.agree_as(Actor::Person { by: by.clone(), means }, change).await?;
            let what = HeldChange { change, ..held };
            Ok(vec![Line::new(format!("change {change} took effect, approved by {by}"), json!({ "agreed": what }))])
        }
        AdminCommand::State { agent } => {
            let state = engine.permission_state(&agent)?;
            Ok(vec![Line::new(&state, json!(state))])
        }
        AdminCommand::Mode { agent, mode, by } => {
            if let Some(mode) = mode {
                answering_for(engine, &agent, by, means)?.set_mode(&agent, mode).await?;
            }
            let mode = engine.agent(&agent)?.profile()?.mode;
            Ok(vec![Line::new(format!("{agent} is in mode {mode}"), json!({ "agent": agent, "mode": mode }))])
        }
        AdminCommand::Process { call, by } => super::process::carry_out(engine, call, by, means).await,
        AdminCommand::Revoke { held, reason, by } => Ok(revoke(engine, held, reason, by, means).await?),
        AdminCommand::Answer { request, verdict, scope, feedback, by } => {
            let waiting = match waiting(engine, &request) {
                Err(Error::Refused(Refusal::AlreadyResolved(how))) if verdict == Approval::Approve && is_held(&how) => {
                    return Ok(vec![Line::new(&how, json!(*how))]);
                }
                waiting => waiting?,
            };
            if verdict == Approval::Deny && scope.is_some() && waiting.request.action.is_none() {
                return Err(NotDone::Refused(format!(
                    "a denial of a permission has no scope: it answers equal requests for the time in \
                     `denial_memory`. Deny without `--scope`; [{}] stays pending",
                    waiting.request.code()
                )));
            }
            let answer = match verdict {
                Approval::Approve => Answer::allow(),
                Approval::Deny => Answer::deny(),
            };
            let answer = scope.map_or(answer.clone(), |scope| answer.scope(scope));
            let answer = feedback.map_or(answer.clone(), |feedback| answer.feedback(feedback));
            let id = waiting.request.id;
            let answered = engine.approver(&waiting.request.owner, by, means).answer(id, answer).await;
            let resolution = engine.resolution(id)?;
            if !(verdict == Approval::Approve && resolution.as_deref().is_some_and(is_held)) {
                answered?;
            }
            Ok(resolution.iter().map(|how| Line::new(how, json!(**how))).collect())
        }
    }
}

/// Returns true if the agent already holds the permission. An approval would have had that result, so the reply reports
/// the existing resolution.
fn is_held(how: &Resolution) -> bool {
    how.decider == Decider::AlreadyHeld
}

fn grants(engine: &Engine, agent: Option<&AgentId>) -> Result<Vec<Line>, Error> {
    agent.map_or(Ok(()), |agent| engine.agent(agent).map(drop))?;
    let is_wanted = |whose: &AgentId| agent.is_none_or(|agent| whose == agent);
    let profiles = engine.agents()?;
    let owner = |agent: &AgentId| profiles.iter().find(|profile| profile.id == *agent).map(|profile| &profile.owner);
    let grants = engine.grants()?;
    let grants = grants.iter().filter(|grant| is_wanted(&grant.to)).map(|grant| {
        let mut json = json!(**grant);
        if let (Value::Object(fields), Some(owner)) = (&mut json, owner(&grant.to)) {
            fields.insert("owner".to_owned(), json!(owner));
        }
        Line::new(grant, json)
    });
    let rulings = engine.rulings()?;
    let rulings = rulings.iter().filter(|ruling| is_wanted(&ruling.agent));
    Ok(grants.chain(rulings.map(|ruling| Line::new(ruling, json!(**ruling)))).collect())
}

fn request(pending: &Pending) -> Line {
    let request = &pending.request;
    let action = request.action.as_ref().filter(|action| !action.cut && !request.only_lacks);
    let shape = action.and_then(|action| action.shape.as_ref());
    let always = shape.map(|shape| format!("; `always` would allow every {}", shape.phrase())).unwrap_or_default();
    let text = format!("[{}] {request}, until {}, routed {}{always}", request.code(), request.deadline, pending.route);
    Line::new(text, json!({ "code": request.code().to_string(), "request": **request, "route": pending.route }))
}

fn held_change(held: &HeldChange) -> Line {
    Line::new(held, json!({ "held_back": held }))
}

async fn revoke(
    engine: &Engine,
    held: GrantOrDecisionId,
    reason: Option<Reason>,
    by: ApproverId,
    means: Means,
) -> Result<Vec<Line>, Error> {
    let before = engine.grants()?;
    let fell = match held {
        GrantOrDecisionId::Grant(id) => {
            let grant = before.iter().find(|grant| grant.id == id).ok_or(Refusal::UnknownGrant(id))?;
            answering_for(engine, &grant.to, by, means)?.revoke(id, reason).await?;
            let left = engine.grants()?;
            let gone = |grant: &&Arc<Grant>| grant.id != id && !left.iter().any(|there| there.id == grant.id);
            before.iter().filter(gone).cloned().collect()
        }
        GrantOrDecisionId::Ruling(id) => {
            let ruling = engine.rulings()?.into_iter().find(|ruling| ruling.id == id);
            let ruling = ruling.ok_or(Refusal::UnknownRuling(id))?;
            engine.approver(&ruling.owner, by, means).revoke_ruling(id, reason).await?;
            Vec::new()
        }
    };
    let gone = std::iter::once(Line::new(format!("{held} was revoked"), json!({ "revoked": held })));
    let with_it = |grant: &Arc<Grant>| Line::new(format!("also ended: {grant}"), json!({ "revoked": grant.id }));
    Ok(gone.chain(fell.iter().map(with_it)).collect())
}

/// Returns an approver for the owner of `agent`.
fn answering_for(engine: &Engine, agent: &AgentId, by: ApproverId, means: Means) -> Result<Approver, Error> {
    let profile = engine.agents()?.into_iter().find(|profile| profile.id == *agent);
    let profile = profile.ok_or_else(|| Refusal::UnknownAgent(agent.clone()))?;
    Ok(engine.approver(&profile.owner, by, means))
}

/// Returns the pending request with this code or id.
fn waiting(engine: &Engine, named: &str) -> Result<Pending, Error> {
    let pending = engine.pending()?;
    if let Ok(id) = named.parse::<RequestId>() {
        let unknown = || match engine.resolution(id) {
            Ok(Some(how)) => Error::Refused(Refusal::AlreadyResolved(how)),
            Ok(None) => Error::Refused(Refusal::UnknownRequest(id)),
            Err(why) => why,
        };
        return pending.into_iter().find(|pending| pending.request.id == id).ok_or_else(unknown);
    }
    let code = named.trim().to_ascii_lowercase();
    let mut matching = pending.into_iter().filter(|pending| pending.request.code().to_string() == code);
    match (matching.next(), matching.next()) {
        (Some(pending), None) => Ok(pending),
        (Some(pending), Some(_)) => Err(Refusal::AmbiguousCode(pending.request.code()).into()),
        (None, _) => Err(match engine.resolution_with_code(&code)? {
            Some(how) => Refusal::AlreadyResolved(how).into(),
            None => Refusal::UnknownCode(Arc::from(named)).into(),
        }),
    }
}
