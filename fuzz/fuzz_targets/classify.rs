//! Tests the classifier of commands.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| bestow_fuzz::texts::command(text));
