//! Any bytes as an answer to be repaired: the repair terminates, its result is of the type, and it
//! takes linear time and fuel.
#![no_main]

use ptc_fuzz::common::repairs;
use ptc_fuzz::counted;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    counted(text, repairs::repair_cost);
    repairs::repaired(text);
});
