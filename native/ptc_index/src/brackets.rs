//! The open containers: which bracket closes which, and what is inside objects.

use super::classes::Classes;
use super::directory::Excess;
use super::strings::Strings;
use super::{PerBlock, BLOCK, CHUNK};

/// The containers of a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct Containers {
    /// The opening brackets.
    pub open: u64,
    /// The closing brackets.
    pub close: u64,
    /// The opening brackets of objects.
    pub braces: u64,
    /// The bytes whose innermost container is an object; brackets themselves are either.
    pub object: u64,
    /// The bytes outside of all containers; brackets themselves are either.
    pub top: u64,
}

/// The containers that are open.
#[derive(Debug, Clone)]
pub struct BracketState {
    kinds: Bits,
    deepest: usize,
    /// The commas of the innermost container so far, and of those around it, up to [`LEVELS`].
    commas: u32,
    outer_commas: Vec<u16>,
    /// The most commas of an object.
    most_commas: u32,
}

/// Open containers whose members are counted.
const LEVELS: usize = 65_536;

impl BracketState {
    /// No container is open; `deepest` is the largest number of open ones.
    pub fn new(deepest: usize) -> Self {
        BracketState {
            kinds: Bits::default(),
            deepest,
            commas: 0,
            outer_commas: Vec::new(),
            most_commas: 0,
        }
    }

    /// Returns the most members that an object may have.
    pub fn most_members(&self) -> usize {
        self.most_commas as usize + 1
    }

    /// The innermost container is another one, inside of the last.
    #[inline(always)]
    fn enter(&mut self) {
        let commas = std::mem::take(&mut self.commas);
        if self.outer_commas.len() < LEVELS {
            self.outer_commas
                .push(commas.try_into().unwrap_or(u16::MAX));
        } else {
            // Commas further in are not counted.
            self.most_commas = u32::MAX;
        }
    }

    /// The innermost container is the last but one.
    #[inline(always)]
    fn leave(&mut self, object: bool) {
        if object {
            self.most_commas = self.most_commas.max(self.commas);
        }
        self.commas = 0;
        if self.kinds.count < LEVELS {
            self.commas = self.outer_commas.pop().unwrap_or_default().into();
        }
    }

    /// Returns whether all containers are closed.
    pub fn are_closed(&self) -> bool {
        self.kinds.count == 0
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.kinds.bytes() + self.outer_commas.capacity() * size_of::<u16>()
    }

    /// Finds the containers of the next chunk; returns their depths, unless a bracket does not match or is too deep.
    #[inline(never)]
    pub fn next(
        &mut self,
        chunk: &[u8; CHUNK],
        classes: &PerBlock<Classes>,
        strings: &PerBlock<Strings>,
        containers: &mut PerBlock<Containers>,
    ) -> Option<Excess> {
        let (blocks, _) = chunk.as_chunks::<BLOCK>();
        let before = self.kinds.count;
        let mut least = before;
        for (((inside, block), classes), strings) in
            containers.iter_mut().zip(blocks).zip(classes).zip(strings)
        {
            let brackets = classes.bracket & !strings.inside;
            let commas = classes.comma & !strings.inside;
            *inside = self.block(block, brackets, commas, &mut least)?;
        }
        let relative = |depth: usize| (depth as i64 - before as i64) as i32;
        Some(Excess {
            delta: relative(self.kinds.count),
            least: relative(least),
        })
    }

    /// Returns the containers of a block.
    #[inline(always)]
    fn block(
        &mut self,
        block: &[u8; BLOCK],
        mut brackets: u64,
        mut commas: u64,
        least: &mut usize,
    ) -> Option<Containers> {
        let spread = |yes: bool| if yes { u64::MAX } else { 0 };
        let mut inside = Containers {
            object: spread(self.kinds.last()),
            top: spread(self.kinds.count == 0),
            ..Containers::default()
        };
        while brackets != 0 {
            let place = brackets.trailing_zeros();
            let bit = brackets & brackets.wrapping_neg();
            brackets ^= bit;
            let from = u64::MAX << place;
            let byte = block[place as usize % BLOCK];
            if commas & !from != 0 {
                self.commas += (commas & !from).count_ones();
                commas &= from;
            }
            match byte {
                b'{' | b'[' => {
                    if self.kinds.count >= self.deepest {
                        return None;
                    }
                    let brace = byte == b'{';
                    self.enter();
                    self.kinds.push(brace);
                    inside.open |= bit;
                    inside.top &= !from;
                    if brace {
                        inside.braces |= bit;
                        inside.object |= from;
                    } else {
                        inside.object &= !from;
                    }
                }
                b'}' | b']' => {
                    if self.kinds.count == 0 || self.kinds.last() != (byte == b'}') {
                        return None;
                    }
                    self.kinds.pop();
                    self.leave(byte == b'}');
                    inside.close |= bit;
                    *least = self.kinds.count.min(*least);
                    if self.kinds.last() {
                        inside.object |= from;
                    } else {
                        inside.object &= !from;
                        if self.kinds.count == 0 {
                            inside.top |= from;
                        }
                    }
                }
                // The others of the class are no tokens.
                _ => return None,
            }
        }
        if commas != 0 {
            self.commas += commas.count_ones();
        }
        Some(inside)
    }
}

/// A stack of bits.
#[derive(Debug, Clone, Default)]
struct Bits {
    /// The last bits, the last one lowest; 0 if the stack is empty.
    word: u64,
    count: usize,
    /// The words before, in parts, so that a deep stack is never copied to grow.
    full: Vec<Vec<u64>>,
}

/// Bits of a word.
const BITS: usize = u64::BITS as usize;
/// Words of a part of the stack.
const PART: usize = 512;

impl Bits {
    /// Returns the last bit, or false.
    #[inline(always)]
    fn last(&self) -> bool {
        self.word & 1 != 0
    }

    #[inline(always)]
    fn push(&mut self, bit: bool) {
        if self.count > 0 && self.count.is_multiple_of(BITS) {
            self.save();
        }
        self.word = self.word << 1 | u64::from(bit);
        self.count += 1;
    }

    /// Removes the last bit of a stack that is not empty.
    #[inline(always)]
    fn pop(&mut self) {
        self.word >>= 1;
        self.count -= 1;
        if self.count > 0 && self.count.is_multiple_of(BITS) {
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
        self.word = 0;
    }

    #[cold]
    fn restore(&mut self) {
        if let Some(part) = self.full.last_mut() {
            self.word = part.pop().unwrap_or_default();
            if part.is_empty() {
                self.full.pop();
            }
        }
    }

    /// Returns the memory in bytes.
    fn bytes(&self) -> usize {
        self.full.len() * (PART * size_of::<u64>() + size_of::<Vec<u64>>())
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
