//! Text without the white space around it, as `String.trim/1`.

use std::convert::Infallible;

/// Bytes that a character has at most.
const LONGEST: usize = 4;

/// Characters that are passed between two calls of `count`.
const BETWEEN: usize = 4_096;

/// Returns the text without white space at its start and at its end.
pub fn trim(text: &[u8]) -> &[u8] {
    let (mut start, mut end) = (0, text.len());
    let all: Result<_, Infallible> = trim_long(text, &mut start, &mut end, |_| Ok(()));
    match all {
        Ok(trimmed) => trimmed,
        Err(never) => match never {},
    }
}

/// The sides of a text from which white space is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// The start.
    Start,
    /// The end.
    End,
    /// Both.
    Both,
}

/// Trims a long text. Calls `count` after some of the white space, with its cost. If that fails, it goes on with
/// the same `start` and `end`, which begin with 0 and the length of the text.
pub fn trim_long<'t, E>(
    text: &'t [u8],
    start: &mut usize,
    end: &mut usize,
    count: impl FnMut(usize) -> Result<(), E>,
) -> Result<&'t [u8], E> {
    trim_sides(text, Sides::Both, start, end, count)
}

/// Trims one side of a long text, or both, see [`trim_long`].
pub fn trim_sides<'t, E>(
    text: &'t [u8],
    sides: Sides,
    start: &mut usize,
    end: &mut usize,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<&'t [u8], E> {
    let mut passed = 0;
    loop {
        let rest = &text[*start..*end];
        if let (true, Some(length)) = (sides != Sides::End, first(rest)) {
            *start += length;
        } else if let (true, Some(length)) = (sides != Sides::Start, last(rest)) {
            *end -= length;
        } else {
            return Ok(rest);
        }
        passed += 1;
        if passed == BETWEEN {
            passed = 0;
            count(BETWEEN)?;
        }
    }
}

/// Returns the length of the white space character at the start.
fn first(text: &[u8]) -> Option<usize> {
    if text.first()?.is_ascii() {
        return char::from(text[0]).is_whitespace().then_some(1);
    }
    let start = &text[..text.len().min(LONGEST)];
    let char = start.utf8_chunks().next()?.valid().chars().next()?;
    char.is_whitespace().then(|| char.len_utf8())
}

/// Returns the length of the white space character at the end.
fn last(text: &[u8]) -> Option<usize> {
    if text.last()?.is_ascii() {
        return char::from(text[text.len() - 1])
            .is_whitespace()
            .then_some(1);
    }
    let space = |length: usize| {
        let end = text.get(text.len().checked_sub(length)?..)?;
        let char = std::str::from_utf8(end).ok()?.chars().next()?;
        // The end may hold a character more: white space before the last one is not the last.
        (char.is_whitespace() && char.len_utf8() == length).then_some(length)
    };
    (2..LONGEST).find_map(space)
}

#[cfg(test)]
mod tests {
    use super::{trim, trim_sides, Sides};

    #[test]
    fn white_space_before_the_last_character_stays() {
        for text in ["a\rű", "ß \u{223}", "\u{a0}\nֈ", "日\t日"] {
            assert_eq!(trim(text.as_bytes()), text.trim().as_bytes(), "{text}");
        }
    }

    #[test]
    fn one_side() {
        let trimmed = |sides| {
            let text = b" \ta b\n ";
            let (mut start, mut end) = (0, text.len());
            trim_sides::<()>(text, sides, &mut start, &mut end, |_| Ok(())).unwrap()
        };
        assert_eq!(trimmed(Sides::Start), b"a b\n ");
        assert_eq!(trimmed(Sides::End), b" \ta b");
    }

    #[test]
    fn white_space_of_unicode() {
        assert_eq!(trim(b" \t a b \n"), b"a b");
        assert_eq!(trim("\u{A0}\u{3000}a\u{2028}\u{85}".as_bytes()), b"a");
        assert_eq!(
            trim("\u{200B}a\u{FEFF}".as_bytes()),
            "\u{200B}a\u{FEFF}".as_bytes()
        );
        assert_eq!(trim(b" \xFF "), b"\xFF");
        assert_eq!(trim(b"   "), b"");
        assert_eq!(trim(b""), b"");
    }

    #[test]
    fn as_rust_has_it() {
        for char in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let text = format!("{char}a{char}");
            assert_eq!(trim(text.as_bytes()), text.trim().as_bytes(), "{char:?}");
            let text = format!("a {char}");
            assert_eq!(trim(text.as_bytes()), text.trim().as_bytes(), "{char:?}");
        }
    }
}
