//! The parts of a term: the elements of a list or a tuple, the keys and values of a map.
//!
//! The walks that weigh terms and find what comparing them costs open them here, so that all of them count the same for it.
//! Walks that build something (the writer, normalizing, the walk along a type) open terms themselves.

use crate::heap::{Heap, Inside, Kind};

/// Fuel to read an entry of a map in place, and of any other map.
const FUEL_OF_ENTRY: usize = 2;
const FUEL_OF_FAR_ENTRY: usize = 4;

/// An open term.
#[derive(Debug)]
pub enum Parts<'h, T> {
    /// No parts.
    None,
    /// Parts that the heap cannot read.
    Unknown,
    /// The head and the tail of a list.
    Cell(T, T),
    /// The elements of a tuple.
    Elements(&'h [T]),
    /// The keys and the values of a small map.
    Flat(&'h [T], &'h [T]),
    /// The entries of another map.
    Entries(Vec<(T, T)>),
}

impl<'h, T: Copy> Parts<'h, T> {
    /// Opens a term of this kind. `count` counts the parts before they are read.
    #[inline]
    pub fn of<H: Heap<Term = T>, E>(
        heap: &'h H,
        term: T,
        kind: Kind,
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        Ok(match kind {
            Kind::Nil | Kind::Bool | Kind::Number | Kind::String => Parts::None,
            Kind::List => match heap.uncons(term) {
                Some((head, tail)) => Parts::Cell(head, tail),
                None => Parts::None,
            },
            Kind::Map => match heap.flat(term) {
                Some((keys, values)) => {
                    count(FUEL_OF_ENTRY * keys.len())?;
                    Parts::Flat(keys, values)
                }
                None => {
                    count(FUEL_OF_FAR_ENTRY * heap.map_size(term).unwrap_or(0))?;
                    Parts::Entries(heap.entries(term))
                }
            },
            Kind::Other => match heap.inside(term) {
                Inside::Elements(elements) => {
                    count(elements.len())?;
                    Parts::Elements(elements)
                }
                Inside::Nothing => Parts::None,
                Inside::Unknown => Parts::Unknown,
            },
        })
    }

    /// Calls `visit` with each part: of a list, with its tail and then its head.
    #[inline]
    pub fn each(self, mut visit: impl FnMut(T)) {
        match self {
            Parts::None | Parts::Unknown => {}
            Parts::Cell(head, tail) => {
                visit(tail);
                visit(head);
            }
            Parts::Elements(parts) => parts.iter().for_each(|part| visit(*part)),
            Parts::Flat(keys, values) => keys.iter().chain(values).for_each(|part| visit(*part)),
            Parts::Entries(entries) => entries.into_iter().for_each(|(key, value)| {
                visit(key);
                visit(value);
            }),
        }
    }
}

/// Calls `visit` with the entries of a map until it returns false; returns whether it never did. Entries are read in place
/// where the heap permits it.
#[inline]
pub fn all_entries<H: Heap>(
    heap: &H,
    map: H::Term,
    mut visit: impl FnMut(H::Term, H::Term) -> bool,
) -> bool {
    match heap.flat(map) {
        Some((keys, values)) => keys
            .iter()
            .zip(values)
            .all(|(key, value)| visit(*key, *value)),
        None => heap
            .entries(map)
            .into_iter()
            .all(|(key, value)| visit(key, value)),
    }
}
