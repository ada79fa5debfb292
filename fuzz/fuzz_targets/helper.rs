//! Tests that the helper accepts or refuses any bytes. A refusal has a reason. The helper never panics and never
//! blocks. The readers of the host for leases, mounts, control groups and git's configuration never panic either.

#![no_main]

use bestow::sandbox::{helper_hears, host_reads};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    host_reads(bytes);
    // The bytes are also sent after their correct length: otherwise nearly all inputs fail at the length.
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    for bytes in [bytes.to_vec(), [&length, bytes].concat()] {
        if let Err(why) = helper_hears(&bytes) {
            assert!(!why.to_string().is_empty());
        }
    }
});
