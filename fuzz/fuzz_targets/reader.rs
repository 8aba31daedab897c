//! Any bytes: the reader agrees with serde_json, reports the correct offset of an error, and takes
//! linear time.
#![no_main]

use ptc_fuzz::common::probe;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, probe::reader_cost);
    probe::reader(text);
});
