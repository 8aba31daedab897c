//! Any JSON as a program, over terms derived from it: all forms of input and all suspensions give the
//! same result; it compiles in linear time.
#![no_main]

use ptc_fuzz::common::probe;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, probe::compile_cost);
    probe::program(text);
});
