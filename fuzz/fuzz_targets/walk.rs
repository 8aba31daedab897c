//! Any bytes as a type and a value: the walks of signatures give the same result as the oracle.
#![no_main]

use ptc_fuzz::common::walks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| walks::walk(bytes));
