//! Any bytes: the index accepts what the reader accepts, and the tree has the values of the document.
#![no_main]

use ptc_fuzz::within;

#[path = "../../native/ptc_index/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    within(text, common::cost);
    common::agree(text);
});
