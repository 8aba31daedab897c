//! Any JSON as a program, checked against types: the check terminates, and gives the same type, findings and
//! reads when it is suspended after each unit of fuel; in linear time and memory.
#![no_main]

use ptc_fuzz::common::types;
use ptc_fuzz::counted;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    counted(text, types::check_cost);
    types::any_program(text);
});
