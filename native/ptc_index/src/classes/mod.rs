//! Which bytes of a block are of which class, one bit for each byte.
//!
//! * this file: the classes, and which implementation this processor has
//! * [`scalar`]: the implementation without vectors, which defines the classes

pub mod scalar;

use super::BLOCK;

/// The bytes of a block of each class: bit i is byte i. Whether a byte is inside a string plays no part here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes {
    /// `"`
    pub quote: u64,
    /// `\`
    pub backslash: u64,
    /// `[` and `{`
    pub open: u64,
    /// `]` and `}`
    pub close: u64,
    /// `,`
    pub comma: u64,
    /// `:`
    pub colon: u64,
    /// Space, tab, line feed and carriage return.
    pub blank: u64,
    /// Bytes below 0x20.
    pub control: u64,
    /// `0` to `9`
    pub digit: u64,
    /// `0`
    pub zero: u64,
    /// `-`
    pub minus: u64,
    /// `.`
    pub dot: u64,
    /// Whether there are bytes from 0x80 on.
    pub high: bool,
}

/// Finds the classes of the bytes of a block.
pub trait Classify {
    /// Returns the classes.
    fn classify(block: &[u8; BLOCK]) -> Classes;
}

/// The fastest implementation for this processor.
pub type Fastest = scalar::Scalar;
