//! Remarks of the wrapper for people.

use std::{
    io::{Write as _, stderr},
    sync::Arc,
};

use bestow::text::Escaped;
use bestow_hosts::acp::Log;

/// The receiver of remarks, on standard error.
pub(super) fn log() -> Log {
    Arc::new(|remark| {
        // One write, because the agent writes there, too. Without it, the protocol goes on.
        let line = format!("bestow: {}\n", Escaped(remark));
        let _ = stderr().lock().write_all(line.as_bytes());
    })
}
