//! Lists in a map that grow: what a loop adds to them, as `(update m k (fnil conj []) x)` does, is kept beside the map, and put to the
//! ends of the lists when the whole map is read. So such a loop takes time in proportion to what it adds.
//!
//! What was added is a list of pairs of a key and an item, newest first.

use super::states::Gathering;
use crate::code::{Eval, Halt, Machine};
use crate::consts::EMPTY_LIST;
use crate::values::{class, Class};
use ptc_kernels::{GroupListing, Groups};
use ptc_term::heap::{words_of_put, Heap, Lookup, WORDS_OF_CELL};
use ptc_term::roots::Roots;

/// Fuel for a new entry of a map.
const PUT: usize = 8;
/// Words of a pair and its cell.
const WORDS_OF_PAIR: usize = 3 + WORDS_OF_CELL;

/// Adds an item to the list at a key of a map that grows, if that is a list or absent: the two parts of the map, the key and the item
/// are on the stack, and are replaced by the two parts of the map. Returns whether it has done so.
pub fn gather<H: Heap>(m: &mut Machine<'_, H>) -> Result<bool, Halt<H>> {
    let &[map, added, key, item] = m.top_values(4) else {
        return Ok(false);
    };
    if class(m, map) != Class::Map {
        return Ok(false);
    }
    let cost = m.weigh(key)?;
    m.consume_fuel_for_lookup(map, cost)?;
    if let Lookup::Found(value) = m.heap.lookup(map, key, &mut H::KeyCache::default()) {
        if !matches!(class(m, value), Class::List | Class::Nil) {
            return Ok(false);
        }
    }
    m.check_heap_limit(WORDS_OF_PAIR)?;
    let pair = m.heap.make_tuple_value(&[key, item]);
    let added = m.heap.make_list_onto(&[pair], added);
    m.drop_top(3);
    m.push(added);
    Ok(true)
}

/// Returns a map with what was added to its lists. Can be suspended and resumed.
pub fn gathered<H: Heap>(m: &mut Machine<'_, H>, map: H::Term, added: H::Term) -> Eval<H> {
    let start = |m: &mut Machine<'_, H>| Gathering {
        map,
        rest: added,
        ordered: Some(m.constant(EMPTY_LIST)),
        former: None,
        groups: Box::new(Groups::new(1)),
        keys: Roots::default(),
        items: Roots::default(),
        listing: GroupListing::default(),
        lists: None,
    };
    m.resumable(start, |m, state| state.step(m))
}

impl<T: Copy> Gathering<T> {
    fn step<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        while let Some(ordered) = self.ordered {
            m.consume_fuel(1)?;
            match m.heap.uncons(self.rest) {
                Some((pair, rest)) => {
                    self.ordered = Some(m.heap.cons(pair, ordered));
                    self.rest = rest;
                }
                None => (self.rest, self.ordered) = (ordered, None),
            }
            m.meter.advanced();
        }
        while let Some((pair, rest)) = m.heap.uncons(self.rest) {
            if let Some(&[key, item]) = m.heap.elements(pair) {
                self.add(m, key, item)?;
            }
            self.rest = rest;
            m.meter.advanced();
        }
        let lists = match self.lists {
            Some(lists) => lists,
            None => {
                let terms = (&self.keys, &self.items);
                self.listing.list(m, &mut self.groups, terms, 0)?
            }
        };
        self.lists = Some(lists);
        while let Some((group, others)) = self.lists.and_then(|lists| m.heap.uncons(lists)) {
            if let Some((key, items)) = m.heap.uncons(group) {
                let cost = m.weigh(key)?;
                m.consume_fuel_for_lookup(self.map, cost)?;
                let size = m.heap.map_size(self.map).unwrap_or(0);
                m.check_heap_limit(words_of_put(size))?;
                m.consume_fuel(PUT)?;
                self.map = m.heap.put(self.map, key, items);
            }
            self.lists = Some(others);
            m.meter.advanced();
        }
        Ok(self.map)
    }

    /// Adds an item to its group; a new group first gets the items that the map has at its key.
    fn add<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        key: T,
        item: T,
    ) -> Result<(), Halt<H>> {
        let cost = m.weigh(key)?;
        m.consume_fuel_for_lookup(self.map, cost)?;
        let before = self.groups.len();
        let group = self.groups.entry(m, &mut self.keys, (0, 0), key)?;
        if self.groups.len() > before {
            let former = m.heap.lookup(self.map, key, &mut H::KeyCache::default());
            self.former = match former {
                Lookup::Found(list) => Some(list),
                _ => None,
            };
            m.meter.advanced();
        }
        while let Some((former, rest)) = self.former.and_then(|list| m.heap.uncons(list)) {
            m.consume_fuel(1)?;
            self.groups.add(m, &mut self.items, (group, former))?;
            self.former = Some(rest);
            m.meter.advanced();
        }
        self.former = None;
        Ok(self.groups.add(m, &mut self.items, (group, item))?)
    }
}
