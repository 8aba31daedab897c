//! Any bytes as an LLM's answer: what is found in it is JSON that stands in it.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| common::answers::extractor(text));
