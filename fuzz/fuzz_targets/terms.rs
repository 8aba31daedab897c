//! Any bytes as a term, which runs as a program: it ends the same way wherever it is left.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| common::probe::program_of_terms(text));
