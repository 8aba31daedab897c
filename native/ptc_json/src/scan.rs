//! Scanner that skips plain characters eight bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
const WORD: usize = 8;

/// Sets the high bit of each byte that is a quote, a backslash or a control character. The lowest bit
/// set is always correct; bits above it may be wrong because of a borrow.
#[inline]
fn special(word: u64) -> u64 {
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(quotes) | zero(backslashes) | controls) & HIGHS
}

/// Returns the eight bytes from `at` on; bytes beyond the end are 0, which is a control character.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let word = |bytes: &[u8; WORD]| u64::from_le_bytes(*bytes);
    if let Some(whole) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        return word(whole);
    }
    match bytes.last_chunk() {
        // The last eight bytes, shifted down.
        Some(last) if at < bytes.len() => word(last) >> (8 * (at + WORD - bytes.len())),
        Some(_) => 0,
        None => {
            let rest = bytes.get(at..).unwrap_or_default();
            let put = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
            rest.iter().rev().fold(0, put)
        }
    }
}

/// Returns the offset of the first quote, backslash or control character from `at` on, or the length;
/// and whether all bytes before it are ASCII.
#[inline]
pub fn to_special(bytes: &[u8], mut at: usize) -> (usize, bool) {
    let mut highs = 0;
    loop {
        let word = word_at(bytes, at);
        let found = special(word);
        if found != 0 {
            let before = found.trailing_zeros() / 8;
            highs |= word & HIGHS & !(u64::MAX << (before * 8));
            return (at + before as usize, highs == 0);
        }
        highs |= word & HIGHS;
        at += WORD;
    }
}

/// Returns the eight bytes from `at` on, and how many of them can be copied to a JSON string unchanged:
/// up to the first special or non-ASCII byte, or the end.
#[inline]
pub(super) fn plain_word(bytes: &[u8], at: usize) -> ([u8; WORD], usize) {
    let word = word_at(bytes, at);
    let found = special(word) | (word & HIGHS);
    (word.to_le_bytes(), found.trailing_zeros() as usize / 8)
}

/// Returns the offset of the first byte from `at` on that cannot be copied unchanged.
#[inline]
pub(super) fn to_unplain(bytes: &[u8], mut at: usize) -> usize {
    loop {
        let (_, plain) = plain_word(bytes, at);
        at += plain;
        if plain < WORD {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_special(byte: u8) -> bool {
        byte < 0x20 || byte == b'"' || byte == b'\\'
    }

    /// Every byte value at every offset of texts of several words.
    #[test]
    fn every_byte_everywhere() {
        for length in 0..20 {
            for place in 0..length {
                for byte in 0..=255_u8 {
                    for before in [b'a', 0x80, 0x21, 0x23, 0x5B, 0x5D, 0xFF] {
                        let mut text = vec![before; length];
                        text[place] = byte;
                        let stop = text.iter().position(|byte| is_special(*byte));
                        let stop = stop.unwrap_or(length);
                        let ascii = text[..stop].is_ascii();
                        assert_eq!(to_special(&text, 0), (stop, ascii), "{text:?}");
                        let plain = |byte: &u8| is_special(*byte) || !byte.is_ascii();
                        let stop = text.iter().position(plain).unwrap_or(length);
                        assert_eq!(to_unplain(&text, 0), stop, "{text:?}");
                        for from in 0..=length {
                            let stop = text[from..].iter().position(plain);
                            let stop = stop.map_or(length, |at| from + at);
                            assert_eq!(to_unplain(&text, from), stop, "{text:?}");
                        }
                    }
                }
            }
        }
    }
}
