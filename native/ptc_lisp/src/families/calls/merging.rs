//! `merge-with`: where two maps have a key, a function of both values gives the new one.

use super::ends::of_builtin;
use super::function::{Applied, FunctionLike};
use super::rests::store;
use super::{Refusal, Turn};
use crate::code::{Halt, Machine};
use crate::consts::EMPTY_MAP;
use crate::exec::checks::invalid_types;
use crate::families;
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Lookup, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Fuel for reading an entry of a map.
const ENTRY: usize = 4;

/// `merge-with` that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Merging<T> {
    function: FunctionLike<T>,
    maps: Roots<T>,
    /// The map so far.
    made: Option<T>,
    /// Number of maps that are merged or read.
    read: usize,
    /// The entries of the map that is being merged: keys and values by turns, and the number of those that are merged.
    entries: Roots<T>,
    at: usize,
    /// The new value of the current key.
    value: Option<T>,
    awaits: bool,
}

rooted!(Merging {
    optional: made, value; states: function, maps, entries; plain: read, at, awaits
});

impl<T: Copy> Merging<T> {
    /// The start.
    pub fn of(function: FunctionLike<T>, maps: &[T]) -> Self {
        Merging {
            function,
            maps: store(maps.iter().copied()),
            made: None,
            read: 0,
            entries: Roots::default(),
            at: 0,
            value: None,
            awaits: false,
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(value) = returned.filter(|_| self.awaits) {
            self.value = Some(value);
        }
        self.awaits = false;
        loop {
            m.consume_fuel(1)?;
            if 2 * self.at == self.entries.len() {
                if self.read == self.maps.len() {
                    let empty = m.constant(EMPTY_MAP);
                    return Ok(Turn::done(self.made.unwrap_or(empty)));
                }
                self.read_map(m)?;
                m.meter.advanced();
                continue;
            }
            let key = self.entries.get(m.heap, 2 * self.at);
            let new = self.entries.get(m.heap, 2 * self.at + 1);
            let made = self.made.unwrap_or(m.heap.nil());
            if self.value.is_none() {
                let cost = m.weigh(key)?;
                m.consume_fuel_for_lookup(made, cost)?;
                let found = m.heap.lookup(made, key, &mut H::KeyCache::default());
                self.value = match found {
                    Lookup::Found(old) => match self.function.apply_to(m, &[old, new])? {
                        Applied::Value(value) => Some(value),
                        Applied::Called => {
                            let next = self.function.call(m, &[old, new])?;
                            self.awaits = true;
                            return Ok(Turn::Next(next));
                        }
                        Applied::Refused => return Err(self.refused(m)),
                    },
                    _ => Some(new),
                };
            }
            let value = self.value.unwrap_or(new);
            let put = families::call(m, Builtin::Assoc, &[made, key, value]);
            self.made = Some(put.map_err(|halt| of_builtin::<H>(halt, Builtin::MergeWith))?);
            (self.value, self.at) = (None, self.at + 1);
            m.meter.advanced();
        }
    }

    /// Reads the entries of the next map. The first one is the start.
    fn read_map<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        let map = self.maps.get(m.heap, self.read);
        if class(m, map) == Class::Map {
            if self.made.is_none() {
                self.made = Some(map);
            } else {
                let size = m.heap.map_size(map).unwrap_or(0);
                m.check_heap_limit(2 * WORDS_OF_CELL * size)?;
                m.consume_fuel_at_once(ENTRY * size)?;
                self.entries.truncate(0, m.heap);
                self.at = 0;
                for (key, value) in m.heap.entries(map) {
                    self.entries.push(key);
                    self.entries.push(value);
                }
            }
        }
        self.read += 1;
        Ok(())
    }

    #[cold]
    fn refused<H: Heap<Term = T>>(&self, m: &Machine<'_, H>) -> Refusal<T> {
        let mut given = vec![self.function.term];
        given.extend((0..self.maps.len()).map(|at| self.maps.get(m.heap, at)));
        invalid_types(Builtin::MergeWith, &given)
    }
}
