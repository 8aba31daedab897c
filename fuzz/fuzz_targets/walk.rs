//! Any bytes as a type and a value: the walks of signatures give the same result as the oracle, and
//! count linear fuel for values with shared parts too.
#![no_main]

use ptc_fuzz::common::{shared, walks};
use ptc_fuzz::counted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    counted(bytes, shared::walk_cost);
    walks::walk(bytes);
});
