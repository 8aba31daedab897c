//! A program that is already parsed: the compiler reads it out of the terms.

use crate::raw::{Raw, Terms};
use ptc_core::heap::{Heap, Kind, Lookup};
use ptc_core::source::{Shape, Source};
use std::cell::RefCell;

use crate::heap::Beam;
use crate::map_view::KeyCache;

/// The terms of one NIF call as a program's source.
pub struct TermSource<'a> {
    heap: Beam<'a>,
    /// The names that were asked for, as terms.
    names: RefCell<Vec<(&'static str, Raw<'a>)>>,
    struct_key: Raw<'a>,
}

impl<'a> TermSource<'a> {
    pub fn new(terms: Terms<'a>) -> Self {
        use rustler::Encoder;
        TermSource {
            heap: Beam::new(terms.env, 0),
            names: RefCell::new(Vec::new()),
            struct_key: rustler::types::atom::__struct__().encode(terms.env).into(),
        }
    }

    fn name(&self, name: &'static str) -> Raw<'a> {
        let mut names = self.names.borrow_mut();
        if let Some((_, term)) = names.iter().find(|(known, _)| *known == name) {
            return *term;
        }
        let term = self.heap.terms.make_binary(name.as_bytes());
        names.push((name, term));
        term
    }

    fn is_proper(&self, list: Raw<'a>) -> bool {
        let mut rest = list;
        while let Some((_, tail)) = self.heap.uncons(rest) {
            rest = tail;
        }
        self.heap.is_empty_list(rest)
    }
}

impl<'a> Source for TermSource<'a> {
    type Node = Raw<'a>;

    fn shape(&self, node: Raw<'a>) -> Shape {
        match self.heap.kind(node) {
            Kind::Map if self.is_map(node) => Shape::Map,
            Kind::List if self.is_proper(node) => Shape::List,
            Kind::String => Shape::String,
            Kind::Nil => Shape::Null,
            Kind::Number if self.heap.float(node).is_some() => Shape::Float,
            Kind::Number => Shape::Integer {
                negative: self
                    .heap
                    .terms
                    .compare(node, self.heap.terms.make_integer(0))
                    .is_lt(),
            },
            _ => Shape::Other,
        }
    }

    fn is_map(&self, node: Raw<'a>) -> bool {
        self.heap.kind(node) == Kind::Map
            && self.heap.terms.map_get(node, self.struct_key).is_none()
    }

    fn field(&self, node: Raw<'a>, name: &'static str) -> Option<Raw<'a>> {
        match self
            .heap
            .lookup(node, self.name(name), &mut KeyCache::default())
        {
            Lookup::Found(value) => Some(value),
            _ => None,
        }
    }

    fn text(&self, node: Raw<'a>) -> Option<&[u8]> {
        self.heap.bytes(node)
    }

    fn size(&self, node: Raw<'a>) -> usize {
        self.heap.map_size(node).unwrap_or(0)
    }

    fn elements(&self, node: Raw<'a>) -> Vec<Raw<'a>> {
        let (mut elements, mut rest) = (Vec::new(), node);
        while let Some((element, tail)) = self.heap.uncons(rest) {
            elements.push(element);
            rest = tail;
        }
        elements
    }

    fn entries(&self, node: Raw<'a>) -> Vec<(Raw<'a>, Raw<'a>)> {
        let mut entries = self.heap.entries(node);
        entries.sort_by(|(a, _), (b, _)| self.heap.compare(*a, *b));
        entries
    }
}
