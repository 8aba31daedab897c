//! What is inside strings, and the escapes.

use super::classes::Classes;
use super::{PerBlock, BLOCK};
use ptc_json::grammar::escape;

/// The strings of a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strings {
    /// The opening quotes and the contents, without the closing quotes.
    pub inside: u64,
    /// All quotes that are not escaped.
    pub quotes: u64,
    /// The bytes after the backslashes that escape.
    pub escaped: u64,
}

/// What the bytes before say about the strings of a chunk.
#[derive(Debug, Clone, Copy, Default)]
pub struct StringState {
    /// Whether the first byte is escaped: 0 or 1.
    escaped: u64,
    /// Whether the first byte is inside a string: no or all bits.
    inside: u64,
    /// The end of the last surrogate pair that was checked as a whole.
    pair_end: usize,
}

/// Every second bit.
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

impl StringState {
    /// Finds the strings of the next chunk, which is at `at`; returns 0 if they are valid.
    #[inline(never)]
    pub fn next(
        &mut self,
        text: &[u8],
        at: usize,
        classes: &PerBlock<Classes>,
        strings: &mut PerBlock<Strings>,
    ) -> u64 {
        let (mut escapes, mut controls, mut within) = (self.escaped, 0, self.inside);
        for (strings, classes) in strings.iter_mut().zip(classes) {
            escapes |= classes.backslash;
            let inside = odd_before(classes.quote) ^ within;
            // The sign bit in all places.
            within = (inside as i64 >> 63) as u64;
            controls |= classes.control & inside;
            *strings = Strings {
                inside,
                quotes: classes.quote,
                escaped: 0,
            };
        }
        if escapes != 0 {
            return self.next_with_escapes(text, at, classes, strings);
        }
        self.inside = within;
        controls
    }

    /// Same as `next`, for a chunk with backslashes.
    #[inline(never)]
    fn next_with_escapes(
        &mut self,
        text: &[u8],
        at: usize,
        classes: &PerBlock<Classes>,
        strings: &mut PerBlock<Strings>,
    ) -> u64 {
        let mut wrong = 0;
        for (block, (strings, classes)) in strings.iter_mut().zip(classes).enumerate() {
            let escaped = self.escaped(classes.backslash);
            let quotes = classes.quote & !escaped;
            let inside = odd_before(quotes) ^ self.inside;
            self.inside = (inside as i64 >> 63) as u64;
            wrong |= classes.control & inside;
            if !self.are_valid(text, at + BLOCK * block, escaped) {
                wrong = u64::MAX;
            }
            *strings = Strings {
                inside,
                quotes,
                escaped,
            };
        }
        wrong
    }

    /// Returns whether a string is open.
    pub fn is_open(&self) -> bool {
        self.inside != 0
    }

    /// Returns the bytes that are escaped. In a run of backslashes every second one is: subtracting the starts of the runs
    /// from the odd bits after them carries through each run, and so tells runs with an odd number of backslashes from
    /// the others. The method is simdjson's.
    #[inline(always)]
    fn escaped(&mut self, backslash: u64) -> u64 {
        let before = self.escaped;
        let escaping = backslash & !before;
        let codes = (escaping << 1 | ODD).wrapping_sub(escaping) ^ ODD;
        self.escaped = (codes & backslash) >> 63;
        codes ^ (backslash | before)
    }

    /// Returns whether the escaped bytes of the block at `at` end or begin valid escapes.
    #[inline(always)]
    fn are_valid(&mut self, text: &[u8], at: usize, mut escaped: u64) -> bool {
        while escaped != 0 {
            let place = at + escaped.trailing_zeros() as usize;
            escaped &= escaped - 1;
            match text.get(place) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                // The second half of a pair.
                Some(b'u') if place < self.pair_end => {}
                Some(b'u') if is_unit(text, place + 1) => {}
                Some(b'u') => match escape(text, place - 1) {
                    Ok((_, end)) => self.pair_end = end,
                    Err(_) => return false,
                },
                _ => return false,
            }
        }
        true
    }
}

/// Returns whether four digits are the code of a character without a second half.
#[inline(always)]
fn is_unit(text: &[u8], at: usize) -> bool {
    let Some(digits) = text.get(at..).and_then(<[u8]>::first_chunk::<4>) else {
        return false;
    };
    let is_surrogate = matches!(digits[0], b'd' | b'D') && digits[1] > b'7';
    digits.iter().all(u8::is_ascii_hexdigit) && !is_surrogate
}

/// Sets each bit that has an odd number of bits at and before it.
#[inline(always)]
fn odd_before(mut mask: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        mask ^= mask << shift;
    }
    mask
}
