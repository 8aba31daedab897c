//! `update-vals` and `update-keys`: a function is applied to each value, or each key, of a map.

use super::accept::keep;
use super::function::{Applied, FunctionLike};
use super::Turn;
use crate::code::{Halt, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use ptc_term::heap::{Heap, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Fuel for reading an entry of a map.
const ENTRY: usize = 4;

/// A built-in that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries<T> {
    builtin: Builtin,
    function: FunctionLike<T>,
    map: T,
    /// What stays of the entries, and what the function is applied to.
    same: Roots<T>,
    old: Roots<T>,
    /// The values of the function.
    new: Roots<T>,
    read: bool,
    awaits: bool,
}

rooted!(Entries {
    terms: map; states: function, same, old, new; plain: builtin, read, awaits
});

impl<T: Copy> Entries<T> {
    /// The start.
    pub fn of(builtin: Builtin, function: FunctionLike<T>, map: T) -> Self {
        Entries {
            builtin,
            function,
            map,
            same: Roots::default(),
            old: Roots::default(),
            new: Roots::default(),
            read: false,
            awaits: false,
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(value) = returned.filter(|_| self.awaits) {
            keep(m, &mut self.new, value)?;
        }
        self.awaits = false;
        if !self.read {
            self.read(m)?;
        }
        while self.new.len() < self.old.len() {
            m.consume_fuel(1)?;
            let item = self.old.get(m.heap, self.new.len());
            match self.function.apply(m, item)? {
                Applied::Value(value) => {
                    keep(m, &mut self.new, value)?;
                    m.meter.advanced();
                }
                Applied::Called => {
                    let next = self.function.call(m, &[item])?;
                    self.awaits = true;
                    return Ok(Turn::Next(next));
                }
                Applied::Refused => {
                    let given = [self.map, self.function.term];
                    return Err(invalid_types(self.builtin, &given));
                }
            }
        }
        let count = self.new.len();
        m.count_new_map(count)?;
        // Of equal keys the last one counts.
        let places = (0..count).rev();
        let (new, same): (Vec<_>, Vec<_>) = places
            .map(|place| (self.new.get(m.heap, place), self.same.get(m.heap, place)))
            .unzip();
        Ok(Turn::done(match self.builtin {
            Builtin::UpdateVals => m.heap.make_map(&same, &new),
            _ => m.heap.make_map(&new, &same),
        }))
    }

    fn read<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        let size = m.heap.map_size(self.map).unwrap_or(0);
        m.check_heap_limit(2 * WORDS_OF_CELL * size)?;
        m.consume_fuel_at_once(ENTRY * size)?;
        for (key, value) in m.heap.entries(self.map) {
            let (same, old) = match self.builtin {
                Builtin::UpdateVals => (key, value),
                _ => (value, key),
            };
            self.same.push(same);
            self.old.push(old);
        }
        self.read = true;
        m.meter.advanced();
        Ok(())
    }
}
