//! Upper and lower case, as `String.upcase/1` and `String.downcase/1`.
//!
//! They map each character on its own. So a final sigma becomes σ, where Rust's `str::to_lowercase` has ς.

use crate::pieces::{each_piece, Piece};

/// A case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Upper case.
    Upper,
    /// Lower case.
    Lower,
}

/// Bytes of ASCII text per unit of fuel.
const BYTES_A_UNIT: usize = 16;
/// Units per byte of other text.
const UNITS_A_BYTE: usize = 1;

/// Writes the text in this case to `out`, from `at` on. Calls `count` before each piece, with its cost and the length of
/// `out`. If that fails, it goes on with the same `at` and `out`.
pub fn put_case<E>(
    text: &[u8],
    case: Case,
    at: &mut usize,
    out: &mut Vec<u8>,
    mut count: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<(), E> {
    let length = std::cell::Cell::new(out.len());
    each_piece(
        text,
        at,
        |piece| {
            let cost = match piece.is_ascii() {
                true => 1 + piece.len() / BYTES_A_UNIT,
                false => UNITS_A_BYTE * piece.len(),
            };
            count(cost, length.get() + piece.len())
        },
        |piece| {
            match piece {
                Piece::Valid(piece) => put_valid(piece, case, out),
                Piece::Invalid(bytes) => out.extend_from_slice(bytes),
            }
            length.set(out.len());
        },
    )
}

/// Writes characters: those of ASCII, as most are in most texts, together.
fn put_valid(mut text: &str, case: Case, out: &mut Vec<u8>) {
    while !text.is_empty() {
        let ascii = text.bytes().take_while(u8::is_ascii).count();
        let start = out.len();
        out.extend_from_slice(&text.as_bytes()[..ascii]);
        match case {
            Case::Upper => out[start..].make_ascii_uppercase(),
            Case::Lower => out[start..].make_ascii_lowercase(),
        }
        let mut others = text[ascii..].chars();
        if let Some(char) = others.next() {
            put(char, case, out);
        }
        text = others.as_str();
    }
}

#[inline]
fn put(char: char, case: Case, out: &mut Vec<u8>) {
    let mut buffer = [0; 4];
    let mut push = |char: char| out.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
    match case {
        Case::Upper => char.to_uppercase().for_each(&mut push),
        Case::Lower => char.to_lowercase().for_each(&mut push),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_all(text: &[u8], case: Case) -> Vec<u8> {
        let mut out = Vec::new();
        let done: Result<(), ()> = put_case(text, case, &mut 0, &mut out, |_, _| Ok(()));
        done.map(|()| out).unwrap_or_default()
    }

    #[test]
    fn characters_are_mapped_on_their_own() {
        let upper = |text: &str| String::from_utf8(put_all(text.as_bytes(), Case::Upper)).unwrap();
        let lower = |text: &str| String::from_utf8(put_all(text.as_bytes(), Case::Lower)).unwrap();
        assert_eq!(upper("straße ǆ ﬁ ŉ"), "STRASSE Ǆ FI ʼN");
        assert_eq!(lower("ΟΔΟΣ İI"), "οδοσ i\u{307}i");
        assert_eq!(upper(""), "");
    }

    #[test]
    fn bytes_that_are_no_characters_stay() {
        assert_eq!(put_all(b"a\xFF\xC3b", Case::Upper), b"A\xFF\xC3B");
        let long = "ž".repeat(20_000);
        let upper = put_all(long.as_bytes(), Case::Upper);
        assert_eq!(upper, "Ž".repeat(20_000).as_bytes());
    }
}
