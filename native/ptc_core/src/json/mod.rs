//! JSON text: strict RFC 8259, read and written without recursion, errors with byte positions.

mod builder;
mod document;
mod keys;
mod reader;
mod replay;
pub(crate) mod scan;
mod table;
mod writer;

pub use builder::{FrozenTerms, Parts, TermBuilder};
pub use document::{Document, Entry, Table};
pub use reader::{Extent, JsonLimits, ReadError, Reader, Sink, Text, LONGEST_INTEGER};
pub use replay::Replay;
pub use table::TableReader;
pub use writer::{write, Draft, Gap, JsonView, Readable, Refusal, Spend, Writer, BYTES_PER_UNIT};

/// Why a text is not the JSON that was asked for; positions are zero-based byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// `[1,]` at 3, `nul` at 0, `"\x"` at 1: the first byte that cannot stand where it stands.
    #[error("Unexpected token at position {0}")]
    UnexpectedToken(usize),
    /// `[1` at 2: the text ends inside a value.
    #[error("Unexpected end of input at position {0}")]
    UnexpectedEnd(usize),
    /// One `[` or `{` more than [`JsonLimits::depth`] allows, and where it stands.
    #[error("Nesting exceeds {limit} levels at position {position}")]
    TooDeep {
        /// The limit that was crossed.
        limit: usize,
        /// The offset of the bracket that crossed it.
        position: usize,
    },
    /// An integer of more bytes than [`JsonLimits::integer`] allows, and where it stands.
    #[error("Integer of more than {limit} bytes at position {position}")]
    IntegerTooLong {
        /// The limit that was crossed.
        limit: usize,
        /// The offset of its first byte.
        position: usize,
    },
}

impl JsonError {
    /// Where the text is not what it should be.
    pub fn position(&self) -> usize {
        match self {
            JsonError::UnexpectedToken(position)
            | JsonError::UnexpectedEnd(position)
            | JsonError::TooDeep { position, .. }
            | JsonError::IntegerTooLong { position, .. } => *position,
        }
    }
}
