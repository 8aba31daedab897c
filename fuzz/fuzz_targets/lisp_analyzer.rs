//! Any text as a program of PTC-Lisp, and any bytes as choices of one: it is analyzed and compiled, or its error stands in the text; the instructions
//! verify; linear time and memory.
#![no_main]

use ptc_fuzz::{lisp, within};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        within(bytes, |_| lisp::analyzes(text));
    }
    let text = lisp::generate::program(bytes);
    within(text.as_bytes(), |_| lisp::analyzes(&text));
});
