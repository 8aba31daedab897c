//! A sequence that is no list becomes one: the pairs of a map, the items of a set, the graphemes of a text.
//!
//! Maps and sets are read in the order in which the heap enumerates them. On the VM that is the order of `:maps.iterator/1`
//! and of `for`: up to 32 keys in the order of their array, more by hash.

use crate::code::{Eval, Halt, Machine};
use crate::consts::EMPTY_LIST;
use crate::values::{items_of_set, Class};
use ptc_kernels::Listing;
use ptc_term::heap::{words_of_string, Heap, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Fuel for reading an entry of a map: a large one is a tree.
const ENTRY: usize = 4;
/// The words of a pair, and of its cell.
const WORDS_OF_PAIR: usize = 3 * WORDS_OF_CELL;

/// A sequence that is being read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    source: T,
    has_begun: bool,
    /// Where the next piece of a text begins.
    at: usize,
    piece: usize,
    /// The items; the keys and values of a map, by turns.
    items: Roots<T>,
    listing: Listing<T>,
    /// The pairs of a map, as far as they are made, and the number of those that are missing.
    pairs: Option<T>,
    missing: usize,
}

rooted!(Reading {
    terms: source; optional: pairs; states: items, listing; plain: has_begun, at, piece, missing
});

impl<T: Copy> Reading<T> {
    /// Begins to read a sequence.
    pub fn of(source: T) -> Self {
        Reading {
            source,
            has_begun: false,
            at: 0,
            piece: 0,
            items: Roots::default(),
            listing: Listing::default(),
            pairs: None,
            missing: 0,
        }
    }

    /// Makes its list.
    pub fn list<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>, class: Class) -> Eval<H> {
        match class {
            Class::Map => self.pairs(m),
            Class::Set => self.members(m),
            Class::String => self.graphemes(m),
            _ => Ok(m.constant(EMPTY_LIST)),
        }
    }

    fn members<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        if !self.has_begun {
            let map = items_of_set(m, self.source);
            let size = m.heap.map_size(map).unwrap_or(0);
            m.check_heap_limit(WORDS_OF_CELL * size)?;
            m.consume_fuel_at_once(ENTRY * size)?;
            let entries = m.heap.entries(map).into_iter();
            self.items.extend(entries.map(|(item, _)| item));
            self.has_begun = true;
            m.meter.advanced();
        }
        Ok(self.listing.all(m, &self.items)?)
    }

    fn pairs<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        if !self.has_begun {
            let size = m.heap.map_size(self.source).unwrap_or(0);
            m.check_heap_limit(WORDS_OF_PAIR * size)?;
            m.consume_fuel_at_once(ENTRY * size)?;
            let entries = m.heap.entries(self.source).into_iter();
            self.items
                .extend(entries.flat_map(|(key, value)| [key, value]));
            (self.has_begun, self.missing) = (true, size);
            m.meter.advanced();
        }
        let mut pairs = self.pairs.unwrap_or(m.constant(EMPTY_LIST));
        while let Some(at) = self.missing.checked_sub(1) {
            m.consume_fuel(1)?;
            let key = self.items.get(m.heap, 2 * at);
            let value = self.items.get(m.heap, 2 * at + 1);
            let pair = m.heap.make_list(&[key, value]);
            pairs = m.heap.make_list_onto(&[pair], pairs);
            (self.pairs, self.missing) = (Some(pairs), at);
            m.meter.advanced();
        }
        Ok(pairs)
    }

    fn graphemes<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        if !self.has_begun {
            m.consume_fuel_to_copy(self.source)?;
            self.source = m.heap.aligned(self.source);
            self.has_begun = true;
            m.meter.advanced();
        }
        while self.next_graphemes(m)? {
            m.meter.advanced();
        }
        Ok(self.listing.all(m, &self.items)?)
    }

    /// Keeps the graphemes of the next piece; returns whether there are more.
    fn next_graphemes<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<bool, Halt<H>> {
        let start = self.at;
        let mut ends = Vec::new();
        let (heap, meter) = m.heap_and_meter();
        let text = heap.bytes(self.source).unwrap_or_default();
        ptc_text::cuts(text, &mut self.at, &mut self.piece, &mut ends, |cost| {
            meter.consume_fuel(cost, heap)
        })?;
        if ends.is_empty() {
            return Ok(false);
        }
        let piece = text[start..self.at].to_vec();
        let cells = WORDS_OF_CELL * (self.items.len() + ends.len());
        m.check_heap_limit(cells + words_of_string(1) * ends.len())?;
        let mut from = 0;
        for end in ends {
            let to = end - start;
            let grapheme = m.heap.make_string(&piece[from..to]);
            self.items.push(grapheme);
            from = to;
        }
        Ok(true)
    }
}
