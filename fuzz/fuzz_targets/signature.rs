//! Any bytes: a signature whose text reads the same again, or a mistake at a place in the text; in
//! linear time.
#![no_main]

use ptc_fuzz::common::probe;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| within(text, probe::signature));
