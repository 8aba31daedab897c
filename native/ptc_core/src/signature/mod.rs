//! Signatures: the contracts of agents and tools, `(query :string) -> {total :int}`.
//!
//! * [`types`]: a signature as a flat table, whoever made it: the grammar or a reader of terms
//! * [`grammar`]: text to table; [`render`]: table to text
//! * [`names`]: which key of a map is meant by the declared name of a field
//! * [`walk`]: a value along its type; [`check`] and [`coerce`] are what it can be for
//! * [`values`]: what the walk asks of terms; `memo`, `kept`: what it keeps of them
//! * [`findings`]: what it finds wrong; [`mismatch`]: the words for it
//! * `convert`: values to other types; [`lenient`]: numbers as LLMs write them into strings

pub mod check;
pub mod coerce;
mod convert;
pub mod findings;
pub mod grammar;
mod kept;
pub mod lenient;
mod memo;
pub mod mismatch;
pub mod names;
pub mod render;
pub mod types;
pub mod values;
pub mod walk;

#[cfg(test)]
mod round_trip;

pub use check::Check;
pub use coerce::{Coerce, Purpose};
pub use findings::{Finding, Findings, PathStep, Wrong};
pub use grammar::{parse, Expected, SyntaxError};
pub use kept::Kept;
pub use mismatch::{Got, Mismatch, Target};
pub use render::{render_signature, render_type, KeyStyle};
pub use types::{Field, Fields, Scalar, Signature, Type, TypeId, Types};
pub use values::Values;
pub use walk::{Walk, WalkEnd};
