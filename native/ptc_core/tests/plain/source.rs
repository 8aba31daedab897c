//! A term as a program, for callers that have already parsed it.

use super::{Opaque, PlainHeap, Term, Value};
use crate::heap::{Heap, Kind, Lookup};
use crate::number::Number;
use crate::source::{Shape, Source, LONG};
use std::cmp::Ordering;

impl PlainHeap {
    fn is_proper(&self, list: Term) -> bool {
        let mut rest = list;
        while let Some((_, tail)) = self.uncons(rest) {
            self.visited.set(self.visited.get() + 1);
            rest = tail;
        }
        self.is_empty_list(rest)
    }
}

impl Source for PlainHeap {
    type Node = Term;

    fn kept(&self, _index: usize) -> Term {
        unreachable!("walks over terms are not suspended here")
    }

    fn same(&self, a: Term, b: Term) -> bool {
        self.identity(a) == self.identity(b)
    }

    fn shape(&self, node: Term) -> Shape {
        match self.value(node) {
            Value::Map(_) if self.is_map(node) => Shape::Map,
            Value::EmptyList | Value::Cons(..) if self.is_proper(node) => Shape::List,
            Value::Binary(_) => Shape::String,
            Value::Number(Number::Float(_)) => Shape::Float,
            Value::Number(Number::Int(value)) => Shape::Integer {
                negative: *value < 0,
            },
            Value::Number(Number::Big(value)) => Shape::Integer {
                negative: value.sign() == num_bigint::Sign::Minus,
            },
            _ if self.kind(node) == Kind::Nil => Shape::Null,
            _ => Shape::Other,
        }
    }

    fn is_long(&self, node: Term) -> bool {
        let bytes = self.bytes(node).map_or(0, <[u8]>::len);
        bytes.max(8 * self.limbs(node)) > LONG
    }

    fn has_parts(&self, node: Term) -> bool {
        match self.value(node) {
            Value::Cons(..) | Value::Tuple(_) | Value::Map(_) => true,
            Value::Opaque(kind, _) => *kind == Opaque::Fun,
            _ => false,
        }
    }

    fn is_map(&self, node: Term) -> bool {
        let key = self.atoms.get(&b"__struct__"[..]);
        let is_struct = |key: &Term| matches!(self.lookup(node, *key, &mut 0), Lookup::Found(_));
        self.map(node).is_some() && !key.is_some_and(is_struct)
    }

    fn field(&self, node: Term, name: &'static str) -> Option<Term> {
        let entries = self.map(node)?;
        // Strings are last in the order of keys.
        let order = |(key, _): &(Term, Term)| match self.bytes(*key) {
            Some(key) => key.cmp(name.as_bytes()),
            None => Ordering::Less,
        };
        let found = entries.binary_search_by(order).ok()?;
        Some(entries[found].1)
    }

    fn text(&self, node: Term) -> Option<&[u8]> {
        self.bytes(node)
    }

    fn size(&self, node: Term) -> usize {
        self.map_size(node).unwrap_or(0)
    }

    fn take_uncounted(&self) -> usize {
        self.visited.take()
    }

    fn elements(&self, node: Term) -> Vec<Term> {
        let (mut elements, mut rest) = (Vec::new(), node);
        while let Some((element, tail)) = self.uncons(rest) {
            elements.push(element);
            rest = tail;
        }
        self.visited.set(self.visited.get() + elements.len());
        elements
    }

    fn entries(&self, node: Term) -> Vec<(Term, Term)> {
        let mut entries = Heap::entries(self, node);
        entries.sort_by(|(a, _), (b, _)| self.compare(*a, *b));
        entries
    }
}
