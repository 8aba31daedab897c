//! Signatures on the BEAM's terms: the NIFs, and the core's access to terms.
//!
//! * [`read`], [`write`]: type terms to a table of types and back; [`schema`]: to JSON Schema
//! * [`beam`]: properties of terms; [`shape`]: finds the fields of a type in maps; [`map_out`]: builds maps
//!   from coerced fields
//! * [`values`]: checks values against types, in one call or several; [`suspension`]: suspended walks
//! * [`judge`]: checks an answer that was just read; [`errors`]: findings as terms

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
pub use judge::{answer_type, judge_whole, Judge, Verdict};
pub use suspension::LeftWalk;
pub use values::go_on;
