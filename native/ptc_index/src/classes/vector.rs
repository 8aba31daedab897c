//! Classes with vectors of 16 bytes: SSE2 and NEON, which all x86-64 and 64-bit ARM processors have. The crate `wide` has safe functions for
//! the instructions of both.

use super::{Classes, Classify, BLOCK, BRACKET, BRACKET_BITS};
use wide::u8x16 as Bytes;

/// The classification with vectors.
#[derive(Debug, Clone, Copy)]
pub struct Vector;

/// Bytes of a vector.
const WIDTH: usize = 16;

/// The bytes of a block.
type Block = [Bytes; BLOCK / WIDTH];

/// Returns the highest bits of the bytes of a class function.
#[inline(always)]
fn bits(block: Block, class: impl Fn(Bytes) -> Bytes) -> u64 {
    let [a, b, c, d] = block.map(|bytes| u64::from(class(bytes).to_bitmask()));
    (a | b << WIDTH) | (c | d << WIDTH) << (2 * WIDTH)
}

/// Returns which bytes are this one.
#[inline(always)]
fn equal(block: Block, byte: u8) -> u64 {
    bits(block, |bytes| bytes.simd_eq(Bytes::splat(byte)))
}

/// Returns which bytes are below a bound of at most 0x80: a sum that ends at 0xFF sets the highest bits of the others.
#[inline(always)]
fn below(block: Block, bound: u8) -> u64 {
    !bits(block, |bytes| {
        bytes.saturating_add(Bytes::splat(0x80 - bound))
    })
}

impl Classify for Vector {
    #[inline(always)]
    fn classify(block: &[u8; BLOCK]) -> Classes {
        let (parts, _) = block.as_chunks::<WIDTH>();
        let block: Block = std::array::from_fn(|at| Bytes::new(parts[at]));
        let [a, b, c, d] = block;
        let least = a.min(b).min(c.min(d));
        let has_control = least.min(Bytes::splat(0x1F)).simd_eq(least).any();
        let (mut blank, mut control) = (below(block, b' ' + 1), 0);
        if has_control {
            control = below(block, 0x20);
            blank &= !control;
            blank |= bits(block, |bytes| {
                let is = |byte| bytes.simd_eq(Bytes::splat(byte));
                is(b'\t') | is(b'\n') | is(b'\r')
            });
        }
        Classes {
            quote: equal(block, b'"'),
            backslash: equal(block, b'\\'),
            bracket: equal(
                block.map(|bytes| bytes & Bytes::splat(BRACKET_BITS)),
                BRACKET,
            ),
            comma: equal(block, b','),
            colon: equal(block, b':'),
            blank,
            control,
            digit: below(block.map(|bytes| bytes - Bytes::splat(b'0')), 10),
            zero: equal(block, b'0'),
            minus: equal(block, b'-'),
            dot: equal(block, b'.'),
            high: u64::from((a | b | c | d).to_bitmask()),
        }
    }
}
