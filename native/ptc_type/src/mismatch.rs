//! Type mismatches as data, and the only place where their messages are made.

use super::{Json, Scalar, Type};
use std::fmt;

/// The expected type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A value of a type without parts.
    Scalar(Scalar),
    /// A proper list.
    List,
    /// A map, but not a struct.
    Map,
    /// A declared field that is not optional.
    Field,
}

impl Target {
    /// Number of targets.
    pub const COUNT: usize = Scalar::ALL.len() + 2;

    /// The target that stands for a type.
    pub fn of(of: Type) -> Self {
        match of {
            Type::Scalar(scalar) => Target::Scalar(scalar),
            Type::List(_) => Target::List,
            Type::Map { .. } | Type::MapOf(_) => Target::Map,
            Type::OneOf(_) | Type::Ref(_) | Type::Defs(..) => Target::Scalar(Scalar::Any),
            Type::Optional(_) | Type::Where(..) | Type::Unknown(_) => Target::Scalar(Scalar::Any),
        }
    }

    /// The target's number, from 0; a map has the number of the scalar `:map`.
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
            Target::Scalar(Scalar::Date) => "date (%Date{})",
            Target::Scalar(scalar) => scalar.name(),
            Target::Map => "map",
            Target::List => "list",
            Target::Field => "field",
        }
    }
}

/// The type of the actual value.
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
    /// A map, but not a struct.
    Map,
    /// A list; its end was not necessarily checked.
    List,
    /// A list that does not end in the empty list.
    ImproperList,
    /// A missing field.
    Nothing,
    /// A struct, a tuple, a process, …: the message must show the value itself.
    Other,
}

impl From<Json> for Got {
    fn from(json: Json) -> Self {
        match json {
            Json::String => Got::String,
            Json::Integer => Got::Int,
            Json::Float => Got::Float,
            Json::Bool => Got::Bool,
            Json::Null => Got::Keyword,
            Json::Object => Got::Map,
            Json::Array => Got::List,
        }
    }
}

impl Got {
    /// Number of types.
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
/// use ptc_type::{Got, Mismatch, Scalar, Target};
///
/// let expected = Target::Scalar(Scalar::Int);
/// let mismatch = Mismatch { expected, got: Got::String };
/// assert_eq!(mismatch.to_string(), "expected int, got string");
/// assert_eq!(Mismatch::MISSING.to_string(), "expected field, got nil");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// The expected type.
    pub expected: Target,
    /// The actual type.
    pub got: Got,
}

impl Mismatch {
    /// A missing field.
    pub const MISSING: Mismatch = Mismatch {
        expected: Target::Field,
        got: Got::Nothing,
    };
}

/// The message; for [`Got::Other`], the value must be appended.
impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (expected, got) = (self.expected.word(), self.got.word());
        write!(out, "expected {expected}, got {got}")
    }
}

/// The message about a key that a closed map must not have.
pub const UNEXPECTED_FIELD: &str = "unexpected field — schema disallows additional properties";
