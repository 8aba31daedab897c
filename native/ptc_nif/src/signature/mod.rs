//! Signatures on the BEAM's terms: the NIFs, and what the walks of the core ask of terms.
//!
//! * [`read`], [`write`]: type terms to a table of types and back; [`schema`]: to JSON Schema
//! * [`beam`]: what signatures ask of terms; [`shape`]: where the fields of a type stand in the maps
//!   at hand; [`map_out`]: maps out of coerced fields
//! * [`values`]: values against types, in one call or in several; [`suspension`]: between two calls
//! * [`judge`]: the same for an answer that was just read; [`errors`]: findings as terms

mod atom_text;
mod beam;
mod errors;
mod judge;
mod map_out;
mod read;
mod schema;
mod shape;
mod suspension;
mod text;
mod type_atoms;
mod types;
mod values;
mod write;

pub use atom_text::{
    existing as existing_atom, is_named as atom_is_named, with_name as with_atom_name,
};
pub use judge::{answer_type, judge, wanted, Verdict};
pub use suspension::LeftWalk;
pub use values::go_on;
