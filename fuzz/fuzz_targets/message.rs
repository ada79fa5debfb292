//! Tests the messages of `/ws` and of bots.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| bestow_fuzz::texts::message(text));
