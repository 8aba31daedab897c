//! Any JSON: the written text reads as the same value, in linear time.
#![no_main]

use ptc_fuzz::common::codec;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, codec::cost);
    codec::round_trip(text);
});
