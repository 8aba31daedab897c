//! Which bytes of a block are of which class, one bit for each byte.
//!
//! * this file: the classes, and which implementation this processor has
//! * [`scalar`]: the implementation without vectors, which defines the classes
//! * [`vector`]: the implementation with vectors of 16 bytes

pub mod scalar;
pub mod vector;

use super::{PerBlock, BLOCK, CHUNK};

/// The bytes of a block of each class: bit i is byte i. Whether a byte is inside a string plays no part here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes {
    /// `"`
    pub quote: u64,
    /// `\`
    pub backslash: u64,
    /// `[`, `]`, `{` and `}`; and `Y`, `y`, `_` and 0x7F, which are valid only in strings too.
    pub bracket: u64,
    /// `,`
    pub comma: u64,
    /// `:`
    pub colon: u64,
    /// Space, tab, line feed and carriage return.
    pub blank: u64,
    /// Bytes below 0x20.
    pub control: u64,
    /// `0` to `9`
    pub digit: u64,
    /// `0`
    pub zero: u64,
    /// `-`
    pub minus: u64,
    /// `.`
    pub dot: u64,
    /// Not 0 if there are bytes from 0x80 on.
    pub high: u64,
}

/// What brackets have in common: these bits of them are equal.
const BRACKET_BITS: u8 = 0xD9;
/// … to this.
const BRACKET: u8 = 0x59;

/// Finds the classes of the bytes of a block.
pub trait Classify {
    /// Returns the classes.
    fn classify(block: &[u8; BLOCK]) -> Classes;

    /// Finds the classes of all blocks of a chunk.
    #[inline(never)]
    fn classify_all(chunk: &[u8; CHUNK], classes: &mut PerBlock<Classes>) {
        let (blocks, _) = chunk.as_chunks();
        for (classes, block) in classes.iter_mut().zip(blocks) {
            *classes = Self::classify(block);
        }
    }
}

/// The fastest implementation for this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use scalar::Scalar as Fastest;
/// The fastest implementation for this processor.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use vector::Vector as Fastest;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the classes; which bits of `high` are set is left open.
    fn of<C: Classify>(block: &[u8; BLOCK]) -> Classes {
        let classes = C::classify(block);
        Classes {
            high: u64::from(classes.high != 0),
            ..classes
        }
    }

    /// Every byte at every place, between other bytes.
    #[test]
    fn all_implementations_are_the_same() {
        let mut random = 1_u64;
        for byte in 0..=255 {
            for place in 0..BLOCK {
                let mut block: [u8; BLOCK] = std::array::from_fn(|_| {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (random >> 56) as u8
                });
                block[place] = byte;
                let expected = of::<scalar::Scalar>(&block);
                assert_eq!(of::<vector::Vector>(&block), expected, "{block:?}");
                let all = |is: fn(u8) -> bool| {
                    let bit = |(at, byte): (usize, &u8)| u64::from(is(*byte)) << at;
                    block.iter().enumerate().map(bit).sum::<u64>()
                };
                let oracle = Classes {
                    quote: all(|byte| byte == b'"'),
                    backslash: all(|byte| byte == b'\\'),
                    bracket: all(|byte| b"[]{}Yy_\x7F".contains(&byte)),
                    comma: all(|byte| byte == b','),
                    colon: all(|byte| byte == b':'),
                    blank: all(|byte| b" \t\r\n".contains(&byte)),
                    control: all(|byte| byte < 0x20),
                    digit: all(|byte| byte.is_ascii_digit()),
                    zero: all(|byte| byte == b'0'),
                    minus: all(|byte| byte == b'-'),
                    dot: all(|byte| byte == b'.'),
                    high: expected.high,
                };
                assert_eq!(expected, oracle, "{block:?}");
                assert_eq!(expected.high == 0, block.is_ascii(), "{block:?}");
            }
        }
    }

    /// All bytes of a block are the same.
    #[test]
    fn blocks_of_one_byte() {
        for byte in 0..=255 {
            let block = [byte; BLOCK];
            assert_eq!(
                of::<vector::Vector>(&block),
                of::<scalar::Scalar>(&block),
                "{byte}"
            );
        }
    }
}
