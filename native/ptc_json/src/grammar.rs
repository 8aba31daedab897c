//! The grammar of JSON (RFC 8259): which token may begin where, and the parts of numbers, strings and
//! escapes. The reader, streams and the strict part of repairs all read tokens with it.
//!
//! A number, a word or a string that the text cuts off can be resumed when more of the text is there.

use super::scan::to_special;
use super::JsonError;

/// A place between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before a value.
    Value,
    /// After an opening bracket.
    First,
    /// Before a key, after a comma.
    Key,
    /// After a key.
    Colon,
    /// After a value.
    After,
}

/// A token; its first byte determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// `{` (true) or `[`
    Open(bool),
    /// `}` or `]`, whichever closes the innermost open bracket.
    Close,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// A string that is a key.
    Key,
    /// A string that is a value.
    String,
    /// A number.
    Number,
    /// `true`, `false` or `null`
    Word(Word),
}

/// A value that is a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

impl Word {
    /// Returns its letters.
    #[inline(always)]
    pub fn letters(self) -> &'static [u8] {
        match self {
            Word::True => b"true",
            Word::False => b"false",
            Word::Null => b"null",
        }
    }
}

/// Returns the token that begins with this byte at a place. `inside`: the innermost open bracket, if
/// one is open; true is an object.
#[inline(always)]
pub fn token(place: Place, inside: Option<bool>, byte: u8) -> Option<Token> {
    Some(match (place, byte, inside) {
        (Place::First | Place::After, b'}', Some(true)) => Token::Close,
        (Place::First | Place::After, b']', Some(false)) => Token::Close,
        (Place::First, b'"', Some(true)) | (Place::Key, b'"', _) => Token::Key,
        (Place::First, _, Some(true)) | (Place::Key, ..) => return None,
        (Place::After, b',', Some(_)) => Token::Comma,
        (Place::Colon, b':', _) => Token::Colon,
        (Place::After | Place::Colon, ..) => return None,
        (Place::Value | Place::First, byte, _) => match byte {
            b'{' => Token::Open(true),
            b'[' => Token::Open(false),
            b'"' => Token::String,
            b'-' | b'0'..=b'9' => Token::Number,
            b't' => Token::Word(Word::True),
            b'f' => Token::Word(Word::False),
            b'n' => Token::Word(Word::Null),
            _ => return None,
        },
    })
}

/// Returns whether the byte is white space.
#[inline(always)]
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The part of a number that was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Nothing,
    Minus,
    /// A leading zero, which is the whole number before the point.
    Zero,
    Whole,
    Point,
    Fraction,
    E,
    Sign,
    Exponent,
}

/// A number that is being read.
#[derive(Debug, Clone, Copy)]
pub struct Number(Part);

impl Number {
    /// A number of which nothing was read.
    pub const NEW: Number = Number(Part::Nothing);

