//! The Agent Client Protocol: the wrapper between an editor and an agent, and bestow as an agent of an editor.

mod copies;
mod support;
mod wrap;
