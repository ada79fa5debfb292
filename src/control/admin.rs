//! The orders of a person.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Admin, GrantOrDecisionId, ProcessCall};
use crate::{
    engine::{Engine, Error},
    model::{
        AgentId, ApproverId, CredentialOrder, Escaped, Grant, HeldChange, Means, Mode, Pending, Permission, Reason,
        RecordedCredential, RequestId, Scope,
    },
};

use super::{
    admission::own_means,
    answer::{self, Approval, GivenAnswer},
    modified,
    news::{RequestNews, WaitingRequest},
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
    /// Follows the requests that wait. The first reply has everything that waits now. The engine sends further replies
    /// until it ends, or until the sender closes the connection.
    Follow {
        /// The requests that waited when the sender last knew. The end of each of them is in the first reply.
        #[serde(default)]
        known: Vec<RequestId>,
        /// The person who sees the requests there, if the sender speaks for one who can answer. Until the connection
        /// closes, that person counts as present for every owner.
        #[serde(default)]
        attends: Option<ApproverId>,
    },
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
    /// Verifies that a person gives orders here. It changes nothing, and needs what an order needs that does.
    Verify {
        /// The person.
        by: ApproverId,
    },
    /// Shows the credentials of the clients of a server, without their secrets.
    Credentials,
    /// Creates, rotates or revokes a credential.
    Credential {
        /// The change. It has only a hash of the secret.
        change: CredentialOrder,
        /// The person who changes it.
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
        /// The permissions that an approval gives. The others are denied. If missing, all are given.
        #[serde(default)]
        permissions: Option<Vec<Permission>>,
        /// The command that an approval allows instead of the requested one.
        #[serde(default)]
        instead: Option<String>,
        /// The person who answers.
        by: ApproverId,
    },
    /// Judges another command in place of the requested one. Nothing is decided.
    Judge {
        /// The code or the id of the request.
        request: String,
        /// The command.
        instead: String,
    },
}

impl AdminCommand {
    /// Returns the name of the order, and the person who gives it, where that matters.
    pub(super) fn told(&self) -> (&'static str, Option<&ApproverId>) {
        match self {
            AdminCommand::Grants { .. } => ("grants", None),
            AdminCommand::Why { .. } => ("why", None),
            AdminCommand::Requests => ("requests", None),
            AdminCommand::Follow { .. } => ("follow", None),
            AdminCommand::Judge { .. } => ("judge", None),
            AdminCommand::State { .. } => ("state", None),
            AdminCommand::Credentials => ("credentials", None),
            AdminCommand::Verify { by } => ("verify", Some(by)),
            AdminCommand::Agree { by, .. } => ("agree", Some(by)),
            AdminCommand::Mode { by, .. } => ("mode", Some(by)),
            AdminCommand::Revoke { by, .. } => ("revoke", Some(by)),
            AdminCommand::Process { by, .. } => ("process", Some(by)),
            AdminCommand::Credential { by, .. } => ("credential", Some(by)),
            AdminCommand::Answer { by, .. } => ("answer", Some(by)),
        }
    }

