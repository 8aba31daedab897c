//! A hash of one word: an address or an immediate term, which no input can choose.

use std::hash::Hasher;

/// Multiplies by the golden ratio, which spreads neighbouring words.
pub fn spread(word: u64) -> u64 {
    word.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Hashes a word by [`spread`].
#[derive(Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(*byte as usize);
        }
    }

    fn write_usize(&mut self, word: usize) {
        self.0 = spread(self.0 ^ word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
