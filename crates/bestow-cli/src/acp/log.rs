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
        // Without it, the protocol goes on.
        let _ = writeln!(stderr().lock(), "bestow: {}", Escaped(remark));
    })
}
