//! Where a text occurs in another, as `String.split/2` and `String.replace/3` find it: from the left, without overlap.

use memchr::memmem::Finder;

/// Bytes of text per unit of fuel.
const BYTES_A_UNIT: usize = 16;
/// Bytes of text that are searched in one step.
const PIECE: usize = 1 << 16;

/// The places of a part in a text.
#[derive(Debug)]
pub struct Occurrences<'t> {
    text: &'t [u8],
    finder: Finder<'t>,
    /// No further occurrence begins before this.
    searched: usize,
}

impl<'t> Occurrences<'t> {
    /// Searches from `at` on. `part` is not empty.
    pub fn new(text: &'t [u8], part: &'t [u8], at: usize) -> Self {
        Occurrences {
            text,
            finder: Finder::new(part),
            searched: at,
        }
    }

    /// Returns the units of fuel to prepare the search for a part.
    pub fn cost(part: &[u8]) -> usize {
        1 + part.len() / BYTES_A_UNIT
    }

    /// Returns where the next occurrence begins, and continues after it. Calls `count` before each piece, with its
    /// cost. When that fails, the search can go on.
    pub fn next<E>(
        &mut self,
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let part = self.finder.needle().len();
        let piece = PIECE.max(2 * part);
        loop {
            let end = self.text.len().min(self.searched + piece);
            if end - self.searched < part {
                return Ok(None);
            }
            // A short distance costs little: the search ends at the occurrence.
            if let Some(place) = self.finder.find(&self.text[self.searched..end]) {
                let place = self.searched + place;
                count(1 + (place - self.searched) / BYTES_A_UNIT)?;
                self.searched = place + part;
                return Ok(Some(place));
            }
            count(1 + (end - self.searched) / BYTES_A_UNIT)?;
            // An occurrence may cross the end of the piece.
            self.searched = end - part.saturating_sub(1);
            if end == self.text.len() {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, part: &str) -> Vec<usize> {
        let mut found = Occurrences::new(text.as_bytes(), part.as_bytes(), 0);
        let next = || found.next(|_| Ok::<(), ()>(())).unwrap_or(None);
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn from_the_left_without_overlap() {
        assert_eq!(places("aaa", "aa"), [0]);
        assert_eq!(places("aXXbXXXc", "XX"), [1, 4]);
        assert_eq!(places("čabčd", "č"), [0, 4]);
        assert_eq!(places("", "a"), []);
    }

    #[test]
    fn across_pieces() {
        let text = format!("{}ab{}ab", "x".repeat(PIECE - 1), "y".repeat(2 * PIECE));
        assert_eq!(places(&text, "ab"), [PIECE - 1, 3 * PIECE + 1]);
        let long = "ab".repeat(PIECE);
        assert_eq!(places(&format!("{long}{long}"), &long), [0, 2 * PIECE]);
    }
}
