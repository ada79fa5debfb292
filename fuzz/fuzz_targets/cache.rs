//! Tests the file with the directories that a sandbox remembers.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    bestow_fuzz::files::cache(bytes);
});
