//! Any bytes: a signature whose rendered text parses to the same signature, or an error with an offset
//! in the text; in linear time.
#![no_main]

use ptc_fuzz::common::probe;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| within(text, probe::signature));
