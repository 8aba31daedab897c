//! The classes of plain values.

use super::{PlainHeap, Term, Value, FALSE, NIL, TRUE};
use crate::class::{Class, Classed};
use crate::heap::{Heap, Lookup};
use crate::number::Number;

impl PlainHeap {
    /// Returns the name of an atom.
    pub fn atom_name(&self, term: Term) -> Option<&str> {
        match self.value(term) {
            Value::Atom(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the name of the module of a struct.
    pub fn module(&self, map: Term) -> Option<&str> {
        let key = *self.atoms.get(&b"__struct__"[..])?;
        match self.lookup(map, key, &mut 0) {
            Lookup::Found(module) => self.atom_name(module),
            _ => None,
        }
    }
}

impl Classed for PlainHeap {
    fn class(&self, term: Term) -> Class {
        match self.value(term) {
            Value::Atom(_) => Class::Atom,
            Value::Number(Number::Float(_)) => Class::Float,
            Value::Number(_) => Class::Integer,
            Value::Binary(_) => Class::Bitstring,
            Value::EmptyList | Value::Cons(..) => Class::List,
            Value::Map(_) => Class::Map,
            Value::Tuple(_) | Value::Opaque(..) => Class::Other,
        }
    }

    fn is_binary(&self, term: Term) -> bool {
        matches!(self.value(term), Value::Binary(_))
    }

    fn same(&self, a: Term, b: Term) -> bool {
        a == b
    }

    fn is_nil(&self, term: Term) -> bool {
        term == NIL
    }

    fn is_bool(&self, term: Term) -> bool {
        term == TRUE || term == FALSE
    }

    fn is_struct(&self, map: Term) -> bool {
        self.module(map).is_some()
    }

    fn tuple(&self, term: Term) -> Option<&[Term]> {
        match self.value(term) {
            Value::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    fn existing_atom(&self, name: &[u8]) -> Option<Term> {
        self.atoms.get(name).copied()
    }

    fn put_atom_name(&self, atom: Term, out: &mut Vec<u8>) {
        out.extend_from_slice(self.atom_name(atom).unwrap_or_default().as_bytes());
    }
}
