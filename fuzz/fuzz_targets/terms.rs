//! Any bytes as a term, which runs as a program: all suspensions give the same result, and it runs no
//! longer than it counts.
#![no_main]

use ptc_fuzz::common::{cost, probe};
use ptc_fuzz::counted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    counted(bytes, cost::program_of_terms);
    probe::program_of_terms(bytes);
});
