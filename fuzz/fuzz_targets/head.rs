//! Tests the headers of requests: names, origins, secrets, keys.

#![no_main]

use libfuzzer_sys::fuzz_target;

/// Five parts of a head.
type Parts<'t> = (&'t [u8], &'t [u8], &'t [u8], &'t [u8], &'t [u8]);

fuzz_target!(|input: Parts<'_>| {
    bestow_fuzz::native::head(input.0, input.1, input.2, input.3, input.4);
});
