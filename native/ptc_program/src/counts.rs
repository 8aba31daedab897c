//! Counts the programs that are read and compiled. For tests; off by default.
//!
//! While it is off, a program that is loaded costs one relaxed load more.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static ON: AtomicBool = AtomicBool::new(false);
static COUNTS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub enum Counted {
    /// A text that was read into a table.
    Text,
    /// A term that was copied into a table.
    Term,
    /// A walk of the compiler, with or without instructions at its end.
    Compiled,
}

/// Switches the counting on, from zero, or off.
pub fn switch(on: bool) {
    for count in &COUNTS {
        count.store(0, Relaxed);
    }
    ON.store(on, Relaxed);
}

/// Counts one.
#[inline]
pub(crate) fn count(what: Counted) {
    if ON.load(Relaxed) {
        COUNTS[what as usize].fetch_add(1, Relaxed);
    }
}

/// Returns the numbers of texts, of terms and of walks since the counting was switched on.
pub fn counts() -> (u64, u64, u64) {
    let [texts, terms, walks] = COUNTS.each_ref().map(|count| count.load(Relaxed));
    (texts, terms, walks)
}
