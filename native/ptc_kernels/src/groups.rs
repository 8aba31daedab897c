//! Groups: the items of a list by their keys, by hashing the keys in place.
//!
//! A group has one key, or several. The keys of a group with several are in the table one under the other: the second
//! stands under the place of the first, and so on, so that nothing is built for an item.

use crate::context::{Context, KEPT_BETWEEN_CHECKS};
use crate::kinds::Kinds;
use crate::table::Table;
use crate::tally::Tally;
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;

/// Number of items that are put in the order of their groups between two checks of the limits, and of items of a new list.
const BATCH: usize = 4_096;
/// Words of native memory for a sum or a mean.
const WORDS_OF_TALLY: usize = size_of::<Tally>() / 8;
/// Items per unit of fuel: putting an item into its place is a cache miss.
const ITEMS_A_UNIT: usize = 2;

/// The groups of items. They have no terms: the keys and the items are in the work whose groups they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    table: Table,
    /// The values in the keys, for each key of a group.
    kinds: Vec<Kinds>,
    /// Number of keys whose values have been searched.
    searched: usize,
    /// Whether an equal key that other keys stand under has another form, such as a text in the place of a date. Then
    /// the keys of a group are those of its first item, and not those of the table.
    pub(crate) varied: bool,
    /// Number of items of each entry of the table; 0 for a key that another one stands under.
    counts: Vec<u32>,
    /// The entry of each item.
    entries: Vec<u32>,
    /// The indices of the items in the order of their groups, while they are put there.
    pub(crate) order: Vec<u32>,
    /// Where the next item of each entry has its place.
    pub(crate) next: Vec<u32>,
    /// Number of items that are in order.
    at: usize,
    /// Whether the items of each entry have been used.
    used: Vec<bool>,
    /// The sums and the means of each entry, and how many totals the current item has been added to.
    pub(super) tallies: Vec<Tally>,
    /// Words of what tallies refer to.
    pub(super) long_tallies: usize,
    pub(super) added: usize,
}

impl Groups {
    /// Groups with this many keys each.
    pub fn new(keys: usize) -> Self {
        Groups {
            table: Table::nested(),
            kinds: vec![Kinds::default(); keys],
            searched: 0,
            varied: false,
            counts: Vec::new(),
            entries: Vec::new(),
            order: Vec::new(),
            next: Vec::new(),
            at: 0,
            used: Vec::new(),
            tallies: Vec::new(),
            long_tallies: 0,
            added: 0,
        }
    }

    /// Returns the number of keys of a group.
    pub fn keys(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the words of native memory.
    pub fn words(&self) -> usize {
        let tallies = WORDS_OF_TALLY * self.tallies.len();
        self.table.words() + self.counts.len() + self.entries.len() + tallies + self.long_tallies
    }

    /// Returns the number of entries of the table.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns whether an entry is a group.
    pub fn is_group(&self, entry: usize) -> bool {
        self.counts[entry] > 0
    }

    /// Searches the keys of the items for values, where structs are values. `key` gives a key of an item.
    pub fn search<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        (rest, list): (&mut H::Term, H::Term),
        key: impl Fn(&mut Context<'_, H>, usize, H::Term) -> Result<H::Term, Stop>,
    ) -> Result<(), Stop> {
        while machine.values() && self.searched < self.kinds.len() {
            let at = self.searched;
            let kinds = &mut self.kinds[at];
            machine.search_items(rest, kinds, |machine, item| key(machine, at, item))?;
            *rest = list;
            self.searched += 1;
        }
        Ok(())
    }

    /// Returns the entry of the group with this key under `above`, which is 0 or the entry of the key before it plus one. The
    /// group is made if it is missing.
    #[inline]
    pub fn entry<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        terms: &mut Roots<H::Term>,
        (at, above): (usize, u32),
        key: H::Term,
    ) -> Result<usize, Stop> {
        machine.consume_fuel_to_hash(key)?;
        let kinds = &self.kinds[at];
        let entry = (self.table).insert_under(machine, kinds, terms, (key, above))?;
        if entry == self.counts.len() {
            self.counts.push(0);
        } else if !kinds.is_empty() && at + 1 < self.kinds.len() {
            self.varied |= !machine.heap.identical(terms.get(machine.heap, entry), key);
        }
        Ok(entry)
    }

