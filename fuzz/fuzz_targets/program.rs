//! Any JSON as a program, over terms made up from it: it ends the same way, however it is given
//! and wherever it is left; it is compiled in linear time.
#![no_main]

use ptc_fuzz::common::probe;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, probe::compile_cost);
    probe::program(text);
});
