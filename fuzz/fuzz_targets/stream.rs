//! Any bytes as an LLM's answer: its stream halts only if it is not an object, for all chunk
//! boundaries, and takes linear time.
#![no_main]

use ptc_fuzz::common::answers;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, answers::stream_cost);
    answers::stream(text);
});
