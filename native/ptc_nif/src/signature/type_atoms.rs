//! The atoms in type terms and in errors.

use crate::atoms;
use crate::raw::Raw;
use ptc_type::{ErrorAtoms, Scalar};
use rustler::types::atom::Atom;
use rustler::{Encoder, Env};

pub type TypeAtoms<'a> = ptc_type::TypeAtoms<Raw<'a>>;

/// The atoms in type terms.
pub fn type_atoms(env: Env) -> TypeAtoms {
    let word = |atom: Atom| Raw::from(atom.encode(env));
    TypeAtoms {
        optional: word(atoms::optional()),
        list: word(atoms::list()),
        closed_map: word(atoms::closed_map()),
        scalars: Scalar::WORDS.map(|scalar| word(atom_of(scalar))),
    }
}

/// The atoms in errors.
pub fn error_atoms(env: Env) -> ErrorAtoms<Raw> {
    let word = |atom: Atom| Raw::from(atom.encode(env));
    ErrorAtoms {
        path: word(atoms::path()),
        message: word(atoms::message()),
        inspect: word(atoms::inspect()),
        kind: word(atoms::kind()),
        unexpected: word(atoms::unexpected()),
    }
}

fn atom_of(scalar: Scalar) -> Atom {
    match scalar {
        Scalar::String => atoms::string(),
        Scalar::Int => atoms::int(),
        Scalar::Float => atoms::float(),
        Scalar::Bool => atoms::bool(),
        Scalar::Keyword => atoms::keyword(),
        Scalar::Any => atoms::any(),
        Scalar::Map => atoms::map(),
        _ => atoms::datetime(),
    }
}
