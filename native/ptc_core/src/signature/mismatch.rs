//! What stands where something else was expected, as data; its words are made here and nowhere else.

use super::Scalar;
use std::fmt;

/// What a type expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A value of a type without parts.
    Scalar(Scalar),
    /// A proper list.
    List,
    /// A map that is no struct.
    Map,
    /// A field that is declared and not optional.
    Field,
}

impl Target {
    /// How many there are.
    pub const COUNT: usize = Scalar::ALL.len() + 2;

    /// A number from 0; a map is the same as the scalar `:map`.
    pub fn number(self) -> usize {
        match self {
            Target::Scalar(scalar) => scalar as usize,
            Target::Map => Scalar::Map as usize,
            Target::List => Scalar::ALL.len(),
            Target::Field => Scalar::ALL.len() + 1,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Target::Scalar(Scalar::DateTime) => "datetime (%DateTime{})",
            Target::Scalar(scalar) => scalar.name(),
            Target::Map => "map",
            Target::List => "list",
            Target::Field => "field",
        }
    }
}

/// What was found in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// A binary.
    String,
    /// An integer.
    Int,
    /// A float.
    Float,
    /// `true` or `false`.
    Bool,
    /// Another atom, `nil` included, or a keyword of PTC-Lisp.
    Keyword,
    /// A map that is no struct.
    Map,
    /// A list, proper as far as anybody looked.
    List,
    /// A list that ends in something else than the empty list.
    ImproperList,
    /// No such field.
    Nothing,
    /// A struct, a tuple, a process, …: the value itself has to be shown.
    Other,
}

impl Got {
    /// How many there are.
    pub const COUNT: usize = Got::Other as usize + 1;

    fn word(self) -> &'static str {
        match self {
            Got::String => "string",
            Got::Int => "int",
            Got::Float => "float",
            Got::Bool => "bool",
            Got::Keyword => "keyword",
            Got::Map => "map",
            Got::List => "list",
            Got::ImproperList => "improper list",
            Got::Nothing => "nil",
            Got::Other => "",
        }
    }
}

/// Something else than expected.
///
/// ```
/// use ptc_core::signature::{Got, Mismatch, Scalar, Target};
///
/// let expected = Target::Scalar(Scalar::Int);
/// let mismatch = Mismatch { expected, got: Got::String };
/// assert_eq!(mismatch.to_string(), "expected int, got string");
/// assert_eq!(Mismatch::MISSING.to_string(), "expected field, got nil");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// What was expected.
    pub expected: Target,
    /// What was found.
    pub got: Got,
}

impl Mismatch {
    /// A field that is not there.
    pub const MISSING: Mismatch = Mismatch {
        expected: Target::Field,
        got: Got::Nothing,
    };
}

/// The message; it ends where the value is to be shown if it is [`Got::Other`].
impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (expected, got) = (self.expected.word(), self.got.word());
        write!(out, "expected {expected}, got {got}")
    }
}

/// The message about a key that a closed map must not have.
pub const UNEXPECTED_FIELD: &str = "unexpected field — schema disallows additional properties";