    /// Reads on from `at`; returns the offset of the first byte that is not part of the number.
    #[inline(always)]
    pub fn advance(&mut self, text: &[u8], mut at: usize) -> usize {
        use Part::*;
        let digits = |mut at: usize| {
            while text.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let part = &mut self.0;
        if *part == Nothing && text.get(at) == Some(&b'-') {
            (*part, at) = (Minus, at + 1);
        }
        if *part <= Minus {
            match text.get(at) {
                Some(b'0') => *part = Zero,
                Some(b'1'..=b'9') => *part = Whole,
                _ => return at,
            }
            at += 1;
        }
        if *part == Whole {
            at = digits(at);
        }
        if matches!(*part, Zero | Whole) {
            match text.get(at) {
                Some(b'.') => *part = Point,
                Some(b'e' | b'E') => *part = E,
                _ => return at,
            }
            at += 1;
        }
        if matches!(*part, Point | Fraction) {
            let end = digits(at);
            if end == at && *part == Point {
                return at;
            }
            (*part, at) = (Fraction, end);
            match text.get(at) {
                Some(b'e' | b'E') => (*part, at) = (E, at + 1),
                _ => return at,
            }
        }
        if *part == E && matches!(text.get(at), Some(b'+' | b'-')) {
            (*part, at) = (Sign, at + 1);
        }
        let end = digits(at);
        if end > at {
            *part = Exponent;
        }
        end
    }

    /// Returns whether the number is complete if it ends here.
    #[inline(always)]
    pub fn may_end(self) -> bool {
        matches!(
            self.0,
            Part::Zero | Part::Whole | Part::Fraction | Part::Exponent
        )
    }

    /// Returns whether it has no fraction and no exponent so far.
    #[inline(always)]
    pub fn is_integer(self) -> bool {
        self.0 <= Part::Whole
    }

    /// Returns whether it has an exponent.
    #[inline(always)]
    pub fn has_exponent(self) -> bool {
        self.0 >= Part::E
    }
}

/// Returns the end of the number at `at`, and whether it is an integer.
#[inline]
pub fn number(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut number = Number::NEW;
    let end = number.advance(text, at);
    number.may_end().then_some((end, number.is_integer()))
}

/// Reads on in a string up to its closing quote. `at` is moved over what was read; `escape` reads the
/// escape at an offset, and returns the offset after it.
#[inline(always)]
pub fn string(
    text: &[u8],
    at: &mut usize,
    mut escape: impl FnMut(usize) -> Result<usize, JsonError>,
) -> Result<(), JsonError> {
    loop {
        (*at, _) = to_special(text, *at);
        match text.get(*at) {
            Some(b'"') => return Ok(()),
            Some(b'\\') => *at = escape(*at)?,
            _ => return Err(unexpected(text, *at)),
        }
    }
}

/// Decodes the escape at `at` (a backslash), a surrogate pair as a whole; returns the character and the
/// offset after it.
pub fn escape(text: &[u8], at: usize) -> Result<(char, usize), JsonError> {
    let bad = JsonError::UnexpectedToken(at);
    let (code, next) = escaped_unit(text, at).map_err(|_| bad)?;
    if !(0xD800..=0xDBFF).contains(&code) {
        // A lone low surrogate is not a character.
        return Ok((char::from_u32(code).ok_or(bad)?, next));
    }
    // A lone high surrogate is reported after its escape: the low one is missing there.
    let missing = unexpected(text, next);
    let low = text[next..].starts_with(b"\\u");
    let low = low.then(|| escaped_unit(text, next).ok()).flatten();
    let (low, end) = low.ok_or(missing)?;
    if !(0xDC00..=0xDFFF).contains(&low) {
        return Err(bad);
    }
    let code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    Ok((char::from_u32(code).ok_or(bad)?, end))
}

/// Decodes the escape at `at`, where a surrogate counts alone; returns its code and the offset after it.
/// The error has the offset of the first byte that is invalid.
pub fn escaped_unit(text: &[u8], at: usize) -> Result<(u32, usize), JsonError> {
    let byte = text.get(at + 1).copied().unwrap_or_default();
    let code = match byte {
        b'"' | b'\\' | b'/' => byte,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => {
            let digit = |at: usize| (*text.get(at)? as char).to_digit(16);
            let code = (at + 2..at + 6).try_fold(0, |code, at| {
                let digit = digit(at).ok_or(unexpected(text, at))?;
                Ok(code * 16 + digit)
            })?;
            return Ok((code, at + 6));
        }
        _ => return Err(unexpected(text, at + 1)),
    };
    Ok((u32::from(code), at + 2))
}

/// Returns the error for the byte at `at`, or for the end of the text there.
pub fn unexpected(text: &[u8], at: usize) -> JsonError {
    match at < text.len() {
        true => JsonError::UnexpectedToken(at),
        false => JsonError::UnexpectedEnd(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a number in two parts; returns its end, and whether it is complete and an integer.
    fn in_parts(text: &[u8], cut: usize) -> (usize, bool, bool) {
        let mut number = Number::NEW;
        let mut end = number.advance(&text[..cut], 0);
        if end == cut {
            end = number.advance(text, end);
        }
        (end, number.may_end(), number.is_integer())
    }

    #[test]
    fn numbers() {
        for (text, end, complete, integer) in [
            ("0", 1, true, true),
            ("-0", 2, true, true),
            ("01", 1, true, true),
            ("120,", 3, true, true),
            ("-1.50 ", 5, true, false),
            ("1e5", 3, true, false),
            ("0.1E-07x", 7, true, false),
            ("-", 1, false, true),
            ("-x", 1, false, true),
            (".5", 0, false, true),
            ("+1", 0, false, true),
            ("1.", 2, false, false),
            ("1.e5", 2, false, false),
            ("1e", 2, false, false),
            ("1e+", 3, false, false),
            ("1.5e-x", 5, false, false),
        ] {
            for cut in 0..=text.len() {
                let read = in_parts(text.as_bytes(), cut);
                assert_eq!(read, (end, complete, integer), "{text} {cut}");
            }
            let whole = complete.then_some((end, integer));
            assert_eq!(number(text.as_bytes(), 0), whole, "{text}");
        }
    }

    /// Which bytes may begin a token at each place.
    #[test]
    fn tokens() {
        let value = r#"{["-0123456789tfn"#;
        for (place, inside, bytes) in [
            (Place::Value, None, value.to_string()),
            (Place::Value, Some(true), value.to_string()),
            (Place::First, None, value.to_string()),
            (Place::First, Some(false), format!("{value}]")),
            (Place::First, Some(true), "\"}".to_string()),
            (Place::Key, Some(true), "\"".to_string()),
            (Place::Colon, Some(true), ":".to_string()),
            (Place::After, Some(true), ",}".to_string()),
            (Place::After, Some(false), ",]".to_string()),
            (Place::After, None, String::new()),
        ] {
            for byte in 0..=255 {
                let is_token = token(place, inside, byte).is_some();
                let expected = bytes.as_bytes().contains(&byte);
                assert_eq!(is_token, expected, "{place:?} {inside:?} {byte}");
            }
        }
    }

    #[test]
    fn escapes() {
        use JsonError::{UnexpectedEnd as End, UnexpectedToken as Bad};
        for (text, pair, unit) in [
            (r"\n", Ok(('\n', 2)), Ok((10, 2))),
            (r"\u00e4x", Ok(('ä', 6)), Ok((0xE4, 6))),
            (r"\ud83d\ude00", Ok(('😀', 12)), Ok((0xD83D, 6))),
            (r"\", Err(Bad(0)), Err(End(1))),
            (r"\x", Err(Bad(0)), Err(Bad(1))),
            (r"\u12", Err(Bad(0)), Err(End(4))),
            (r"\u12g4", Err(Bad(0)), Err(Bad(4))),
            (r"\ude00", Err(Bad(0)), Ok((0xDE00, 6))),
            (r"\ud83d", Err(End(6)), Ok((0xD83D, 6))),
            (r"\ud83dx", Err(Bad(6)), Ok((0xD83D, 6))),
            (r"\ud83d\n", Err(Bad(6)), Ok((0xD83D, 6))),
            (r"\ud83d\u12", Err(Bad(6)), Ok((0xD83D, 6))),
            (r"\ud83d\u0041", Err(Bad(0)), Ok((0xD83D, 6))),
        ] {
            assert_eq!(escape(text.as_bytes(), 0), pair, "{text}");
            assert_eq!(escaped_unit(text.as_bytes(), 0), unit, "{text}");
        }
    }
}
