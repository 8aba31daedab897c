//! Values that are added through a shared reference, and stay in their place as long as the arena lives.

use std::cell::{Cell, OnceCell};

/// Number of values of the first block; each block is twice as long as the one before.
const FIRST: usize = 16;
/// Number of blocks.
const BLOCKS: usize = 40;

/// An arena of values.
pub struct Arena<V> {
    blocks: [OnceCell<Box<[OnceCell<V>]>>; BLOCKS],
    length: Cell<usize>,
}

impl<V> Default for Arena<V> {
    fn default() -> Self {
        Arena {
            blocks: std::array::from_fn(|_| OnceCell::new()),
            length: Cell::new(0),
        }
    }
}

/// Returns the block of a value, its place there, and the length of the block.
fn place(index: usize) -> (usize, usize, usize) {
    let scaled = index / FIRST + 1;
    let block = scaled.ilog2() as usize;
    let length = FIRST << block;
    (block, index + FIRST - length, length)
}

impl<V> Arena<V> {
    /// Adds a value and returns its index.
    pub fn push(&self, value: V) -> usize {
        let index = self.length.get();
        let (block, at, length) = place(index);
        let block =
            self.blocks[block].get_or_init(|| (0..length).map(|_| OnceCell::new()).collect());
        block[at].get_or_init(|| value);
        self.length.set(index + 1);
        index
    }

    /// Returns the value at an index that was returned by `push`.
    pub fn get(&self, index: usize) -> Option<&V> {
        let (block, at, _) = place(index);
        self.blocks.get(block)?.get()?.get(at)?.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are() {
        let arena = Arena::default();
        let first = arena.push("0".to_owned());
        let kept = arena.get(first);
        for n in 1..10_000 {
            assert_eq!(arena.push(n.to_string()), n);
        }
        assert_eq!(kept.map(String::as_str), Some("0"));
        assert!((0..10_000).all(|n| arena.get(n) == Some(&n.to_string())));
        assert_eq!(arena.get(10_000), None);
    }
}
