//! Any text as a program of PTC-Lisp, and any bytes as choices of one: it runs no longer than it counts, and has the same end in executions of any
//! length.
#![no_main]

use ptc_fuzz::common::cost::Cost;
use ptc_fuzz::{counted, lisp};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let made = lisp::generate::program(bytes);
    for text in [std::str::from_utf8(bytes).ok(), Some(made.as_str())].into_iter().flatten() {
        counted(text.as_bytes(), |_| {
            let (fuel, words) = lisp::cost(text);
            Cost { fuel, words }
        });
        lisp::runs(text);
    }
});
