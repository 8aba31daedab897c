//! Any JSON as a program, over terms made up from it: it ends the same way, however it is given
//! and wherever it is left; it is compiled in linear time.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

use ptc_fuzz::{within, Ceiling};

/// Some four times what was measured.
const CEILING: Ceiling = Ceiling {
    bytes_per_byte: 1_000,
    nanoseconds_per_byte: 1_000,
};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(CEILING, text, common::probe::compile_cost);
    common::probe::program(text);
});
