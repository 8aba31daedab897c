//! Any bytes as an answer to be repaired: it ends, and what comes out is of the type.
#![no_main]

use ptc_fuzz::common::repairs;

libfuzzer_sys::fuzz_target!(|text: &[u8]| repairs::repaired(text));
