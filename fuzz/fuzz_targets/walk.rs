//! Any bytes as a type and a value: the walks of signatures come to what the oracle says.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::walks::walk(bytes));
