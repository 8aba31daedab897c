//! x
use super::{Classes, Classify, BLOCK};
use std::arch::x86_64::*;
/// x
#[derive(Debug, Clone, Copy)]
pub struct Sse2;
macro_rules! load {
    ($b:expr,$i:expr) => {{
        let (e, _) = $b.as_chunks::<8>();
        _mm_set_epi64x(
            i64::from_le_bytes(e[2 * $i + 1]),
            i64::from_le_bytes(e[2 * $i]),
        )
    }};
}
macro_rules! bits {
    ($b:expr, $v:ident => $c:expr) => {{
        let m = |$v: __m128i| u64::from(unsafe { _mm_movemask_epi8($c) } as u16);
        (m($b[0]) | m($b[1]) << 16) | (m($b[2]) | m($b[3]) << 16) << 32
    }};
}
impl Classify for Sse2 {
    #[inline(always)]
    fn classify(block: &[u8; BLOCK]) -> Classes {
        unsafe {
            let b = [
                load!(block, 0),
                load!(block, 1),
                load!(block, 2),
                load!(block, 3),
            ];
            let all = |x: u8| _mm_set1_epi8(x as i8);
            let any = _mm_or_si128(_mm_or_si128(b[0], b[1]), _mm_or_si128(b[2], b[3]));
            let low = _mm_min_epu8(_mm_min_epu8(b[0], b[1]), _mm_min_epu8(b[2], b[3]));
            let mut control = 0;
            let mut blank = !bits!(b, v => _mm_adds_epu8(v, all(0x5F)));
            if _mm_movemask_epi8(_mm_adds_epu8(low, all(0x60))) != 0xFFFF {
                control = !bits!(b, v => _mm_adds_epu8(v, all(0x60)));
                blank &= !control;
                blank |= bits!(b, v => _mm_or_si128(_mm_cmpeq_epi8(v, all(b'\t')), _mm_or_si128(_mm_cmpeq_epi8(v, all(b'\r')),_mm_cmpeq_epi8(v, all(b'\n')))));
            }
            Classes {
                control,
                blank,
                high: _mm_movemask_epi8(any) as u64,
                quote: bits!(b, v => _mm_cmpeq_epi8(v, all(b'"'))),
                backslash: bits!(b, v => _mm_cmpeq_epi8(v, all(b'\\'))),
                bracket: bits!(b, v => _mm_cmpeq_epi8(_mm_and_si128(v, all(0xD9)), all(0x59))),
                comma: bits!(b, v => _mm_cmpeq_epi8(v, all(b','))),
                colon: bits!(b, v => _mm_cmpeq_epi8(v, all(b':'))),
                zero: bits!(b, v => _mm_cmpeq_epi8(v, all(b'0'))),
                minus: bits!(b, v => _mm_cmpeq_epi8(v, all(b'-'))),
                dot: bits!(b, v => _mm_cmpeq_epi8(v, all(b'.'))),
                digit: !bits!(b, v => _mm_adds_epu8(_mm_sub_epi8(v, all(b'0')), all(0x76))),
            }
        }
    }
}
