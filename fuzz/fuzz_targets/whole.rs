//! Any bytes as a term: its weight, its normal forms, names in other spellings and lines of errors are
//! those of oracles, and fuel covers the work.
#![no_main]

use ptc_fuzz::common::whole;
use ptc_fuzz::counted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    counted(bytes, whole::whole_cost);
    whole::whole(bytes);
});
