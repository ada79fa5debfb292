//! Tests the texts that a hook reads.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, &[u8])| bestow_fuzz::hooks::hook(input.0, input.1));
