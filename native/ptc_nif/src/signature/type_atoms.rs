//! The atoms in type terms.

use crate::atoms;
use crate::raw::Raw;
use ptc_core::signature::Scalar;
use rustler::types::atom::Atom;
use rustler::{Encoder, Env};

/// The atoms, for one call.
pub struct TypeAtoms<'a> {
    pub optional: Raw<'a>,
    pub list: Raw<'a>,
    pub closed_map: Raw<'a>,
    /// By the number of the scalar.
    pub scalars: [Raw<'a>; 8],
}

impl<'a> TypeAtoms<'a> {
    pub fn new(env: Env<'a>) -> Self {
        let word = |atom: Atom| Raw::from(atom.encode(env));
        TypeAtoms {
            optional: word(atoms::optional()),
            list: word(atoms::list()),
            closed_map: word(atoms::closed_map()),
            scalars: Scalar::ALL.map(|scalar| word(atom_of(scalar))),
        }
    }

    /// The scalar that a term names.
    #[inline]
    pub fn scalar(&self, term: Raw<'a>) -> Option<Scalar> {
        let is = |word: &Raw<'a>| word.word() == term.word();
        let index = self.scalars.iter().position(is)?;
        Some(Scalar::ALL[index])
    }

    /// The atom of a scalar.
    pub fn scalar_atom(&self, scalar: Scalar) -> Raw<'a> {
        self.scalars[scalar as usize]
    }

    /// The atom of the map scalar, which is also the tag of maps.
    pub fn map(&self) -> Raw<'a> {
        self.scalars[Scalar::Map as usize]
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
        Scalar::DateTime => atoms::datetime(),
    }
}
