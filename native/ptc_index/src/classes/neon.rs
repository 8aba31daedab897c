//! Classes with vectors of 16 bytes: NEON, which every 64-bit ARM processor has.

use super::{Classes, Classify, BLOCK};
use std::arch::aarch64::{
    uint8x16_t as Vector, vandq_u8, vceqq_u8, vcleq_u8, vcltq_u8, vcombine_u8, vcreate_u8,
    vdupq_n_u8, vgetq_lane_u64, vmaxq_u8, vmaxvq_u8, vorrq_u8, vpaddq_u8, vreinterpretq_u64_u8,
    vsubq_u8,
};

/// The classification with NEON.
#[derive(Debug, Clone, Copy)]
pub struct Neon;

/// Bytes of a vector.
const BYTES: usize = 16;

#[inline(always)]
fn load(bytes: &[u8; BYTES]) -> Vector {
    let (eights, _) = bytes.as_chunks::<8>();
    let half = |at: usize| eights.get(at).map_or(0, |half| u64::from_le_bytes(*half));
    vcombine_u8(vcreate_u8(half(0)), vcreate_u8(half(1)))
}

#[inline(always)]
fn all(byte: u8) -> Vector {
    vdupq_n_u8(byte)
}

#[inline(always)]
fn is(vector: Vector, byte: u8) -> Vector {
    vceqq_u8(vector, all(byte))
}

/// Returns one bit of each byte of a block. NEON has no instruction for it: each byte keeps a bit of its own of eight, and sums of
/// neighbours collect them.
#[inline(always)]
fn bits(block: [Vector; 4], class: impl Fn(Vector) -> Vector) -> u64 {
    let places = vcreate_u8(0x8040_2010_0804_0201);
    let places = vcombine_u8(places, places);
    let [a, b, c, d] = block.map(|vector| vandq_u8(class(vector), places));
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

impl Classify for Neon {
    #[inline(always)]
    fn classify(block: &[u8; BLOCK]) -> Classes {
        let (parts, _) = block.as_chunks::<BYTES>();
        let part = |at: usize| parts.get(at).map_or(all(0), load);
        let block = [part(0), part(1), part(2), part(3)];
        // `[` and `{`, `]` and `}` differ in one bit.
        let lower = block.map(|vector| vorrq_u8(vector, all(0x20)));
        let any = vmaxq_u8(vmaxq_u8(block[0], block[1]), vmaxq_u8(block[2], block[3]));
        Classes {
            quote: bits(block, |vector| is(vector, b'"')),
            backslash: bits(block, |vector| is(vector, b'\\')),
            open: bits(lower, |vector| is(vector, b'{')),
            close: bits(lower, |vector| is(vector, b'}')),
            comma: bits(block, |vector| is(vector, b',')),
            colon: bits(block, |vector| is(vector, b':')),
            blank: bits(block, |vector| {
                let ends = vorrq_u8(is(vector, b'\n'), is(vector, b'\r'));
                vorrq_u8(ends, vorrq_u8(is(vector, b'\t'), is(vector, b' ')))
            }),
            control: bits(block, |vector| vcltq_u8(vector, all(0x20))),
            digit: bits(block, |vector| {
                vcleq_u8(vsubq_u8(vector, all(b'0')), all(9))
            }),
            zero: bits(block, |vector| is(vector, b'0')),
            minus: bits(block, |vector| is(vector, b'-')),
            dot: bits(block, |vector| is(vector, b'.')),
            high: vmaxvq_u8(any) >= 0x80,
        }
    }
}
