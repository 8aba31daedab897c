//! Any bytes as a type and a value: the walks of signatures give the same result as the oracle, and
//! count linear fuel for values with shared parts too; and as a type and a JSON text, which is judged as what it is decoded to.
#![no_main]

use ptc_fuzz::common::{judging, shared, walks};
use ptc_fuzz::counted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    counted(bytes, shared::walk_cost);
    walks::walk(bytes);
    judging::judge(bytes);
});
