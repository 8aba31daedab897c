//! Any bytes: a signature whose text reads the same again, or a mistake at a place in the text.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| common::probe::signature(text));
