//! Tests the lines of the Model Context Protocol.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], u8)| bestow_fuzz::lines::mcp(input.0, input.1));
