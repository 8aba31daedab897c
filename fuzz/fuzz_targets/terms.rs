//! Any bytes as a term, which runs as a program: all suspensions give the same result.
#![no_main]

use ptc_fuzz::common::probe;

libfuzzer_sys::fuzz_target!(|text: &[u8]| probe::program_of_terms(text));
