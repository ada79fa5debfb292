//! Tests the policy file.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| bestow_fuzz::files::policy(text));
