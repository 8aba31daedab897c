//! Any bytes as an LLM's answer: the result is JSON from the text, found in linear time, and judged in pieces like at
//! once.
#![no_main]

use ptc_fuzz::common::answers;
use ptc_fuzz::within;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, answers::extractor_cost);
    answers::extractor(text);
    answers::judged(text);
});
