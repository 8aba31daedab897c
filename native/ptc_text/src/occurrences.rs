//! Where a text occurs in another, as `String.split/2` and `String.replace/3` find it: from the left, without overlap.

use memchr::memmem::{find, rfind, Finder};

/// Bytes of text per unit of fuel.
const BYTES_A_UNIT: usize = 16;
/// Bytes of a part that are prepared per unit.
const BYTES_PREPARED_A_UNIT: usize = 2;
/// Bytes of text that are searched in one step.
const PIECE: usize = 1 << 16;

/// The places of a part in a text.
#[derive(Debug, Clone)]
pub struct Occurrences {
    finder: Finder<'static>,
    /// No further occurrence begins before this.
    searched: usize,
    /// An occurrence that has been found.
    found: Option<usize>,
}

impl Occurrences {
    /// Prepares a search. `part` is not empty.
    pub fn new(part: &[u8]) -> Self {
        Occurrences {
            finder: Finder::new(part).into_owned(),
            searched: 0,
            found: None,
        }
    }

    /// Returns the length of the part.
    pub fn length(&self) -> usize {
        self.finder.needle().len()
    }

    /// Returns the units of fuel to prepare the search for a part of this length.
    pub fn cost(length: usize) -> usize {
        1 + length / BYTES_PREPARED_A_UNIT
    }

    /// Returns where the next occurrence begins; the same again until it is [taken](Self::take). Calls `count` before each
    /// piece, with its cost. When that fails, the search goes on with the next call.
    pub fn next<E>(
        &mut self,
        text: &[u8],
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let part = self.length();
        let piece = PIECE.max(2 * part);
        while self.found.is_none() {
            let end = text.len().min(self.searched + piece);
            if end - self.searched < part {
                break;
            }
            // A short distance costs little: the search ends at the occurrence.
            let place = self.finder.find(&text[self.searched..end]);
            count(1 + place.unwrap_or(end - self.searched) / BYTES_A_UNIT)?;
            match place {
                Some(place) => self.found = Some(self.searched + place),
                // An occurrence may cross the end of the piece.
                None => self.searched = end - (part - 1),
            }
        }
        Ok(self.found)
    }

    /// Continues after the occurrence that [`Self::next`] has returned.
    pub fn take(&mut self) {
        if let Some(place) = self.found.take() {
            self.searched = place + self.length();
        }
    }
}

/// Returns whether a part occurs in a text that is short enough to be searched in one step.
pub fn contains(text: &[u8], part: &[u8]) -> bool {
    find(text, part).is_some()
}

/// Returns where the last occurrence of a part begins that ends at `end` or before; it may overlap others. The part is not
/// empty. Calls `count` before each piece, with its cost. If that fails, it goes on with the same `end`.
pub fn last_place<E>(
    text: &[u8],
    part: &[u8],
    end: &mut usize,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<Option<usize>, E> {
    let piece = PIECE.max(2 * part.len());
    while *end >= part.len() {
        let start = end.saturating_sub(piece);
        count(1 + (*end - start) / BYTES_A_UNIT)?;
        if let Some(place) = rfind(&text[start..*end], part) {
            return Ok(Some(start + place));
        }
        if start == 0 {
            break;
        }
        // An occurrence may cross the start of the piece.
        *end = start + part.len() - 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, part: &str) -> Vec<usize> {
        let mut found = Occurrences::new(part.as_bytes());
        let next = || {
            found.take();
            let next: Result<_, ()> = found.next(text.as_bytes(), |_| Ok(()));
            next.unwrap_or(None)
        };
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

    #[test]
    fn the_last_place() {
        let last = |text: &str, part: &str, end: usize| {
            last_place::<()>(text.as_bytes(), part.as_bytes(), &mut { end }, |_| Ok(())).unwrap()
        };
        assert_eq!(last("aaa", "aa", 3), Some(1));
        assert_eq!(last("aaa", "aa", 2), Some(0));
        assert_eq!(last("aaa", "aa", 1), None);
        assert_eq!(last("", "a", 0), None);
        let text = format!("{}ab{}", "x".repeat(PIECE), "y".repeat(PIECE - 1));
        assert_eq!(last(&text, "ab", text.len()), Some(PIECE));
    }
}
