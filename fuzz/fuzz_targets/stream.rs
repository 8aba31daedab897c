//! Any bytes as an LLM's answer: a stream of it halts only where it is no object, wherever it is cut.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| common::answers::stream(text));
