//! The decision kernel: pure functions that map a state, a command and a moment to events or a refusal.
//!
//! The kernel never waits, never locks, creates no ids, and reads neither the clock nor the disk nor the environment.
//! [`State::execute`] is the only entry point. It decides, applies the events and applies their consequences under one
//! `&mut`, so nothing can change between the check and the action.

mod action_uses;
mod agent;
mod ancestry;
mod authorization;
mod below;
mod cascade;
mod command;
mod command_match;
mod compact_grant;
mod compiled_permissions;
mod credentials;
mod decide;
mod declared;
mod exec_scope;
mod held_grants;
mod image_form;
mod judged;
mod keyed_writes;
mod kin;
mod meter;
mod obeyed;
mod pairs;
mod permission_state;
mod person_orders;
mod processes;
mod protected;
mod provenance;
mod published_state;
#[cfg(feature = "journal")]
mod recovery;
mod refusal;
mod request_budget;
mod resolved_action;
mod retired;
mod rules;
mod run_guards;
mod running_commands;
mod sandbox_denials;
#[cfg(any(feature = "journal", all(test, feature = "property-tests")))]
mod snapshot;
mod state;
mod support;
mod target;
#[cfg_attr(not(feature = "schedule"), allow(dead_code, reason = "only scheduled tasks have files"))]
mod task_files;
mod tool_policy;
mod unknown_tool_input;
mod write_once;
mod write_roots;
mod written;

pub(crate) use action_uses::{Use, operation_for, operation_of};
pub(crate) use agent::Agent as Known;
pub(crate) use authorization::{Evaluation, EvaluationInput, HookVerdict, evaluate, is_no_worse};
pub use authorization::{Explanation, Stage, Step, UseStep};
pub(crate) use below::Spoken;
#[cfg(feature = "sandbox")]
pub(crate) use command::Starting;
pub(crate) use command::{Command, Entering, HookNews, NewAgent, Person, RunsAtOpen, StaleGrants, Start, StopOrder};
pub(crate) use compact_grant::CompactGrant;
pub use compiled_permissions::Check;
pub(crate) use compiled_permissions::{CompiledPermissions, SharedLimits, check, compile, extend, revise};
pub(crate) use credentials::Credentials;
pub use exec_scope::ExecScope;
pub(crate) use held_grants::HeldGrants;
pub(crate) use meter::{Carried, Meter};
pub use permission_state::{ModeAbove, PermissionState, StatedPermission, StatedPolicies, StatedRule, StatedViolation};
pub(crate) use protected::{Protected, Standing};
pub use provenance::ProvenanceStep;
pub(crate) use published_state::only_takes;
#[cfg(feature = "journal")]
pub(crate) use recovery::LostRevocations;
pub use refusal::{CredentialRefusal, Refusal};
pub(crate) use resolved_action::ResolvedAction;
#[cfg(feature = "config")]
pub(crate) use rules::Rules;
#[cfg(feature = "sandbox")]
pub(crate) use sandbox_denials::SandboxDenials;
#[cfg(feature = "journal")]
pub(crate) use snapshot::ReplayedState;
pub(crate) use state::{State, Waiting};
pub(crate) use support::lasting;
pub(crate) use target::Target;
#[cfg(feature = "schedule")]
pub(crate) use task_files::WriteEnds;
pub(crate) use unknown_tool_input::InputText;
pub(crate) use write_once::CurrentWrite;

use crate::model::{Event, Timestamp};

impl State {
    /// Returns the events that `command` causes directly, without their consequences.
    pub(crate) fn would(&self, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        self.decide(command, now)
    }

    /// Applies decided events and then their consequences.
    fn carry_on(&mut self, mut events: Vec<Event>, now: Timestamp) -> Vec<Event> {
        events.iter().for_each(|event| self.apply(event));
        // Grants without support are revoked first. Pending requests are then compared with the grants that remain.
        let all = [
            State::cascade,
            State::gifts_follow,
            State::update_denials,
            State::guards_follow,
            State::silence,
            State::requests_follow,
            State::processes_follow,
            State::credentials_follow,
        ];
        for consequences in all {
            let more = consequences(self, &events, now);
            more.iter().for_each(|event| self.apply(event));
            events.extend(more);
        }
        self.with_losses_told(events, now)
    }
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
pub(crate) mod tests;
