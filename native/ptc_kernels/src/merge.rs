//! Tools of an engine: merging two lists of maps by one of their fields.

use crate::cost;
use ptc_term::heap::{Heap, Lookup};
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// The result of [`merge_lists`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged<T> {
    /// The merged items.
    Items(Vec<T>),
    /// One of the lists is not proper.
    Improper,
    /// Both together are longer than the limit, or the work was stopped.
    TooLong,
}

/// Merges the items of two lists by a field, see [`merge_by_field`], if there are at most `limit`.
pub fn merge_lists<H: Heap>(
    work: &mut Workspace<H>,
    field: H::Term,
    [left, right]: [H::Term; 2],
    limit: usize,
) -> Merged<H::Term> {
    let left = match elements(work.heap, left, limit) {
        Merged::Items(left) => left,
        other => return other,
    };
    let right = match elements(work.heap, right, limit - left.len()) {
        Merged::Items(right) => right,
        other => return other,
    };
    let merged = merge_by_field(work, field, &left, &right);
    merged.map_or(Merged::TooLong, Merged::Items)
}

fn elements<H: Heap>(heap: &H, list: H::Term, limit: usize) -> Merged<H::Term> {
    let (mut elements, mut rest) = (Vec::new(), list);
    while let Some((element, tail)) = heap.uncons(rest) {
        if elements.len() == limit {
            return Merged::TooLong;
        }
        elements.push(element);
        rest = tail;
    }
    match heap.is_empty_list(rest) {
        true => Merged::Items(elements),
        false => Merged::Improper,
    }
}

/// Merges `right` into `left`: each item of `left` is replaced with the last item of `right` that has
/// the same term (by `===`) at `field`. Items of `right` that replace no item follow in their order,
/// unless an equal one replaced an item. Items without the field are kept. Linear; the cost of hashing
/// and comparing the terms is counted first.
pub fn merge_by_field<H: Heap>(
    work: &mut Workspace<H>,
    field: H::Term,
    left: &[H::Term],
    right: &[H::Term],
) -> Result<Vec<H::Term>, Stop> {
    let mut cache = H::KeyCache::default();
    let mut names = Names::new(right.len());
    let mut of_right = Vec::with_capacity(right.len());
    for (at, item) in right.iter().enumerate() {
        let name = field_of(work, *item, field, &mut cache)?;
        of_right.push(name.map(|name| names.insert(work.heap, name, at)));
    }
    let mut merged = Vec::with_capacity(left.len() + right.len());
    for item in left {
        let name = field_of(work, *item, field, &mut cache)?;
        merged.push(match name.and_then(|name| names.find(work.heap, name)) {
            Some(entry) => {
                entry.taken = true;
                right[entry.last]
            }
            None => *item,
        });
    }
    let is_taken = |entry: &Option<usize>| entry.is_some_and(|entry| names.entries[entry].taken);
    let rest = right.iter().zip(&of_right);
    merged.extend(
        rest.filter(|(_, entry)| !is_taken(entry))
            .map(|(item, _)| *item),
    );
    Ok(merged)
}

/// Cost of an item without its name.
const ITEM: usize = 4;
/// Factor for a name: it is hashed, and compared with one of the same hash or with a few names.
const TIMES: usize = 8;
/// Bytes that are copied per unit.
const COPIED_A_UNIT: usize = 8;

/// Returns the term at the field; counts the cost of looking it up among others.
fn field_of<H: Heap>(
    work: &mut Workspace<H>,
    item: H::Term,
    field: H::Term,
    cache: &mut H::KeyCache,
) -> Result<Option<H::Term>, Stop> {
    let Lookup::Found(name) = work.heap.lookup(item, field, cache) else {
        work.consume_fuel(ITEM)?;
        return Ok(None);
    };
    let (cost, to_copy) = (cost(work.heap, name), work.heap.bytes_to_copy(name));
    work.consume_fuel(ITEM + TIMES * cost + to_copy / COPIED_A_UNIT)?;
    Ok(Some(name))
}

struct NamedItem<T> {
    hash: u64,
    name: T,
    /// Index of the last item with the name.
    last: usize,
    taken: bool,
}

/// Names and their entries: an open-addressing table, unless there are few.
struct Names<T> {
    entries: Vec<NamedItem<T>>,
    /// Indices of `entries` plus one; 0 is free. Its size is a power of two, at most half full; empty
    /// for few names.
    table: Vec<u32>,
    /// Random, so that the hashes of chosen names cannot be made to collide.
    seed: u64,
}

/// Up to this size, comparing with every name is quicker than hashing.
const FEW: usize = 8;

impl<T: Copy> Names<T> {
    fn new(count: usize) -> Self {
        let (size, seed) = match count {
            0..=FEW => (0, 0),
            _ => (
                (2 * count).next_power_of_two(),
                RandomState::new().build_hasher().finish(),
            ),
        };
        Names {
            entries: Vec::with_capacity(count),
            table: vec![0; size],
            seed,
        }
    }

    /// Records that `name` occurs at index `at`; returns the index of its entry.
    fn insert<H: Heap<Term = T>>(&mut self, heap: &H, name: T, at: usize) -> usize {
        let hash = self.hash(heap, name);
        match self.search(heap, name, hash) {
            Ok(place) => {
                self.entries[place].last = at;
                place
            }
            Err(free) => {
                self.entries.push(NamedItem {
                    hash,
                    name,
                    last: at,
                    taken: false,
                });
                if let Some(slot) = self.table.get_mut(free) {
                    *slot = self.entries.len() as u32;
                }
                self.entries.len() - 1
            }
        }
    }

    fn find<H: Heap<Term = T>>(&mut self, heap: &H, name: T) -> Option<&mut NamedItem<T>> {
        let place = self.search(heap, name, self.hash(heap, name)).ok()?;
        self.entries.get_mut(place)
    }

    fn hash<H: Heap<Term = T>>(&self, heap: &H, name: T) -> u64 {
        match self.table.is_empty() {
            true => 0,
            false => heap.hash(name, self.seed),
        }
    }

    /// Returns the index of the entry, or the slot of the table for it.
    fn search<H: Heap<Term = T>>(&self, heap: &H, name: T, hash: u64) -> Result<usize, usize> {
        let is_it = |entry: &NamedItem<T>| entry.hash == hash && heap.identical(entry.name, name);
        if self.table.is_empty() {
            return self.entries.iter().position(is_it).ok_or(0);
        }
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(place) = self.table[slot].checked_sub(1) {
            if is_it(&self.entries[place as usize]) {
                return Ok(place as usize);
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }
}
