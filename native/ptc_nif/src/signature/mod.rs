//! Signatures on the BEAM's terms: the NIFs, and the walks behind them.
//!
//! * [`read`], [`write`]: type terms to a table of types and back; [`schema`]: to JSON Schema
//! * [`validate`]: a value against a type; [`rebuild`]: to a type, with [`convert`] and [`map_out`]
//! * [`shape`]: where the fields of a type stand in the maps at hand
//! * [`judge`]: the same for an answer that was just read
//! * [`budget`]: when a walk must leave a scheduler's own thread

mod accept;
mod atom_text;
mod budget;
mod convert;
mod errors;
mod judge;
mod kind;
mod map_out;
mod read;
mod rebuild;
mod schema;
mod seen;
mod shape;
mod text;
mod types;
mod validate;
mod values;
mod words;
mod write;

pub use budget::Pace;
pub use judge::{judge, plan, wanted, Verdict};
