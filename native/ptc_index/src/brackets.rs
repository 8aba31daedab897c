//! The open containers: which bracket closes which, and what is inside objects.

use super::directory::Excess;
use super::BLOCK;

/// The containers of a block.
#[derive(Debug, Clone, Copy)]
pub struct Containers {
    /// The bytes whose innermost container is an object; brackets themselves are either.
    pub object: u64,
    /// The bytes outside of all containers; brackets themselves are either.
    pub top: u64,
    /// The opening brackets of objects.
    pub braces: u64,
    /// Whether all brackets match, within the limit of depth.
    pub are_valid: bool,
}

/// The containers that are open.
#[derive(Debug, Clone)]
pub struct BracketState {
    kinds: Bits,
    depth: usize,
    deepest: usize,
    /// The depth since the start of the chunk.
    excess: Excess,
}

/// The bit of a byte that distinguishes `{` and `}` from `[` and `]`.
const BRACE: u8 = 0x20;

impl BracketState {
    /// No container is open; `depth` is the largest number of open ones.
    pub fn new(depth: usize) -> Self {
        BracketState {
            kinds: Bits::default(),
            depth: 0,
            deepest: depth,
            excess: Excess::default(),
        }
    }

    /// Returns whether all containers are closed.
    pub fn are_closed(&self) -> bool {
        self.depth == 0
    }

    /// Returns the excess of a chunk, at its end.
    pub fn take_excess(&mut self) -> Excess {
        std::mem::take(&mut self.excess)
    }

    /// Returns the containers of the next block; `open` and `close` are its brackets outside of strings.
    #[inline(always)]
    pub fn next(&mut self, block: &[u8; BLOCK], open: u64, close: u64) -> Containers {
        let spread = |yes: bool| if yes { u64::MAX } else { 0 };
        let mut inside = Containers {
            object: spread(self.depth > 0 && self.kinds.last()),
            top: spread(self.depth == 0),
            braces: 0,
            are_valid: true,
        };
        let mut brackets = open | close;
        while brackets != 0 {
            let place = brackets.trailing_zeros();
            let bit = brackets & brackets.wrapping_neg();
            brackets ^= bit;
            let brace = block[place as usize % BLOCK] & BRACE != 0;
            let from = u64::MAX << place;
            if open & bit != 0 {
                inside.are_valid &= self.depth < self.deepest;
                self.kinds.push(brace);
                self.depth += 1;
                self.excess.delta += 1;
                if brace {
                    inside.braces |= bit;
                    inside.object |= from;
                } else {
                    inside.object &= !from;
                }
                inside.top &= !from;
            } else {
                if self.depth == 0 || self.kinds.last() != brace {
                    inside.are_valid = false;
                    return inside;
                }
                self.kinds.pop();
                self.depth -= 1;
                self.excess.close();
                if self.depth == 0 {
                    inside.object &= !from;
                    inside.top |= from;
                } else if self.kinds.last() {
                    inside.object |= from;
                } else {
                    inside.object &= !from;
                }
            }
        }
        inside
    }
}

/// A stack of bits.
#[derive(Debug, Clone, Default)]
struct Bits {
    /// The last bits, the last one lowest.
    word: u64,
    /// How many they are: 0 only if the stack is empty.
    count: u32,
    /// The words before, in parts, so that a deep stack is never copied to grow.
    full: Vec<Vec<u64>>,
}

/// Words of a part of the stack.
const PART: usize = 512;

impl Bits {
    #[inline(always)]
    fn last(&self) -> bool {
        self.word & 1 != 0
    }

    #[inline(always)]
    fn push(&mut self, bit: bool) {
        if self.count == u64::BITS {
            self.save();
        }
        self.word = self.word << 1 | u64::from(bit);
        self.count += 1;
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.word >>= 1;
        self.count -= 1;
        if self.count == 0 {
            self.restore();
        }
    }

    #[cold]
    fn save(&mut self) {
        match self.full.last_mut() {
            Some(part) if part.len() < PART => part.push(self.word),
            _ => {
                let mut part = Vec::with_capacity(PART);
                part.push(self.word);
                self.full.push(part);
            }
        }
        self.count = 0;
    }

    #[cold]
    fn restore(&mut self) {
        let Some(part) = self.full.last_mut() else {
            return;
        };
        if let Some(word) = part.pop() {
            (self.word, self.count) = (word, u64::BITS);
        }
        if part.is_empty() {
            self.full.pop();
        }
    }

    /// Returns the memory in bytes.
    fn bytes(&self) -> usize {
        self.full.len() * (PART * 8 + size_of::<Vec<u64>>())
    }
}

impl BracketState {
    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.kinds.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_is_the_same_as_a_list() {
        let mut bits = Bits::default();
        let mut list = Vec::new();
        let mut random = 1_u64;
        for round in 0..400_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // It grows, then shrinks.
            let grows = (random >> 33) % 8 < if round < 200_000 { 6 } else { 2 };
            if grows {
                bits.push(random >> 63 != 0);
                list.push(random >> 63 != 0);
            } else if list.pop().is_some() {
                bits.pop();
            }
            if let Some(last) = list.last() {
                assert_eq!(bits.last(), *last);
            }
        }
        assert!(list.len() < 1_000, "{}", list.len());
    }
}
