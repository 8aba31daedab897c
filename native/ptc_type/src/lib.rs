//! Signatures: the contracts of agents and tools, `(query :string) -> {total :int}`.
//!
//! * [`types`]: a signature as a flat table, built by the grammar or by [`read`] from terms; `entry`: a type in it
//! * [`grammar`]: text to table; [`render`]: table to text
//! * [`terms`]: table to type terms; [`schema`]: to JSON Schema
//! * [`json`]: JSON values along a type, and the type of an answer
//! * [`constraint`]: rules beside types: bounds, patterns, enumerations, defaults
//! * [`rules`]: what differs between releases of ptc_runner
//! * `index`, `doubles`: many names, and equal ones
//! * [`twin`]: the key of a map that spells a name in another way
//! * [`walk`]: the walk over a value along its type; [`check`] and [`coerce`] are its tasks
//! * [`values`]: the interface to terms; `memo`: values that a long walk has found valid
//! * [`findings`]: the errors found; [`mismatch`]: their messages; [`listing`]: as terms; [`error_line`]: as a line; [`failure`]: the error that ends a coercion
//! * `convert`: conversions between types; `convert_ruled`: by rules; [`lenient`]: parsing of numbers that LLMs write as strings

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod check;
pub mod coerce;
pub mod constraint;
mod convert;
mod convert_ruled;
mod doubles;
mod entry;
pub mod error_line;
pub mod error_terms;
pub mod failure;
pub mod findings;
pub mod grammar;
mod index;
pub mod json;
pub mod normalize;
/// What the heap of plain values implements of this crate.
#[cfg(any(test, feature = "plain"))]
#[path = "../tests/plain/mod.rs"]
pub mod plain;

pub mod lenient;
pub mod listing;
mod memo;
pub mod mismatch;
pub mod read;
pub mod render;
pub mod rules;
mod scalar;
pub mod schema;
pub mod terms;
pub mod twin;
pub mod types;
pub mod values;
pub mod walk;

#[cfg(test)]
mod round_trip;

pub use check::Check;
pub use coerce::{Coerce, Purpose};
pub use constraint::{Constraints, Rule};
pub use convert::LONGEST_ISO;
pub use findings::{Finding, Findings, PathStep, Wrong};
pub use grammar::{parse, parse_by, Expected, SyntaxError};
pub use json::{AnswerType, Json};
pub use listing::{ErrorAtoms, Listing};
pub use mismatch::{Got, Mismatch, Target};
pub use read::{read, Read, ReadOptions, TypeAtoms};
pub use render::{render_signature, render_type, KeyStyle};
pub use rules::Rules;
pub use schema::schema;
pub use terms::TypeTerms;
pub use types::{Field, Fields, Scalar, Signature, Type, TypeId, Types};
pub use values::Values;
pub use walk::{LeftAt, LeftWalk, QuantumClock, State, Walk, WalkEnd};
