//! Any JSON as a program, over terms made up from it: it ends the same way, however it is given
//! and wherever it is left.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| common::probe::program(text));
