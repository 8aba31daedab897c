//! The tools of an engine: two lists of maps, merged by one of their fields.

use crate::heap::{Heap, Lookup};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Merges `right` into `left`: each item of `left` gives way to the last item of `right` that has
/// the same term (by `===`) at `field`; items of `right` that took no place follow in their order,
/// unless an equal one took one. Items without the field stay. Linear.
pub fn merge_by_field<H: Heap>(
    heap: &H,
    field: H::Term,
    left: &[H::Term],
    right: &[H::Term],
) -> Vec<H::Term> {
    let mut cache = H::KeyCache::default();
    let mut names = Names::new(heap, right.len());
    let of_right: Vec<_> = (right.iter().enumerate())
        .map(|(at, item)| {
            let name = field_of(heap, *item, field, &mut cache)?;
            Some(names.insert(name, at))
        })
        .collect();
    let replace = |item: &H::Term| {
        let name = field_of(heap, *item, field, &mut cache);
        match name.and_then(|name| names.find(name)) {
            Some(entry) => {
                entry.taken = true;
                right[entry.last]
            }
            None => *item,
        }
    };
    let mut merged = Vec::with_capacity(left.len() + right.len());
    merged.extend(left.iter().map(replace));
    let is_taken = |entry: &Option<usize>| entry.is_some_and(|entry| names.entries[entry].taken);
    let rest = right.iter().zip(&of_right);
    merged.extend(
        rest.filter(|(_, entry)| !is_taken(entry))
            .map(|(item, _)| *item),
    );
    merged
}

fn field_of<H: Heap>(
    heap: &H,
    item: H::Term,
    field: H::Term,
    cache: &mut H::KeyCache,
) -> Option<H::Term> {
    match heap.lookup(item, field, cache) {
        Lookup::Found(name) => Some(name),
        _ => None,
    }
}

struct Entry<T> {
    hash: u64,
    name: T,
    /// Where the name stands last.
    last: usize,
    taken: bool,
}

/// Names and their entries: an open table, unless there are few.
struct Names<'h, H: Heap> {
    heap: &'h H,
    entries: Vec<Entry<H::Term>>,
    /// Places in `entries` plus one; 0 is free. A power of two, at most half full; empty for few.
    table: Vec<u32>,
    /// Unknown to whoever chose the names, so that hashes cannot be made to collide.
    seed: u64,
}

/// Up to here a look at every name is quicker than a hash.
const FEW: usize = 8;

impl<'h, H: Heap> Names<'h, H> {
    fn new(heap: &'h H, count: usize) -> Self {
        let (size, seed) = match count {
            0..=FEW => (0, 0),
            _ => (
                (2 * count).next_power_of_two(),
                RandomState::new().build_hasher().finish(),
            ),
        };
        Names {
            heap,
            entries: Vec::with_capacity(count),
            table: vec![0; size],
            seed,
        }
    }

    /// Takes in that `name` stands at `at`; gives the place of its entry.
    fn insert(&mut self, name: H::Term, at: usize) -> usize {
        let hash = self.hash(name);
        match self.search(name, hash) {
            Ok(place) => {
                self.entries[place].last = at;
                place
            }
            Err(free) => {
                self.entries.push(Entry {
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

    fn find(&mut self, name: H::Term) -> Option<&mut Entry<H::Term>> {
        let place = self.search(name, self.hash(name)).ok()?;
        self.entries.get_mut(place)
    }

    fn hash(&self, name: H::Term) -> u64 {
        match self.table.is_empty() {
            true => 0,
            false => self.heap.hash(name, self.seed),
        }
    }

    /// The entry's place, or the slot of the table where it belongs.
    fn search(&self, name: H::Term, hash: u64) -> Result<usize, usize> {
        let is_it =
            |entry: &Entry<H::Term>| entry.hash == hash && self.heap.identical(entry.name, name);
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
