//! Any bytes as an answer to be repaired: the repair terminates, and its result is of the type.
#![no_main]

use ptc_fuzz::common::repairs;

libfuzzer_sys::fuzz_target!(|text: &[u8]| repairs::repaired(text));
