//! Tests the orders of the control socket.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| bestow_fuzz::lines::control(bytes));
