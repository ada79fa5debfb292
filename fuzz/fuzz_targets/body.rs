//! Tests the bodies of requests, and the frames of `/ws/permissions`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| bestow_fuzz::texts::body(text));
