//! Marks of an observed run: what each one counts.
//!
//! The lists whose items are counted are in slots of their own, so that a list is counted once and
//! not in every iteration.

use crate::counts::{Counts, Watch};
use crate::execute::Execute;
use crate::explain::{Detail, Keys, Mark, Role, COUNTED_LISTS};
use crate::machine::Counting;
use crate::program::Slot;
use crate::run::Vm;
use ptc_kernels::Context;
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::stop::Stop;
use std::time::Instant;

/// Cost of a mark: most marks read a clock.
const NOTE: usize = 4;
/// Lists up to this length are counted each time.
const SHORT: usize = 16;
/// An item of a list at this index of a path, or behind it, counts as found.
const MOST_PASSED: i64 = 1_000;

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Observes the run from here on.
    pub fn observe(&mut self, watch: Box<Watch>) {
        self.watch = Some(watch);
    }

    /// Takes the watch out when the run is suspended.
    pub fn take_watch(&mut self) -> Option<Box<Watch>> {
        self.watch.take()
    }

    /// Records what a mark asks for. Can be suspended and resumed while it counts.
    #[inline(never)]
    pub(super) fn note(&mut self, mark: Mark) -> Result<(), Stop> {
        if let Some(watch) = &self.watch {
            // Work that is resumed ends where it began.
            if watch.has_found(mark) && self.machine.counting.is_none() {
                return self.machine.consume_fuel(1);
            }
        }
        self.note_slowly(mark)
    }

    #[cold]
    fn note_slowly(&mut self, mark: Mark) -> Result<(), Stop> {
        self.machine.consume_fuel(NOTE)?;
        let Some(mut watch) = self.watch.take() else {
            return Ok(());
        };
        let noted = self.note_in(&mut watch, mark);
        self.watch = Some(watch);
        noted
    }

    fn note_in(&mut self, watch: &mut Watch, mark: Mark) -> Result<(), Stop> {
        match mark {
            Mark::Enter(site) => {
                watch.settle(self.machine.heap.words_built());
                watch.open(site, self.callers.len());
            }
            Mark::Leave(site) => {
                watch.settle(self.machine.heap.words_built());
                watch.leave(site, self.callers.len(), true);
                let value = self.machine.top();
                let kind = self.machine.heap.kind(value);
                let counts = &mut watch.counts[site as usize];
                counts.ended += 1;
                counts.held += u64::from(self.machine.heap.truthy(value));
                counts.kinds |= 1 << kind as u32;
            }
            Mark::LeaveParts(site) => {
                watch.settle(self.machine.heap.words_built());
                watch.leave(site, self.callers.len(), true);
                watch.counts[site as usize].ended += 1;
            }
            Mark::Back(site) => {
                watch.settle(self.machine.heap.words_built());
                watch.leave(site, self.callers.len(), false);
            }
            Mark::Input(site) => {
                let slot = self.program.sites[site as usize].input;
                let Some(slot) = slot else { return Ok(()) };
                let value = self.machine.slot(slot);
                if let Some(items) = self.items(watch, value)? {
                    let counts = &mut watch.counts[site as usize];
                    counts.lists_in += 1;
                    counts.items_in += items as u64;
                }
            }
            Mark::Output(site) => {
                let value = self.machine.top();
                if let Some(items) = self.items(watch, value)? {
                    let counts = &mut watch.counts[site as usize];
                    counts.lists_out += 1;
                    counts.items_out += items as u64;
                }
            }
            Mark::Keys(number) => {
                let site = &self.program.sites[number as usize];
                let (Some(slot), keys) = (site.keys.from.or(site.input), site.keys) else {
                    return Ok(());
                };
                let value = self.machine.slot(slot);
                let has_rows = self.machine.heap.kind(value) == Kind::List && keys.in_rows;
                match has_rows {
                    true => self.keys_in_rows(watch, number, keys, slot)?,
                    false => self.keys_in_value(watch, number, keys, value)?,
                }
            }
            Mark::Value(site) => {
                let value = self.machine.top();
                self.count_value(watch, site, value);
            }
            Mark::Current(number) => {
                let slot = self.program.sites[number as usize].input;
                if let Some(slot) = slot {
                    let value = self.machine.slot(slot);
                    self.count_value(watch, number, value);
                }
            }
            Mark::Made(site) => {
                let value = self.machine.top();
                let is_null = self.machine.heap.kind(value) == Kind::Nil;
                watch.counts[site as usize].made += u64::from(!is_null);
            }
        }
        Ok(())
    }

    /// Counts a value that an operation is given for its role.
    fn count_value(&self, watch: &mut Watch, site: u32, value: H::Term) {
        let values = &mut watch.counts[site as usize].values;
        let is_null = self.machine.heap.kind(value) == Kind::Nil;
        *values = (values.0 + 1, values.1 + u64::from(!is_null));
    }

    /// Returns the number of items of a list; `None` for any other term.
    fn items(&mut self, watch: &mut Watch, value: H::Term) -> Result<Option<usize>, Stop> {
        let machine = &mut self.machine;
        // Lists are remembered where all is recorded; the rounds of a run that forks have slots of their own.
        let remembers = watch.detail == Detail::All;
        let first = machine.slots.len().saturating_sub(COUNTED_LISTS as usize);
        if machine.counting.is_none() {
            if machine.heap.kind(value) != Kind::List {
                return Ok(None);
            }
            let (mut rest, mut short) = (value, 0);
            while let (Some((_, tail)), true) = (machine.heap.uncons(rest), short <= SHORT) {
                (rest, short) = (tail, short + 1);
            }
            if short <= SHORT {
                return Ok(Some(short));
            }
            let identity = machine.heap.identity(value);
            for (place, length) in watch.lengths.iter().enumerate() {
                if remembers
                    && length.is_some()
                    && machine.heap.identity(machine.slots[first + place]) == identity
                {
                    return Ok(*length);
                }
            }
            if watch.detail == Detail::Forms && watch.items_left == 0 {
                return Ok(None);
            }
            watch.settle(machine.heap.words_built());
        }
        watch.since = None;
        let (items, _) = machine.count_items(value)?;
        if !remembers {
            watch.items_left = watch.items_left.saturating_sub(items);
            watch.since = Some(Instant::now());
            return Ok(Some(items));
        }
        watch.since = Some(Instant::now());
        machine.slots[first + watch.next] = value;
        watch.lengths[watch.next] = Some(items);
        watch.next = (watch.next + 1) % watch.lengths.len();
        Ok(Some(items))
    }

    /// Looks the keys up in one value.
    fn keys_in_value(
        &mut self,
        watch: &mut Watch,
        site: u32,
        keys: Keys,
        value: H::Term,
    ) -> Result<(), Stop> {
        // Records nothing before all look-ups are done, so that nothing is counted twice.
        let mut found = Vec::new();
        for at in 0..keys.lookups() {
            found.push(key_in(&mut self.machine, value, keys, at)?);
        }
        let counts = &mut watch.counts[site as usize];
        for (seen, found) in counts.keys.iter_mut().zip(found) {
            found.count(seen, &mut counts.values);
        }
        Ok(())
    }

    /// Looks in the rows for each key that no row has had so far.
    fn keys_in_rows(
        &mut self,
        watch: &mut Watch,
        site: u32,
        keys: Keys,
        list: Slot,
    ) -> Result<(), Stop> {
        let has_all = watch.counts[site as usize].has_all_keys();
        if self.machine.counting.is_none() && has_all {
            return Ok(());
        }
        if self.machine.counting.is_none() {
            watch.settle(self.machine.heap.words_built());
        }
        watch.since = None;
        let Counts {
            keys: noted,
            values,
            role,
            ..
        } = &mut watch.counts[site as usize];
        let list = self.machine.slot(list);
        let machine = &mut self.machine;
        let begun = machine.counting.take();
        let mut at = begun.unwrap_or(Counting {
            rest: list,
            count: 0,
        });
        while let Some(seen) = noted.get_mut(at.count) {
            while let Some((row, tail)) = machine.heap.uncons(at.rest) {
                if seen.1 > 0 && (*role != Role::Totals || values.1 > 0) {
                    break;
                }
                let number = at.count as u32;
                let found =
                    (machine.consume_fuel(1)).and_then(|()| key_in(machine, row, keys, number));
                let found = match found {
                    Err(Stop::SliceOver) => {
                        machine.counting = Some(at);
                        return Err(Stop::SliceOver);
                    }
                    found => found?,
                };
                found.count(seen, values);
                at.rest = tail;
                machine.meter.advanced();
            }
            at.count += 1;
            at.rest = list;
        }
        watch.since = Some(Instant::now());
        Ok(())
    }
}

