//! Any bytes: the reader agrees with serde_json and reports a mistake where it is.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| common::probe::reader(text));
