//! Tests the values of queries and headers.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| bestow_fuzz::texts::value(text));
