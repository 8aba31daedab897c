//! JSON: strict RFC 8259 reader and writer without recursion; errors have byte offsets.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod builder;
mod decoding;
mod digits;
mod document;
pub mod grammar;
mod keys;
mod measure;
/// What the heap of plain values implements of this crate.
#[cfg(any(test, feature = "plain"))]
#[path = "../tests/plain/mod.rs"]
mod plain;
mod reader;
mod replay;
pub mod scan;
mod table;
mod writer;

pub use builder::{PartialValue, TermBuilder};
pub use decoding::Decoding;
pub use document::{Document, Entry, Node, Outside, Shape, Table, ADDED, LONG};
pub use measure::{Measuring, Words};
pub use reader::{number_of, Extent, JsonLimits, ReadError, Reader, Sink, Text, LONGEST_INTEGER};
pub use replay::Replay;
pub use table::TableReader;
pub use writer::{
    put_float, put_integer, put_string, write, ConsumeFuel, Draft, Gap, JsonView, NotUtf8, OnHeap,
    Readable, Refusal, Writer, BYTES_PER_UNIT,
};

/// Why a text is not valid JSON within the limits; positions are zero-based byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// `[1,]` at 3, `nul` at 0, `"\x"` at 1: the first byte that is invalid.
    #[error("Unexpected token at position {0}")]
    UnexpectedToken(usize),
    /// `[1` at 2: the text ends inside a value.
    #[error("Unexpected end of input at position {0}")]
    UnexpectedEnd(usize),
    /// One `[` or `{` more than [`JsonLimits::depth`] allows, and its offset.
    #[error("Nesting exceeds {limit} levels at position {position}")]
    TooDeep {
        /// The limit that was exceeded.
        limit: usize,
        /// The offset of the bracket.
        position: usize,
    },
    /// An integer of more bytes than [`JsonLimits::integer`] allows, and its offset.
    #[error("Integer of more than {limit} bytes at position {position}")]
    IntegerTooLong {
        /// The limit that was exceeded.
        limit: usize,
        /// The offset of its first byte.
        position: usize,
    },
}

impl JsonError {
    /// Returns the offset of the error.
    pub fn position(&self) -> usize {
        match self {
            JsonError::UnexpectedToken(position)
            | JsonError::UnexpectedEnd(position)
            | JsonError::TooDeep { position, .. }
            | JsonError::IntegerTooLong { position, .. } => *position,
        }
    }
}
