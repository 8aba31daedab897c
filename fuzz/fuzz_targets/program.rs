//! Any JSON as a program, over terms derived from it: all forms of input and all suspensions give the
//! same result; it compiles in linear time, and runs no longer than it counts.
#![no_main]

use ptc_fuzz::common::{cost, probe};
use ptc_fuzz::{counted, within};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, probe::compile_cost);
    counted(text, cost::program);
    probe::program(text);
});
