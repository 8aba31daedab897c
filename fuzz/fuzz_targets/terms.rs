//! Any bytes as a term, which runs as a program: it ends the same way wherever it is left.
#![no_main]

use ptc_fuzz::common::probe;

libfuzzer_sys::fuzz_target!(|text: &[u8]| probe::program_of_terms(text));
