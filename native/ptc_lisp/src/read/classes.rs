//! What characters of a text may begin and continue.

/// White space.
pub const SPACE: u8 = 1;
/// A digit.
pub const DIGIT: u8 = 2;
/// The first character of a symbol.
pub const FIRST: u8 = 4;
/// A further character of a symbol.
pub const FURTHER: u8 = 8;
/// A character of a keyword.
pub const KEYWORD: u8 = 16;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let character = byte as u8;
        table[byte] = match character {
            b' ' | b'\t' | b'\r' | b'\n' | b',' => SPACE,
            b'0'..=b'9' => DIGIT | FURTHER | KEYWORD,
            b'a'..=b'z' | b'A'..=b'Z' => FIRST | FURTHER | KEYWORD,
            b'+' | b'-' | b'*' | b'<' | b'>' | b'=' | b'?' | b'!' | b'_' => {
                FIRST | FURTHER | KEYWORD
            }
            b'/' | b'%' | b'.' | b'&' => FIRST | FURTHER,
            b'\'' => FURTHER,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// Returns whether a byte is of a class.
#[inline]
pub fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// Returns where the bytes of a class end that begin here.
#[inline]
pub fn end(bytes: &[u8], mut at: usize, class: u8) -> usize {
    while at < bytes.len() && is(bytes[at], class) {
        at += 1;
    }
    at
}
