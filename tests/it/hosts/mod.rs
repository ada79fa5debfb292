//! Tests of sessions of coding agents, and of the hooks with which their hosts ask.

mod forms;
mod install;
mod places;
mod processes;
pub(crate) mod real;
mod room;
mod served;
mod sessions;
mod stage;
mod waiting;
