//! The core's `Values` trait for signatures, implemented over the BEAM's terms.

use super::atom_text;
use super::shape::Shapes;
use super::type_atoms::{error_atoms, type_atoms, TypeAtoms};
use crate::atoms;
use crate::heap::Beam;
use crate::names;
use crate::raw::{words, Raw, TermKind};
use ptc_term::class::{Class, Classed};
use ptc_term::heap::Heap;
use ptc_term::names::KeyKind;
use ptc_type::values::{TimeStruct, Values};
use ptc_type::{ErrorAtoms, Scalar};
use rustler::types::atom::{__struct__, Atom};
use rustler::Encoder;

/// Words of a map of two keys that shares them with another map.
const WORDS_OF_UPDATE: usize = 5;

impl<'a> Beam<'a> {
    fn atom(&self, atom: Atom) -> Raw<'a> {
        atom.encode(self.terms.env).into()
    }
}

impl<'a> Classed for Beam<'a> {
    #[inline]
    fn class(&self, term: Raw<'a>) -> Class {
        match self.terms.kind(term) {
            TermKind::Atom => Class::Atom,
            TermKind::Binary => Class::Bitstring,
            TermKind::Float => Class::Float,
            TermKind::Integer => Class::Integer,
            TermKind::List => Class::List,
            TermKind::Map => Class::Map,
            _ => Class::Other,
        }
    }

    #[inline]
    fn is_binary(&self, term: Raw<'a>) -> bool {
        self.terms.is_binary(term)
    }

    #[inline]
    fn same(&self, a: Raw<'a>, b: Raw<'a>) -> bool {
        a.word() == b.word()
    }

    #[inline]
    fn is_nil(&self, term: Raw<'a>) -> bool {
        term.word() == self.nil().word()
    }

    #[inline]
    fn is_bool(&self, term: Raw<'a>) -> bool {
        term.word() == self.boolean(true).word() || term.word() == self.boolean(false).word()
    }

    fn is_struct(&self, map: Raw<'a>) -> bool {
        let key = self.atom(__struct__());
        let module = match self.flat(map) {
            Some((keys, values)) => {
                let place = keys.iter().position(|other| other.word() == key.word());
                place.map(|place| values[place])
            }
            None => self.terms.map_get(map, key),
        };
        module.is_some_and(|module| self.class(module) == Class::Atom)
    }

    fn tuple(&self, term: Raw<'a>) -> Option<&[Raw<'a>]> {
        self.terms.tuple(term)
    }

    fn existing_atom(&self, name: &[u8]) -> Option<Raw<'a>> {
        atom_text::existing(self.terms, name)
    }

    fn put_atom_name(&self, atom: Raw<'a>, out: &mut Vec<u8>) {
        atom_text::with_name(self.terms, atom, |name| out.extend_from_slice(name));
    }
}

impl<'a> Values for Beam<'a> {
    type Rows = Shapes<'a>;

    fn time_struct(&self, map: Raw<'a>) -> Option<TimeStruct> {
        let module = self.terms.map_get(map, self.atom(__struct__()))?;
        let is = |atom: Atom| self.atom(atom).word() == module.word();
        Some(match () {
            () if is(atoms::date_time()) => TimeStruct::DateTime,
            () if is(atoms::naive_date_time()) => TimeStruct::Other,
            () if is(atoms::date()) => TimeStruct::Other,
            () if is(atoms::time()) => TimeStruct::Other,
            () => return None,
        })
    }

    #[inline(always)]
    fn is_plainly(&self, scalar: Scalar, value: Raw<'a>) -> bool {
        match scalar {
            Scalar::Any => true,
            Scalar::String => words::short_binary(value).is_some(),
            Scalar::Int => words::known() && words::small_integer(value).is_some(),
            Scalar::Float => words::known() && words::float(value).is_some(),
            Scalar::Number => {
                words::known()
                    && (words::small_integer(value).is_some() || words::float(value).is_some())
            }
            Scalar::Bool => self.is_bool(value),
            Scalar::Map => self.class(value) == Class::Map && !self.is_struct(value),
            _ => false,
        }
    }

    fn keyword_name(&self, term: Raw<'a>) -> Option<Raw<'a>> {
        names::keyword_name(self.terms, term)
    }

    #[inline]
    fn atom_is(&self, atom: Raw<'a>, name: &[u8]) -> bool {
        // In ASCII there are as many characters as bytes, otherwise fewer.
        match self.terms.latin1_length(atom) {
            Some(length) if length > name.len() => false,
            Some(length) if length < name.len() && name.is_ascii() => false,
            _ => atom_text::is_named(self.terms, atom, name),
        }
    }

    fn make_key(&mut self, kind: KeyKind, name: &[u8]) -> Option<Raw<'a>> {
        match kind {
            KeyKind::Atom => self.existing_atom(name),
            KeyKind::String => Some(self.terms.make_binary(name)),
            KeyKind::Keyword => names::make_keyword(self.terms, name),
        }
    }

    #[inline]
    fn type_atoms(&self) -> TypeAtoms<'a> {
        type_atoms(self.terms.env)
    }

    fn error_atoms(&self) -> ErrorAtoms<Raw<'a>> {
        error_atoms(self.terms.env)
    }

    fn with_value(&mut self, map: Raw<'a>, key: Raw<'a>, value: Raw<'a>) -> Raw<'a> {
        self.built(WORDS_OF_UPDATE);
        self.terms.map_update(map, key, value).unwrap_or(map)
    }
}
