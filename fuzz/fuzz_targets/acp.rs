//! Tests the lines of the Agent Client Protocol.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| bestow_fuzz::lines::acp(line));