    /// Returns true if a person has to be verified, because the order changes something.
    pub(super) fn changes(&self) -> bool {
        match self {
            AdminCommand::Grants { .. }
            | AdminCommand::Why { .. }
            | AdminCommand::Requests
            | AdminCommand::Follow { .. }
            | AdminCommand::Judge { .. }
            | AdminCommand::Credentials
            | AdminCommand::State { .. } => false,
            AdminCommand::Mode { mode, .. } => mode.is_some(),
            AdminCommand::Process { call, .. } => call.changes(),
            AdminCommand::Agree { .. }
            | AdminCommand::Credential { .. }
            | AdminCommand::Verify { .. }
            | AdminCommand::Revoke { .. }
            | AdminCommand::Answer { .. } => true,
        }
    }
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
/// and the request stays pending. Where the runs go on in the next engine, approvals go on, too.
pub async fn carry_out_and_end(engine: &Engine, order: AdminCommand) -> Reply {
    let lasts = match engine.runs_go_on() {
        Ok(true) => Ok(()),
        Ok(false) => would_last(engine, &order),
        Err(why) => Err(why.into()),
    };
    match lasts {
        Ok(()) => carry_out(engine, order).await,
        Err(why) => why.into_reply(),
    }
}

/// Refuses an approval that would end with the engine. A run ends with its engine, and so do its approvals: every one
/// for the session, and a one-time approval of an action.
fn would_last(engine: &Engine, order: &AdminCommand) -> Result<(), NotDone> {
    let AdminCommand::Answer { request, verdict: Approval::Approve, scope, .. } = order else { return Ok(()) };
    let asked = Admin::of_every_owner(engine, own_means()).waiting(request)?.request;
    let is_action = asked.action.is_some();
    let scope = scope.unwrap_or(asked.scope_if_none_is_named());
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
    let admin = Admin::of_every_owner(engine, Arc::clone(&means));
    match order {
        AdminCommand::Grants { agent } => Ok(grants(&admin, agent.as_ref())?),
        AdminCommand::Why { agent, permission } => why(&admin, &agent, &permission),
        AdminCommand::Requests => {
            let held = admin.held_change()?;
            let request = |pending: &Pending| WaitingRequest::of(pending, &admin).line();
            Ok(admin.pending()?.iter().map(request).chain(held.as_ref().map(held_change)).collect())
        }
        // Only the control socket goes on after the first reply.
        AdminCommand::Follow { known, .. } => Ok(admin.follow(known)?.first().iter().map(RequestNews::line).collect()),
        AdminCommand::Agree { change, by } => {
            let what = admin.agree(change, by.clone()).await?;
            Ok(vec![Line::new(format!("change {change} took effect, approved by {by}"), json!({ "agreed": what }))])
        }
        AdminCommand::State { agent } => {
            let state = admin.state(&agent)?;
            Ok(vec![Line::new(&state, json!(state))])
        }
        AdminCommand::Mode { agent, mode, by } => {
            if let Some(mode) = mode {
                admin.set_mode(&agent, mode, by).await?;
            }
            let mode = admin.profile(&agent)?.mode;
            Ok(vec![Line::new(format!("{agent} is in mode {mode}"), json!({ "agent": agent, "mode": mode }))])
        }
        AdminCommand::Verify { .. } => Ok(Vec::new()),
        AdminCommand::Credentials => Ok(engine.credentials().iter().map(|known| credential(known)).collect()),
        AdminCommand::Credential { change, by } => {
            let known = engine.change_credential(change, Some(by), means).await?;
            Ok(vec![credential(&known)])
        }
        AdminCommand::Process { call, by } => super::process::carry_out(engine, call, by, means).await,
        AdminCommand::Revoke { held, reason, by } => Ok(revoke(&admin, held, reason, by).await?),
        AdminCommand::Judge { request, instead } => {
            modified::judge(&admin, &admin.waiting(&request)?.request, &instead)
        }
        AdminCommand::Answer { request, verdict, scope, feedback, permissions, instead, by } => {
            let given = GivenAnswer { verdict, scope, feedback, permissions, instead };
            answer::give(engine, &admin, &request, given, by).await
        }
    }
}

/// Returns the provenance of a permission, link by link.
fn why(admin: &Admin, agent: &AgentId, permission: &Permission) -> Result<Vec<Line>, NotDone> {
    let chain = admin.why(agent, permission)?;
    if chain.is_empty() {
        return Err(NotDone::Refused(format!(
            "agent `{agent}` does not hold `{}`: add it to the `permissions` of the agent in the policy file, or \
             approve a request of the agent",
            Escaped(&permission.to_string())
        )));
    }
    Ok(chain.iter().map(|link| Line::new(link, json!(link.to_string()))).collect())
}

fn grants(admin: &Admin, agent: Option<&AgentId>) -> Result<Vec<Line>, Error> {
    let profiles = admin.agents()?;
    let owner = |agent: &AgentId| profiles.iter().find(|profile| profile.id == *agent).map(|profile| &profile.owner);
    let grants = admin.grants(agent)?;
    let grants = grants.iter().map(|grant| {
        let mut json = json!(**grant);
        if let (Value::Object(fields), Some(owner)) = (&mut json, owner(&grant.to)) {
            fields.insert("owner".to_owned(), json!(owner));
        }
        Line::new(grant, json)
    });
    let saved = admin.saved_decisions(agent)?;
    Ok(grants.chain(saved.iter().map(|saved| Line::new(saved, json!(**saved)))).collect())
}

fn credential(known: &RecordedCredential) -> Line {
    Line::new(format_args!("the credential {} of {}", known.id, known.holder), json!(known))
}

fn held_change(held: &HeldChange) -> Line {
    Line::new(held, json!({ "held_back": held }))
}

async fn revoke(
    admin: &Admin,
    held: GrantOrDecisionId,
    reason: Option<Reason>,
    by: ApproverId,
) -> Result<Vec<Line>, Error> {
    let revocation = admin.revoke(held, reason, by).await?;
    let gone = std::iter::once(Line::new(format!("{held} was revoked"), json!({ "revoked": held })));
    let with_it = |grant: &Arc<Grant>| Line::new(format!("also ended: {grant}"), json!({ "revoked": grant.id }));
    Ok(gone.chain(revocation.also_ended().iter().map(with_it)).collect())
}