/// What a look-up has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Null,
    Value,
}

impl Found {
    fn of<H: Heap>(heap: &H, value: H::Term) -> Self {
        match heap.kind(value) {
            Kind::Nil => Found::Null,
            _ => Found::Value,
        }
    }

    fn count(self, seen: &mut (u64, u64), values: &mut (u64, u64)) {
        *seen = (seen.0 + 1, seen.1 + u64::from(self != Found::Nothing));
        *values = (values.0 + 1, values.1 + u64::from(self == Found::Value));
    }
}

/// Looks a key up in a value, or follows the whole path.
fn key_in<H: Heap>(
    machine: &mut Context<'_, H>,
    value: H::Term,
    keys: Keys,
    at: u32,
) -> Result<Found, Stop> {
    let keys = match keys.path {
        true => keys.first..keys.first + keys.count,
        false => keys.first + at..keys.first + at + 1,
    };
    let mut value = value;
    for key in keys {
        machine.consume_fuel(1)?;
        let constant = machine.constant(key);
        let inside = match machine.heap.kind(constant) {
            Kind::Number => match in_reach(machine, value, constant) {
                true => {
                    let at = (&mut { value }, &mut 0);
                    machine.found_by_number(value, constant, at)?
                }
                false => return Ok(Found::Value),
            },
            _ => match machine.lookup(value, key)? {
                Lookup::Found(inside) => Some(inside),
                _ => None,
            },
        };
        match inside {
            Some(inside) => value = inside,
            None => return Ok(Found::Nothing),
        }
    }
    Ok(Found::of(&*machine.heap, value))
}

/// Returns whether the item at an index is found within a slice: the look-ups of a path are done again where they are suspended.
fn in_reach<H: Heap>(machine: &Context<'_, H>, value: H::Term, index: H::Term) -> bool {
    let index = machine.heap.small_integer(index).unwrap_or(0);
    machine.heap.kind(value) != Kind::List || index < MOST_PASSED
}
