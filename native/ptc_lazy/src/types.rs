//! The wrapper as a heap whose terms are walked along types. A value of a text has the class of what it is decoded to.

use crate::rows::ObjectRows;
use crate::source::Shape;
use crate::term::Term;
use crate::wrapper::Lazy;
use ptc_index::Kind as JsonKind;
use ptc_term::class::{Class, Classed};
use ptc_term::heap::{Heap, Kind};
use ptc_term::names::KeyKind;
use ptc_type::values::TimeStruct;
use ptc_type::{ErrorAtoms, Scalar, TypeAtoms, Values};

impl<H: Classed> Classed for Lazy<'_, H> {
    fn class(&self, term: Self::Term) -> Class {
        let place = match term {
            Term::Real(term) => return self.inner.class(term),
            Term::Rest(_) => return Class::List,
            Term::Node(place) => place,
        };
        let Some(source) = self.source(place.text) else {
            return Class::Other;
        };
        match source.shape(place.at) {
            Shape::Other(Kind::String) => Class::Bitstring,
            Shape::Other(Kind::Map) => Class::Map,
            Shape::Other(Kind::List) => Class::List,
            Shape::Null | Shape::Bool(_) => Class::Atom,
            Shape::Other(_) => match source.tree().kind(place.at) {
                JsonKind::Float => Class::Float,
                _ => Class::Integer,
            },
        }
    }

    #[inline]
    fn is_binary(&self, term: Self::Term) -> bool {
        match term {
            Term::Real(term) => self.inner.is_binary(term),
            term => self.kind(term) == Kind::String,
        }
    }

    fn same(&self, a: Self::Term, b: Self::Term) -> bool {
        match (a, b) {
            (Term::Real(a), Term::Real(b)) => self.inner.same(a, b),
            (a, b) => a.packed() == b.packed(),
        }
    }

    #[inline]
    fn is_nil(&self, term: Self::Term) -> bool {
        matches!(term, Term::Real(term) if self.inner.is_nil(term))
    }

    fn is_bool(&self, term: Self::Term) -> bool {
        matches!(term, Term::Real(term) if self.inner.is_bool(term))
    }

    fn is_struct(&self, map: Self::Term) -> bool {
        matches!(map, Term::Real(map) if self.inner.is_struct(map))
    }

    fn tuple(&self, term: Self::Term) -> Option<&[Self::Term]> {
        self.elements(term)
    }

    fn existing_atom(&self, name: &[u8]) -> Option<Self::Term> {
        self.inner.existing_atom(name).map(Term::Real)
    }

    fn put_atom_name(&self, atom: Self::Term, out: &mut Vec<u8>) {
        if let Term::Real(atom) = atom {
            self.inner.put_atom_name(atom, out);
        }
    }
}

impl<H: Values> Values for Lazy<'_, H> {
    type Rows = ObjectRows;

    fn time_struct(&self, map: Self::Term) -> Option<TimeStruct> {
        match map {
            Term::Real(map) => self.inner.time_struct(map),
            Term::Node(_) | Term::Rest(_) => None,
        }
    }

    #[inline]
    fn is_plainly(&self, scalar: Scalar, value: Self::Term) -> bool {
        match (scalar, value) {
            (_, Term::Real(value)) => self.inner.is_plainly(scalar, value),
            (Scalar::Any, _) => true,
            (Scalar::String, value) => self.kind(value) == Kind::String,
            (Scalar::Float, value) => self.class(value) == Class::Float,
            (Scalar::Number, value) => matches!(self.class(value), Class::Integer | Class::Float),
            (Scalar::Int, value) => self.class(value) == Class::Integer,
            (Scalar::Map, value) => self.kind(value) == Kind::Map,
            _ => false,
        }
    }

    fn keyword_name(&self, term: Self::Term) -> Option<Self::Term> {
        match term {
            Term::Real(term) => self.inner.keyword_name(term).map(Term::Real),
            Term::Node(_) | Term::Rest(_) => None,
        }
    }

    fn atom_is(&self, atom: Self::Term, name: &[u8]) -> bool {
        matches!(atom, Term::Real(atom) if self.inner.atom_is(atom, name))
    }

    fn make_key(&mut self, kind: KeyKind, name: &[u8]) -> Option<Self::Term> {
        self.inner.make_key(kind, name).map(Term::Real)
    }

    fn type_atoms(&self) -> TypeAtoms<Self::Term> {
        let atoms = self.inner.type_atoms();
        TypeAtoms {
            optional: Term::Real(atoms.optional),
            list: Term::Real(atoms.list),
            closed_map: Term::Real(atoms.closed_map),
            scalars: atoms.scalars.map(Term::Real),
        }
    }

    fn error_atoms(&self) -> ErrorAtoms<Self::Term> {
        let atoms = self.inner.error_atoms();
        ErrorAtoms {
            path: Term::Real(atoms.path),
            message: Term::Real(atoms.message),
            inspect: Term::Real(atoms.inspect),
            kind: Term::Real(atoms.kind),
            unexpected: Term::Real(atoms.unexpected),
        }
    }

    fn with_value(&mut self, map: Self::Term, key: Self::Term, value: Self::Term) -> Self::Term {
        // Of equal keys the first one counts.
        let (mut keys, mut values) = (vec![key], vec![value]);
        for (other, old) in self.entries(map) {
            keys.push(other);
            values.push(old);
        }
        self.make_map(&keys, &values)
    }
}
