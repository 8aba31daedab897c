//! Memory that a thread keeps of work that is done, for the next work of its kind.

use std::cell::Cell;
use std::thread::LocalKey;

/// Maximum words that a thread keeps of one kind of work.
pub const MOST_WORDS: usize = 16_384;

/// Keeps the memory that `made` returns at `place`, if it is not large.
pub fn keep<T>(place: &'static LocalKey<Cell<Option<T>>>, words: usize, made: impl FnOnce() -> T) {
    if words <= MOST_WORDS {
        // The thread-local is not accessible while the thread ends.
        let _ = place.try_with(|place| place.set(Some(made())));
    }
}
