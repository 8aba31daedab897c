//! Any bytes as an answer to be repaired: it ends, and what comes out is of the type.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| common::repairs::repaired(text));
