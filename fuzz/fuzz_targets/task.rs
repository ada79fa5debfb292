//! Tests the files of tasks.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| bestow_fuzz::files::task(text));
