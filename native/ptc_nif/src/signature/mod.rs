//! Signatures on the BEAM's terms: the NIFs, and the core's access to terms.
//!
//! * [`text`], [`types`]: the NIFs for signatures as text and as type terms; [`type_atoms`]: the atoms in these terms
//! * [`beam`]: properties of terms; [`shape`]: finds the fields of a type in maps; [`map_out`]: builds maps
//!   from coerced fields
//! * [`values`]: checks values against types, in one call or several

mod atom_text;
mod beam;
mod map_out;
mod shape;
mod text;
mod type_atoms;
mod types;
mod values;

pub use atom_text::{existing as existing_atom, with_name as with_atom_name};

use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{settle, Pace};
use ptc_term::meter::{Limits, Meter};
use ptc_type::{read, AnswerType, ReadOptions};
use rustler::Env;

/// The type of an answer; `None` if it has too many parts for a slice.
pub fn answer_type<'a>(env: Env<'a>, of: Raw<'a>, list: bool, pace: Pace) -> Option<AnswerType> {
    let mut meter = Meter::whole(Limits::UNLIMITED, pace);
    let (read, id) = read(&Beam::new(env, 0), of, ReadOptions::VALUES, &mut meter).ok()?;
    settle(env, &meter);
    Some(AnswerType::new(read.types, id, list))
}
