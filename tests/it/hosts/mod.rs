//! Tests of sessions of coding agents, and of the hooks with which their hosts ask.

mod claude_code;
mod forms;
mod install;
mod places;
mod processes;
mod room;
mod served;
mod sessions;
mod stage;
mod waiting;
