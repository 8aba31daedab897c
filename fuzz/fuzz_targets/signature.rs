//! Any bytes: a signature whose text reads the same again, or a mistake at a place in the text; in
//! linear time.
#![no_main]

#[path = "../../native/ptc_core/tests/common/mod.rs"]
mod common;

use ptc_fuzz::{within, Ceiling};

/// Some four times what was measured.
const CEILING: Ceiling = Ceiling {
    bytes_per_byte: 1_000,
    nanoseconds_per_byte: 1_000,
};

libfuzzer_sys::fuzz_target!(|text: &[u8]| within(CEILING, text, common::probe::signature));
