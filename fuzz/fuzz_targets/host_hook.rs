//! Tests the texts that hosts send to their hooks.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| bestow_fuzz::hooks::host_hook(input.0, input.1));
