//! Classes by a table, eight bytes at a time: the classes of a byte are bits of a word, each in a byte of its own, so that
//! eight words shifted by 0 to 7 make eight bits of each class.

use super::{Classes, Classify, BLOCK, BRACKET, BRACKET_BITS};

/// The classification without vectors.
#[derive(Debug, Clone, Copy)]
pub struct Scalar;

/// Number of classes.
const CLASSES: usize = 12;

const TABLE: [u128; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = classes(byte as u8);
        byte += 1;
    }
    table
};

/// Returns a word whose byte i is 1 if the byte is in class i, in the order of the fields of [`Classes`].
const fn classes(byte: u8) -> u128 {
    let is_in: [bool; CLASSES] = [
        byte == b'"',
        byte == b'\\',
        byte & BRACKET_BITS == BRACKET,
        byte == b',',
        byte == b':',
        matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        byte < 0x20,
        byte.is_ascii_digit(),
        byte == b'0',
        byte == b'-',
        byte == b'.',
        byte >= 0x80,
    ];
    let mut bits = 0;
    let mut class = 0;
    while class < CLASSES {
        bits |= (is_in[class] as u128) << (8 * class);
        class += 1;
    }
    bits
}

impl Classify for Scalar {
    #[inline(always)]
    fn classify(block: &[u8; BLOCK]) -> Classes {
        let mut columns = [[0; BLOCK / 8]; 16];
        let (eights, _) = block.as_chunks::<8>();
        for (column, eight) in eights.iter().enumerate() {
            let mut bits = 0;
            for (place, byte) in eight.iter().enumerate() {
                bits |= TABLE[usize::from(*byte)] << place;
            }
            for (class, byte) in bits.to_le_bytes().into_iter().enumerate() {
                columns[class][column] = byte;
            }
        }
        let [quote, backslash, bracket, comma, colon, blank, control, digit, zero, minus, dot, high, ..] =
            columns.map(u64::from_le_bytes);
        Classes {
            quote,
            backslash,
            bracket,
            comma,
            colon,
            blank,
            control,
            digit,
            zero,
            minus,
            dot,
            high,
        }
    }
}
