//! `true`, `false` and `null`.

/// Words that continue in the next block.
#[derive(Debug, Clone, Copy, Default)]
pub struct WordState {
    /// The first bytes of the block, as far as they are the rest of a word.
    rest: u64,
}

impl WordState {
    /// Returns the bytes of words in the block at `at`, and the starts that begin no word.
    #[inline(always)]
    pub fn next(&mut self, text: &[u8], at: usize, mut starts: u64) -> (u64, u64) {
        let mut words = std::mem::take(&mut self.rest);
        let mut others = 0;
        while starts != 0 {
            let place = starts.trailing_zeros();
            let start = starts & starts.wrapping_neg();
            starts ^= start;
            match length(text, at + place as usize) {
                0 => others |= start,
                length => {
                    let letters = ((1_u128 << length) - 1) << place;
                    words |= letters as u64;
                    self.rest |= (letters >> 64) as u64;
                }
            }
        }
        (words, others)
    }
}

/// Returns the length of the word at `at`, or 0.
#[inline(always)]
fn length(text: &[u8], at: usize) -> u32 {
    let Some(four) = text.get(at..).and_then(<[u8]>::first_chunk::<4>) else {
        return 0;
    };
    match four {
        b"true" | b"null" => 4,
        b"fals" if text.get(at + 4) == Some(&b'e') => 5,
        _ => 0,
    }
}
