//! The decision: one `match` that maps a command to events or a refusal. It never changes the state.

mod actions;
mod agents;
mod config;
mod consequences;
mod credentials;
mod declared;
mod expiry;
mod grants;
mod mode;
mod policy_change;
mod processes;
mod requests;
mod restoration;
mod restriction;
mod resume;
mod route;
mod runs;
mod saved_decisions;
mod tool_policy;

use std::sync::Arc;

use crate::model::{Event, GrantId, HookCall, Timestamp};
#[cfg(feature = "sandbox")]
use crate::model::{SandboxViolation, ViolationId};

use self::tool_policy::Guarded;
use super::{
    Command, Refusal, State,
    command::{HookNews, NewAgent},
};

impl State {
    pub(super) fn decide(&self, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        match command {
            Command::Register { profile, run, permissions } => {
                self.register_agents(vec![NewAgent { profile, run, permissions }], now)
            }
            Command::RegisterAll { agents } => self.register_agents(agents, now),
            Command::Create { creator, profile, run, permissions, reason, broken } => {
                self.create_agent(&creator, profile, run, permissions, &reason, &broken, now)
            }
            Command::Retire { agent } => self.retire_by_hand(&agent, now),
            Command::BeginRun { agent, run, entering, by, owner } => {
                self.begin_run(&agent, run, entering, by, owner.as_ref(), now)
            }
            Command::Request { id, from, permissions, reason, scope, broken } => {
                self.request(id, &from, permissions, reason, scope, &broken, now)
            }
            Command::Answer { request, answer, modified, by } => {
                self.answer(request, answer, modified.as_deref(), by, now)
            }
            Command::Authorize { agent, action, opinions, request, broken } => {
                self.authorize(&agent, &action, &opinions, request, &broken, now)
            }
            Command::Act { agent, action, opinions, broken } => self.act(&agent, &action, &opinions, &broken, now),
            Command::ActConfined { agent, action, opinions, broken, applied } => {
                self.act_confined(&agent, &action, &opinions, &broken, applied, now)
            }
            Command::Enable { by, agent, action, reason } => self.enable(&by, &agent, &action, reason, now),
            Command::RevokeRuling { ruling, by, owner, reason } => {
                self.revoke_ruling(ruling, by, owner.as_ref(), reason)
            }
            Command::Declare { by, tools, taken } => self.declare_by(&by, &tools, taken),
            Command::DeclareTools { by, run, tools } => self.declare_tools(&by, run, tools),
            Command::SetPolicies { by, run, tool, is_declared, policies } => {
                self.set_policies(&by, &run, Guarded::of(tool.as_ref(), is_declared), &policies)
            }
            Command::UpdatePolicy { by, run, patch, is_declared, base } => {
                self.update_policy(&by, &run, &patch, is_declared, &base)
            }
            Command::Reconsider { by, actions } => Ok(self.reconsider(&by, &actions, now)),
            Command::SetMode { agent, mode, by, owner } => self.set_mode(&agent, mode, by, owner.as_ref()),
            Command::JudgeAgain { actions } => Ok(self.judge_again(&actions, now)),
            Command::Cancel { request, by } => self.cancel(request, &by, now),
            Command::Grant { from, to, permissions, reason, scope, broken } => {
                self.grant(&from, &to, permissions, &reason, scope, &broken, now)
            }
            Command::Give { by, to, permissions, reason, scope } => {
                self.give(&by, &to, permissions, &reason, scope, now)
            }
            Command::Revoke { grant, by, owner, reason } => self.revoke(grant, by, owner.as_ref(), reason),
            Command::Restore { by, undone } => self.restore(&by, &undone, now),
            Command::Connected { agent } => self.connected(agent),
            Command::Disconnected { agent } => Ok(self.disconnected(agent)),
            Command::UserActive { agent } => self.user_active(agent),
            Command::ApproverArrived { owner } => Ok(vec![Event::ApproverArrived { owner }]),
            Command::ApproverLeft { owner } => Ok(vec![Event::ApproverLeft { owner }]),
            Command::Configure { policy, run } => self.configure(policy, &run, now),
            Command::Narrowly(change) => self.narrowly(*change, now),
            Command::AgreeToWidening { by, owner, change, run } => {
                self.agree_to_widening(by, owner.as_ref(), change, &run, now)
            }
            Command::RejectConfig { why } => Ok(vec![Event::ConfigRejected { why }]),
            Command::PollConfig { why } => Ok(vec![Event::ConfigPolled { why }]),
            Command::ChangeCredential { order, by, means } => self.change_credential(order, by, means, now),
            #[cfg(feature = "journal")]
            Command::RefusePeer { peer, order, claims, why } => {
                Ok(vec![Event::PeerRefused { peer, order: order.into(), claims, why }])
            }
            #[cfg(feature = "sandbox")]
            Command::Sandboxed { agent, facts, cause, has_end } => {
                let facts = self.with_violations(&agent, facts)?;
                let command = has_end.then(|| self.commands.next());
                Ok(vec![Event::SandboxApplied { agent, facts, command, cause }])
            }
            #[cfg(feature = "sandbox")]
            Command::SandboxEnded { command, exit, .. } => Ok(self.commands.ended(command, exit).into_iter().collect()),
            #[cfg(feature = "sandbox")]
            Command::Violated { agent, violation, cause } => {
                let id = Some(ViolationId::new(self.next_violation));
                let violation = Arc::new(SandboxViolation { id, ..SandboxViolation::clone(&violation) });
                self.agent(&agent).map(|_| vec![Event::SandboxViolated { agent: agent.clone(), violation, cause }])
            }
            #[cfg(feature = "sandbox")]
            Command::StartProcess(starting) => self.start_process(starting, now),
            Command::StopProcess { process, order } => self.stop_process(process, order),
            #[cfg(feature = "sandbox")]
            Command::DenyProcess { process, why, .. } => Ok(self.deny_process(process, why)),
            #[cfg(feature = "sandbox")]
            Command::ProcessExited { process, exit, .. } => Ok(self.process_exited(process, exit)),
            Command::EndProcesses => Ok(self.end_processes()),
            Command::Resume { settings, cut, runs } => Ok(self.resume(settings, cut, runs)),
            Command::Hook { call, news } => self.agent(&call.agent).map(|_| vec![hook_told(call.clone(), news)]),
            #[cfg(feature = "schedule")]
            Command::Task(event) => Ok(vec![Event::Task(event)]),
            Command::Tick => Ok(self.tick(now)),
            Command::Shutdown => Ok(self.shutdown(now)),
        }
    }

