//! Structural index of a JSON text: the text is validated once, as the reader does it, and then read in place.
//!
//! [`Indexer`] makes an [`Index`] in one pass that can stop between any two blocks of 64 bytes. The index has one bit for each byte
//! of the text, which is set where a token starts, and a [`directory`] of bracket depths, which takes 1/63 of the text. Together they
//! are at most 0.142 times as long as the text, whatever is in it. [`Tree`] reads the text by the index: a value is the offset of its
//! first byte.
//!
//! The pass works on 64 bytes at a time, as bits of 64-bit words, and does not branch on tokens:
//!
//! * [`classes`]: which bytes are quotes, brackets, digits …; the only part with vectors
//! * [`strings`]: what is inside strings, and the escapes
//! * [`numbers`], [`long`], [`words`]: scalars
//! * [`brackets`]: the open containers
//! * [`grammar`]: which token may follow which

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod brackets;
pub mod classes;
pub mod directory;
pub mod grammar;
mod indexer;
pub mod long;
mod members;
pub mod numbers;
pub mod strings;
mod tree;
mod utf8;
pub mod words;

pub use indexer::{Index, Indexer, Invalid, Largest, LONGEST_TEXT};
pub use members::{Hint, Members};
pub use tree::{Content, Kind, Node, Tree};

/// Bytes of a block, which is one word of bits.
pub const BLOCK: usize = 64;
/// Blocks of a chunk, which is read in one go.
pub const BLOCKS: usize = 8;
/// Bytes of a chunk.
pub const CHUNK: usize = BLOCKS * BLOCK;

/// One value for each block of a chunk.
pub type PerBlock<T> = [T; BLOCKS];

/// Returns the bits after those of `mask`, with the carry of the block before, which is 0 or 1; and changes the carry.
#[inline(always)]
pub(crate) fn after(mask: u64, carry: &mut u64) -> u64 {
    let after = mask << 1 | *carry;
    *carry = mask >> 63;
    after
}

/// Passes over `mask` from each bit of `from`, and returns the first bit after it. The bits of `from` are at the first bit of
/// runs of `mask`, or outside of it. The carry says whether the block before ended within a run, or just before this block.
#[inline(always)]
pub(crate) fn past(mask: u64, from: u64, carry: &mut u64) -> u64 {
    let (sum, over) = mask.overflowing_add(from | *carry);
    *carry = u64::from(over);
    sum & !mask
}
