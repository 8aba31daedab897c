//! The compiler's access to a program that is already decoded to terms.

use crate::heap::Beam;
use crate::map_view::KeyCache;
use crate::raw::{Raw, Terms};
use ptc_core::heap::{Heap, Inside, Kind, Lookup};
use ptc_core::source::{Shape, Source, LONG};
use ptc_core::stop::Stop;
use rustler::Encoder;
use std::cell::{Cell, RefCell};

/// Bytes that are compared in the time that one element of a list takes.
const BYTES_A_PART: usize = 64;

/// The nodes to which a suspended walk refers: a list of tuples on the heap, the last one first.
pub struct Kept<'a>(Vec<&'a [Raw<'a>]>);

impl<'a> Kept<'a> {
    /// Maximum number of nodes in a tuple. Their indices differ by this from one tuple to the next.
    const TUPLE: usize = 1 << 16;

    /// The nodes in these tuples.
    pub fn of(terms: Terms<'a>, tuples: Raw<'a>) -> Self {
        let (mut kept, mut rest) = (Vec::new(), tuples);
        while let Some((tuple, tail)) = terms.uncons(rest) {
            kept.push(terms.tuple(tuple).unwrap_or_default());
            rest = tail;
        }
        kept.reverse();
        Kept(kept)
    }

    /// Returns the index of the first node that is added.
    pub fn end(&self) -> usize {
        self.0.len() * Self::TUPLE
    }

    /// Returns the node with this index.
    pub fn node(&self, index: usize) -> Option<Raw<'a>> {
        let tuple = self.0.get(index / Self::TUPLE)?;
        tuple.get(index % Self::TUPLE).copied()
    }

    /// Adds nodes to tuples.
    pub fn add(terms: Terms<'a>, nodes: &[Raw<'a>], tuples: Raw<'a>) -> Raw<'a> {
        let add = |tuples, nodes: &[Raw<'a>]| terms.cons(terms.make_tuple(nodes), tuples);
        nodes.chunks(Self::TUPLE).fold(tuples, add)
    }
}

/// The terms of one NIF call as a program's source.
pub struct TermSource<'a> {
    heap: Beam<'a>,
    /// Field names as terms, made on first use.
    names: RefCell<Vec<(&'static str, Raw<'a>)>>,
    struct_key: Raw<'a>,
    kept: Kept<'a>,
    /// Maximum length of a list, the stop for a longer one, and the stop if one was longer.
    longest: usize,
    too_long: Stop,
    stop: Cell<Option<Stop>>,
    /// Elements that were visited since `take_uncounted` was last called.
    looked_at: Cell<usize>,
}

impl<'a> TermSource<'a> {
    /// `longest`: how many elements of a list may be visited without a pause; `too_long`: the stop for a
    /// longer list; `kept`: the nodes that the suspended walk refers to.
    pub fn new(terms: Terms<'a>, longest: usize, too_long: Stop, kept: Kept<'a>) -> Self {
        TermSource {
            heap: Beam::new(terms.env, 0),
            names: RefCell::new(Vec::new()),
            struct_key: rustler::types::atom::__struct__().encode(terms.env).into(),
            kept,
            longest,
            too_long,
            stop: Cell::new(None),
            looked_at: Cell::new(0),
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

    /// Calls `visit` with the elements of a list. Returns whether it is a proper list that is not too long.
    fn walk(&self, list: Raw<'a>, mut visit: impl FnMut(Raw<'a>)) -> bool {
        let (mut rest, mut length) = (list, 0);
        while let Some((element, tail)) = self.heap.uncons(rest) {
            if length == self.longest {
                self.stop.set(Some(self.too_long));
                return false;
            }
            visit(element);
            rest = tail;
            length += 1;
        }
        self.looked_at.set(self.looked_at.get() + length);
        self.heap.is_empty_list(rest)
    }
}

impl<'a> Source for TermSource<'a> {
    type Node = Raw<'a>;

    fn kept(&self, index: usize) -> Raw<'a> {
        self.kept.node(index).unwrap_or(self.heap.nil())
    }

    fn same(&self, a: Raw<'a>, b: Raw<'a>) -> bool {
        a.word() == b.word()
    }

    fn shape(&self, node: Raw<'a>) -> Shape {
        match self.heap.kind(node) {
            Kind::Map if self.is_map(node) => Shape::Map,
            Kind::Map => Shape::Struct,
            Kind::List if self.walk(node, |_| ()) => Shape::List,
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

    fn is_long(&self, node: Raw<'a>) -> bool {
        match self.heap.kind(node) {
            Kind::String => self
                .heap
                .byte_length(node)
                .is_some_and(|bytes| bytes > LONG),
            Kind::Number => 8 * self.heap.limbs(node) > LONG,
            _ => false,
        }
    }

    fn has_parts(&self, node: Raw<'a>) -> bool {
        match self.heap.kind(node) {
            Kind::List | Kind::Map => true,
            Kind::Other => !matches!(self.heap.inside(node), Inside::Nothing),
            Kind::Nil | Kind::Bool | Kind::Number | Kind::String => false,
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
        let in_slice = self.too_long == Stop::SliceOver;
        if in_slice && self.heap.bytes_to_copy(node) > LONG {
            self.stop.set(Some(self.too_long));
            return None;
        }
        self.heap.bytes(node)
    }

    fn size(&self, node: Raw<'a>) -> usize {
        self.heap.map_size(node).unwrap_or(0)
    }

    fn take_stop(&self) -> Option<Stop> {
        self.stop.take()
    }

    fn take_uncounted(&self) -> usize {
        self.looked_at.take()
    }

    fn elements(&self, node: Raw<'a>) -> Vec<Raw<'a>> {
        let mut elements = Vec::new();
        self.walk(node, |element| elements.push(element));
        elements
    }

    fn entries(&self, node: Raw<'a>) -> Vec<(Raw<'a>, Raw<'a>)> {
        let mut entries = self.heap.entries(node);
        // Comparing the longest keys takes the most time.
        let keys = entries.iter().map(|(key, _)| *key);
        let bytes = keys.map(|key| self.heap.byte_length(key).unwrap_or(0));
        let rounds = entries.len().max(1).ilog2() as usize + 1;
        if bytes.sum::<usize>() / BYTES_A_PART * rounds > self.longest {
            self.stop.set(Some(self.too_long));
            return entries;
        }
        entries.sort_by(|(a, _), (b, _)| self.heap.compare(*a, *b));
        entries
    }
}
