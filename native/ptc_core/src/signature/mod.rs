//! Signatures: the contracts of agents and tools, `(query :string) -> {total :int}`.
//!
//! * [`types`]: a signature as a flat table, whoever made it: the grammar or a reader of terms
//! * [`grammar`]: text to table; [`render`]: table to text
//! * [`names`]: which key of a map is meant by the declared name of a field
//! * [`lenient`]: numbers as LLMs write them into strings

pub mod grammar;
pub mod lenient;
pub mod names;
pub mod render;
pub mod types;

#[cfg(test)]
mod round_trip;

pub use grammar::{parse, Expected, SyntaxError};
pub use render::{render_signature, render_type, KeyStyle};
pub use types::{Field, Fields, Scalar, Signature, Type, TypeId, Types};
