//! Any text as a program of PTC-Lisp: its forms, or its error, stand in the text; linear time and memory.
#![no_main]

use ptc_fuzz::{lisp, within};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        within(bytes, |_| lisp::reads(text));
    }
});
