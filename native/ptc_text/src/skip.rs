//! Places in a text that are counted in graphemes.

use crate::graphemes::{each_end, UNITS_A_BYTE};
use crate::pieces::{boundary, PIECE};

/// Bytes of plain text that are passed per unit of fuel.
const BYTES_A_UNIT: usize = 16;
/// Bytes of a piece for one grapheme, and at most.
const LEAST_PIECE: usize = 64;
const MOST_PIECE: usize = 1_024;

/// Passes `left` graphemes from `at` on, or all that there are. Calls `count` before each piece, with its cost. If that
/// fails, it goes on with the same `at`, `left` and `piece`, which begins with 0.
pub fn skip<E>(
    text: &[u8],
    at: &mut usize,
    left: &mut usize,
    piece: &mut usize,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    while *left > 0 && *at < text.len() {
        let plain = plain(&text[*at..], *left);
        if plain > 0 {
            count(1 + plain / BYTES_A_UNIT)?;
            *at += plain;
            *left -= plain;
            continue;
        }
        let length = left.saturating_mul(8).clamp(LEAST_PIECE, MOST_PIECE);
        *piece = (*piece).max(length);
        let end = boundary(text, (*at + *piece).min(text.len()));
        count(UNITS_A_BYTE * (end - *at))?;
        let (wanted, mut passed, mut last) = (*left, 0, *at);
        each_end(text, *at, end, |end| {
            if passed < wanted {
                passed += 1;
                last = end;
            }
        });
        // Without an end, the piece is one grapheme, or the start of one.
        *piece = if passed == 0 { *piece * 2 } else { 0 };
        *at = last;
        *left -= passed;
    }
    Ok(())
}

/// Returns how many of the first bytes are a grapheme each, but not more than are wanted.
fn plain(text: &[u8], wanted: usize) -> usize {
    let window = &text[..text.len().min(wanted.saturating_add(1)).min(PIECE)];
    let is_special = |byte: &u8| !byte.is_ascii() || *byte == b'\r';
    let plain = window.iter().position(is_special);
    let plain = plain.unwrap_or(window.len());
    match plain == text.len() {
        true => plain.min(wanted),
        // The last one may have a mark behind it.
        false => plain.saturating_sub(1).min(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::skip;
    use crate::graphemes;

    #[test]
    fn as_many_as_are_counted() {
        let long = "ab\r\ncé".repeat(3_000);
        let flags = "🇨🇿👨\u{200D}👩\u{200D}👧e\u{301}x".repeat(40);
        let marks = format!("xe{}y", "\u{301}".repeat(1_200));
        for text in ["", "a", "a\u{301}b", "\r\n\r", &long, &flags, &marks] {
            let bytes = text.as_bytes();
            let all = graphemes::<()>(bytes, &mut 0, &mut 0, &mut 0, |_| Ok(())).unwrap();
            for wanted in [0, 1, 2, 3, 7, all / 2, all, all + 5] {
                let (mut at, mut left, mut piece, mut stops) = (0, wanted, 0, 0);
                // Each piece is stopped once.
                while skip(bytes, &mut at, &mut left, &mut piece, |_| {
                    stops += 1;
                    [Ok(()), Err(())][stops % 2]
                })
                .is_err()
                {}
                let passed =
                    graphemes::<()>(&bytes[..at], &mut 0, &mut 0, &mut 0, |_| Ok(())).unwrap();
                assert_eq!(passed, wanted.min(all), "{wanted}");
                assert_eq!(left, wanted - passed);
            }
        }
    }
}
