//! Graphemes: their number, as `String.length/1`, and where they end, as `String.graphemes/1` divides a text.
//!
//! The rules are those of Unicode's annex 29 before version 15.1, with one exception that Erlang makes: in a sequence of
//! pictographs, a joiner that no pictograph follows ends the grapheme, even if a mark follows.

use crate::pieces::{boundary, PIECE};
use unicode_segmentation::UnicodeSegmentation;

/// Units of fuel per byte of text that is not ASCII.
pub(crate) const UNITS_A_BYTE: usize = 4;
/// Bytes of ASCII text per unit.
const BYTES_A_UNIT: usize = 16;
/// Bytes of a piece whose graphemes are made one by one.
const CUT_PIECE: usize = 1_024;
const JOINER: char = '\u{200D}';

/// Returns the number of graphemes. Calls `count` before each piece, with its cost. If that fails, it goes on with the same
/// `at`, `total` and `piece`, which begin with 0.
pub fn graphemes<E>(
    text: &[u8],
    at: &mut usize,
    total: &mut usize,
    piece: &mut usize,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<usize, E> {
    while *at < text.len() {
        let end = text.len().min(*at + PIECE);
        if text[*at..end].is_ascii() {
            let end = end_of_plain(text, *at, end);
            if end > *at {
                count(1 + (end - *at) / BYTES_A_UNIT)?;
                let crlf = memchr::memmem::find_iter(&text[*at..end], b"\r\n").count();
                *total += end - *at - crlf;
                *at = end;
                continue;
            }
        }
        *piece = (*piece).max(PIECE);
        let end = boundary(text, (*at + *piece).min(text.len()));
        count(UNITS_A_BYTE * (end - *at))?;
        let (done, more) = of_piece(text, *at, end);
        *piece = match done == *at {
            // The piece is one grapheme, or the start of one.
            true => *piece * 2,
            false => PIECE,
        };
        *at = done;
        *total += more;
    }
    Ok(*total)
}

/// Returns where the last grapheme of a piece of ASCII begins, or the end of the text: what follows may belong to it.
fn end_of_plain(text: &[u8], start: usize, end: usize) -> usize {
    match &text[start..end] {
        _ if end == text.len() => end,
        [.., b'\r', b'\n'] => end - 2,
        _ => end - 1,
    }
}

/// Counts the graphemes of a piece but for the last one, which the next piece begins with. Returns where that is, and the
/// number.
fn of_piece(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let mut total = 0;
    let at = each_end(text, start, end, |_| total += 1);
    (at, total)
}

/// Appends the ends of the graphemes of the next pieces, until there is one. Calls `count` before each piece, with its cost.
/// If that fails, it goes on with the same `at`, where the next piece begins, and `piece`; both begin with 0. At the end of
/// the text, nothing is appended.
pub fn cuts<E>(
    text: &[u8],
    at: &mut usize,
    piece: &mut usize,
    ends: &mut Vec<usize>,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    while *at < text.len() {
        *piece = (*piece).max(CUT_PIECE);
        let end = boundary(text, (*at + *piece).min(text.len()));
        count(UNITS_A_BYTE * (end - *at))?;
        let next = each_end(text, *at, end, |end| ends.push(end));
        if next > *at {
            (*at, *piece) = (next, CUT_PIECE);
            return Ok(());
        }
        // The piece is one grapheme, or the start of one.
        *piece *= 2;
    }
    Ok(())
}

/// Calls `visit` with the end of each grapheme of a piece but for the last one, which the next piece begins with. Returns
/// where that is.
pub(crate) fn each_end(
    text: &[u8],
    start: usize,
    end: usize,
    mut visit: impl FnMut(usize),
) -> usize {
    let mut at = start;
    for chunk in text[start..end].utf8_chunks() {
        let valid = chunk.valid();
        let goes_on = at + valid.len() == end && end < text.len();
        let mut counted = 0;
        for (place, grapheme) in valid.grapheme_indices(true) {
            if goes_on && place + grapheme.len() == valid.len() {
                return at + counted;
            }
            split_by_erlang(grapheme, |split| visit(at + place + split));
            counted = place + grapheme.len();
            visit(at + counted);
        }
        at += valid.len();
        // Each byte counts, except that a continuation of a cut character does not begin one.
        for _ in chunk.invalid() {
            at += 1;
            visit(at);
        }
    }
    at
}

/// Calls `visit` with the places in which Erlang divides a grapheme of the annex: where a joiner follows a pictograph, and a
/// mark follows the joiner.
fn split_by_erlang(grapheme: &str, mut visit: impl FnMut(usize)) {
    if grapheme.len() <= JOINER.len_utf8() || !grapheme.contains(JOINER) {
        return;
    }
    let (mut pictograph, mut joined) = (false, false);
    for (place, char) in grapheme.char_indices() {
        if is_mark(char) {
            if joined {
                visit(place);
                pictograph = false;
            }
            joined = pictograph && char == JOINER;
        } else {
            pictograph = is_pictograph(char);
            joined = false;
        }
    }
}

/// Returns whether the character belongs to the one before it.
fn is_mark(char: char) -> bool {
    let mut text = String::from("a");
    text.push(char);
    !char.is_ascii() && text.graphemes(true).count() == 1
}

/// Returns whether a joiner joins the character, which is no mark, with another one like it.
fn is_pictograph(char: char) -> bool {
    let text = String::from_iter([char, JOINER, char]);
    text.graphemes(true).count() == 1
}

#[cfg(test)]
mod tests {
    use super::{cuts, graphemes};

    fn length(text: &[u8]) -> usize {
        let counted: Result<usize, ()> = graphemes(text, &mut 0, &mut 0, &mut 0, |_| Ok(()));
        counted.unwrap_or(usize::MAX)
    }

    #[test]
    fn graphemes_are_characters_as_readers_see_them() {
        let texts = [
            ("", 0),
            ("abc", 3),
            ("a\r\nb\n\r", 5),
            ("e\u{301}", 1),
            ("👨\u{200D}👩\u{200D}👧", 1),
            ("🇨🇿🇩🇪🇫", 3),
            ("각\u{1100}\u{1161}", 2),
            ("नमस्ते", 4),
            ("👍🏽", 1),
        ];
        for (text, graphemes) in texts {
            assert_eq!(length(text.as_bytes()), graphemes, "{text}");
        }
    }

    #[test]
    fn a_joiner_without_a_pictograph_ends_a_grapheme() {
        assert_eq!(length("👩\u{200D}\u{FE0F}".as_bytes()), 2);
        assert_eq!(length("a\u{200D}\u{FE0F}".as_bytes()), 1);
    }

    #[test]
    fn bytes_that_are_no_characters_count() {
        assert_eq!(length(b"a\xFF\xFEb"), 4);
    }

    /// The graphemes of a text; each piece is stopped once.
    fn split(text: &[u8]) -> Vec<Vec<u8>> {
        let (mut at, mut piece, mut ends, mut all, mut stops) = (0, 0, Vec::new(), Vec::new(), 0);
        let mut start = 0;
        while at < text.len() {
            let count = |_| {
                stops += 1;
                [Ok(()), Err(())][stops % 2]
            };
            let _: Result<(), ()> = cuts(text, &mut at, &mut piece, &mut ends, count);
            for end in ends.drain(..) {
                all.push(text[start..end].to_vec());
                start = end;
            }
        }
        assert_eq!(start, text.len());
        all
    }

    #[test]
    fn a_text_is_divided_where_graphemes_end() {
        let parts: [&[&str]; 6] = [
            &[],
            &["a", "\r\n", "b", "\n", "\r"],
            &["x", "e\u{301}", "👨\u{200D}👩\u{200D}👧", "🇨🇿", "🇩"],
            &["👩\u{200D}", "\u{FE0F}", "b"],
            &["न", "म", "स्", "ते"],
            &["👍🏽"],
        ];
        for parts in parts {
            let text = parts.concat();
            let expected: Vec<_> = parts.iter().map(|it| it.as_bytes().to_vec()).collect();
            assert_eq!(split(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(split(b"a\xFFb"), [b"a", b"\xFF", b"b"]);
        for unit in ["e\u{301}", "🇨🇿", "👨\u{200D}👩\u{200D}👧", "ž", "\r\n"] {
            let text = unit.repeat(3_000);
            assert_eq!(split(text.as_bytes()), vec![unit.as_bytes(); 3_000]);
        }
        let long = format!("e{}x", "\u{301}".repeat(10_000));
        assert_eq!(split(long.as_bytes()).len(), 2);
    }

    #[test]
    fn pieces_do_not_change_the_number() {
        for unit in ["e\u{301}", "🇨🇿", "👨\u{200D}👩\u{200D}👧", "ž"] {
            let text = format!("x{}", unit.repeat(9_000));
            assert_eq!(length(text.as_bytes()), 9_001, "{unit}");
        }
        let long = format!("e{}x", "\u{301}".repeat(100_000));
        assert_eq!(length(long.as_bytes()), 2);
    }
}
