//! The Agent Client Protocol: the wrapper between an editor and an agent, and bestow as an agent of an editor.

mod copies;
mod foreground;
#[cfg(feature = "cli")]
mod process;
#[cfg(feature = "cli")]
mod real;
mod support;
mod wrap;