    /// Returns whether the keys of a group may not be those of its first item in their form.
    pub fn varied(&self) -> bool {
        self.varied
    }

    /// Adds the values in a key, where structs are values.
    pub fn search_key<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        key: H::Term,
    ) -> Result<(), Stop> {
        machine.search(&mut self.kinds[0], key)
    }

    /// Returns the group with this key, if there is one, once all items are in the order of their groups.
    #[inline]
    pub fn find<H: Heap>(
        &self,
        machine: &mut Context<'_, H>,
        terms: &Roots<H::Term>,
        key: H::Term,
    ) -> Result<Option<usize>, Stop> {
        machine.consume_fuel_to_hash(key)?;
        Ok(self.table.position(machine, &self.kinds[0], terms, key))
    }

    /// Returns whether the items of a group are used for the first time.
    pub fn is_first_use(&mut self, entry: usize) -> bool {
        if self.used.is_empty() {
            self.used = vec![false; self.counts.len()];
        }
        !std::mem::replace(&mut self.used[entry], true)
    }

    /// Returns the indices of a group's items, once all items are in the order of their groups.
    pub fn members(&self, entry: usize) -> &[u32] {
        let end = self.next[entry] as usize;
        &self.order[end - self.counts[entry] as usize..end]
    }

    /// Returns the only group of items without keys.
    pub fn only_entry(&mut self) -> usize {
        if self.counts.is_empty() {
            self.counts.push(0);
        }
        0
    }

    /// Counts an item of a group.
    #[inline]
    pub(super) fn count(&mut self, entry: usize) {
        self.counts[entry] += 1;
    }

    /// Returns the number of items of a group.
    pub(super) fn size(&self, entry: usize) -> u32 {
        self.counts[entry]
    }

    /// Adds an item to a group whose items are kept.
    #[inline]
    pub fn add<H: Heap>(
        &mut self,
        machine: &Context<'_, H>,
        items: &mut Roots<H::Term>,
        (entry, item): (usize, H::Term),
    ) -> Result<(), Stop> {
        if items.len().is_multiple_of(KEPT_BETWEEN_CHECKS) {
            // The item, its place, and its cell in the list of the group.
            machine.check_heap_limit(self.words() + 4 * items.len())?;
        }
        items.push(item);
        self.entries.push(entry as u32);
        self.counts[entry] += 1;
        Ok(())
    }

    /// Adds the keys of a group to `keys`.
    pub fn keys_of<T: Copy, H: Heap<Term = T>>(
        &self,
        heap: &H,
        terms: &Roots<T>,
        entry: usize,
        keys: &mut Vec<T>,
    ) {
        let first = keys.len();
        let mut place = entry;
        for at in 0..self.kinds.len() {
            if at > 0 {
                place = self.table.above(place) as usize - 1;
            }
            keys.push(terms.get(heap, place));
        }
        keys[first..].reverse();
    }

    /// Puts the indices of the items in the order of their groups. Can be suspended.
    pub fn arrange<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        terms: &Roots<H::Term>,
    ) -> Result<(), Stop> {
        if !terms.is_empty() {
            self.table.settle(machine, terms)?;
        }
        if self.next.is_empty() && !self.counts.is_empty() {
            machine.check_heap_limit(self.words() + self.counts.len() + self.entries.len())?;
            machine.consume_fuel_at_once(self.counts.len() + self.entries.len() / 8)?;
            let mut start = 0;
            self.next.extend(self.counts.iter().map(|count| {
                start += count;
                start - count
            }));
            self.order = vec![0; self.entries.len()];
            self.at = 0;
            machine.meter.advanced();
        }
        while self.at < self.entries.len() {
            let end = self.entries.len().min(self.at + BATCH);
            machine.consume_fuel((end - self.at) / ITEMS_A_UNIT)?;
            for item in self.at..end {
                let next = &mut self.next[self.entries[item] as usize];
                self.order[*next as usize] = item as u32;
                *next += 1;
            }
            self.at = end;
            machine.meter.advanced();
        }
        Ok(())
    }
}
