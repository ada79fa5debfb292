//! Tasks in files: when they are due, what they may do, and what becomes of their gates.

mod calendar;
mod expressions;
mod running;
mod stage;
