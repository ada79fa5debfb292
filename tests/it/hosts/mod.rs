//! Tests of sessions of coding agents, and of the hooks with which their hosts ask.

mod forms;
mod install;
mod own_tools;
mod places;
mod processes;
pub(crate) mod real;
mod reasons;
mod room;
mod served;
mod sessions;
mod stage;
mod tool_schemas;
mod waiting;
