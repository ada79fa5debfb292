//! Tests the lines of bots.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], u8)| bestow_fuzz::lines::stdio(input.0, input.1));
