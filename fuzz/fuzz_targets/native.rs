//! Tests the paths, queries and bodies of the server.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str, &[u8])| bestow_fuzz::native::request(input.0, input.1, input.2));
