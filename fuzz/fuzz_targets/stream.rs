//! Any bytes as an LLM's answer: a stream of it halts only where it is no object, wherever it is cut,
//! and takes linear time.
#![no_main]

use ptc_fuzz::common::answers;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, answers::stream_cost);
    answers::stream(text);
});
