//! The decision kernel: pure functions that map a state, a command and a moment to events or a refusal.
//!
//! The kernel never waits, never locks, creates no ids, and reads neither the clock nor the disk nor the environment.
//! [`State::execute`] is the only entry point. It decides, applies the events and applies their consequences under one
//! `&mut`, so nothing can change between the check and the action.

mod asked;
mod behind;
mod below;
mod command;
mod considered;
mod decide;
mod declared;
mod exec_scope;
mod guards;
mod image;
mod judge;
mod kept_from;
mod lineage;
#[cfg(feature = "journal")]
mod lost;
mod mentions;
mod meter;
mod obeyed;
mod permission_state;
mod processes;
mod protected;
mod refusal;
mod rights;
mod rules;
mod state;
mod support;
#[cfg_attr(not(feature = "schedule"), allow(dead_code, reason = "only scheduled tasks have files"))]
mod task_files;
mod uses;
mod why;
mod written;

pub(crate) use behind::only_takes;
pub(crate) use below::Spoken;
#[cfg(feature = "sandbox")]
pub(crate) use command::Starting;
pub(crate) use command::{Broken, Command, Entering, HookNews, Person, Start};
pub(crate) use considered::{Considered, Target};
pub(crate) use decide::StopOrder;
pub use exec_scope::ExecScope;
pub(crate) use judge::{Case, Judgement, Opinion, is_no_worse, judge};
pub use judge::{Explanation, Stage, Step, UseStep};
#[cfg(feature = "sandbox")]
pub(crate) use kept_from::KeptFrom;
#[cfg(feature = "journal")]
pub(crate) use lost::Lost;
pub(crate) use mentions::Mentions;
pub(crate) use meter::{Carried, Meter};
pub use permission_state::{ModeAbove, PermissionState, StatedPolicies, StatedRight, StatedRule, StatedViolation};
pub(crate) use protected::{Protected, Standing};
pub use refusal::Refusal;
pub use rights::Check;
pub(crate) use rights::{Ground, Rights, check, compile, extend};
#[cfg(feature = "config")]
pub(crate) use rules::Rules;
pub(crate) use state::{Agent as Known, State, Waiting};
pub(crate) use support::lasting;
#[cfg(feature = "schedule")]
pub(crate) use task_files::WriteEnds;
pub(crate) use uses::{Use, operation_for, operation_of};
pub use why::Support;

use crate::model::{Event, Timestamp};

impl State {
    /// Returns the events that `command` causes directly, without their consequences.
    pub(crate) fn would(&self, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        self.decide(command, now)
    }

    /// Carries out `command`. A refused command changes nothing.
    pub(crate) fn execute(&mut self, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let events = self.decide(command, now)?;
        Ok(self.carry_on(events, now))
    }

    /// Applies decided events and then their consequences.
    fn carry_on(&mut self, mut events: Vec<Event>, now: Timestamp) -> Vec<Event> {
        events.iter().for_each(|event| self.apply(event));
        // Grants without support are revoked first. Pending requests are then compared with the grants that remain.
        let all = [
            State::falls,
            State::gifts_follow,
            State::noes_follow,
            State::guards_follow,
            State::silence,
            State::requests_follow,
            State::processes_follow,
        ];
        for consequences in all {
            let more = consequences(self, &events, now);
            more.iter().for_each(|event| self.apply(event));
            events.extend(more);
        }
        self.with_losses_told(events, now)
    }
}

#[cfg(all(test, feature = "property-tests"))]
mod tests;
