//! Whatever reaches the helper is something to do, or is refused with a reason; it panics at nothing and waits for nothing.

#![no_main]

use bestow::sandbox::helper_hears;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // As it is, and behind a length that is right: otherwise nearly everything ends there.
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    for bytes in [bytes.to_vec(), [&length, bytes].concat()] {
        if let Err(why) = helper_hears(&bytes) {
            assert!(!why.to_string().is_empty());
        }
    }
});
