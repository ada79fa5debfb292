//! Tests the file of credentials, and tokens.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| bestow_fuzz::texts::credentials(input.0, input.1));