    /// Decides only the restrictive part of a change of a policy file, of tool policies or of a mode. Returns no events
    /// for other commands.
    fn narrowly(&self, change: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        if let Command::Configure { policy, run } = change {
            return self.narrow_to_file(&policy, &run, now);
        }
        if let Command::SetPolicies { by, run, tool, is_declared, policies } = change {
            return self.narrow_policies(&by, &run, Guarded::of(tool.as_ref(), is_declared), &policies);
        }
        if let Command::UpdatePolicy { by, run, patch, is_declared, base } = change {
            return self.narrow_policy(&by, &run, &patch, is_declared, &base);
        }
        if let Command::SetMode { agent, mode, by, owner } = change {
            return self.narrow_mode(&agent, mode, by, owner.as_ref());
        }
        Ok(Vec::new())
    }

    /// Returns the ids for the grants that one command issues.
    fn fresh_ids(&self) -> impl Iterator<Item = GrantId> + use<> {
        (self.next_grant.max(1)..).map(GrantId::new)
    }
}

fn hook_told(call: Arc<HookCall>, news: HookNews) -> Event {
    match news {
        HookNews::Started => Event::HookStarted { call },
        HookNews::Completed { verdict, reason, updated_input_ref } => {
            Event::HookCompleted { call, verdict, reason, updated_input_ref }
        }
        HookNews::Failed { why } => Event::HookFailed { call, why, fail_closed: true },
    }
}
