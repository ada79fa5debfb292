//! Tests the headers of requests: names, origins, secrets, keys.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8], &[u8], &[u8], &[u8])| {
    bestow_fuzz::native::head(input.0, input.1, input.2, input.3, input.4);
});
