//! The entries of a map, by ascending keys.

use crate::context::{Context, Made};
use crate::lists::Listing;
use crate::order::{Sorting, WORDS_OF_SORTED};
use ptc_term::heap::{Heap, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;

/// Fuel for reading an entry.
const ENTRY: usize = 4;

/// The entries of a map while they are sorted, and the list that is made of them.
#[derive(Debug, Clone, PartialEq)]
pub struct SortedEntries<T> {
    is_read: bool,
    keys: Roots<T>,
    values: Roots<T>,
    sorting: Sorting,
    listing: Listing<T>,
    /// The list of entries, as far as it is made from its end, and the number of those that are missing at its start.
    made: Option<T>,
    missing: usize,
}

rooted!(SortedEntries { optional: made; states: keys, values, listing; plain: is_read, sorting, missing });

impl<T> Default for SortedEntries<T> {
    fn default() -> Self {
        SortedEntries {
            is_read: false,
            keys: Roots::default(),
            values: Roots::default(),
            sorting: Sorting::default(),
            listing: Listing::default(),
            made: None,
            missing: 0,
        }
    }
}

impl<T: Copy> SortedEntries<T> {
    /// Makes the list of the keys.
    pub fn keys<H: Heap<Term = T>>(&mut self, context: &mut Context<'_, H>, map: T) -> Made<H> {
        self.sort(context, map, false)?;
        let places = Some(self.sorting.places());
        self.listing.at_places(context, &self.keys, places)
    }

    /// Makes the list of the values.
    pub fn values<H: Heap<Term = T>>(&mut self, context: &mut Context<'_, H>, map: T) -> Made<H> {
        self.sort(context, map, true)?;
        let places = Some(self.sorting.places());
        self.listing.at_places(context, &self.values, places)
    }

    /// Makes the list of what `entry` makes of each key and its value: a term of so many words.
    pub fn list<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        map: T,
        words: usize,
        mut entry: impl FnMut(&mut H, [T; 2]) -> T,
    ) -> Made<H> {
        self.sort(context, map, true)?;
        let mut list = match self.made {
            Some(list) => list,
            None => {
                self.missing = self.keys.len();
                context.heap.make_list(&[])
            }
        };
        while let Some(left) = self.missing.checked_sub(1) {
            context.consume_fuel(2)?;
            context.check_heap_limit(words + WORDS_OF_CELL)?;
            let place = self.sorting.places()[left] as usize;
            let key = self.keys.get(context.heap, place);
            let value = self.values.get(context.heap, place);
            let made = entry(context.heap, [key, value]);
            list = context.heap.make_list_onto(&[made], list);
            (self.made, self.missing) = (Some(list), left);
            context.meter.advanced();
        }
        Ok(list)
    }

    /// Reads the entries, without those of a struct that are hidden, and sorts their keys.
    fn sort<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        map: T,
        has_values: bool,
    ) -> Result<(), Stop> {
        if !self.is_read {
            let size = context.heap.map_size(map).unwrap_or(0);
            context.consume_fuel_at_once(ENTRY * size)?;
            context.check_heap_limit((1 + usize::from(has_values)) * WORDS_OF_SORTED * size)?;
            let hides = context.hides(map);
            for (key, value) in context.heap.entries(map) {
                if hides && context.heap.is_hidden(key) {
                    continue;
                }
                self.keys.push(key);
                if has_values {
                    self.values.push(value);
                }
            }
            self.is_read = true;
            context.meter.advanced();
        }
        self.sorting
            .sort(context, &self.keys, usize::MAX, &[false])?;
        Ok(())
    }
}
