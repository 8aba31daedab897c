//! Marks of an observed run: what each one counts.
//!
//! The lists whose items are counted are in slots of their own, so that a list is counted once and
//! not in every iteration.

use super::counts::Watch;
use super::machine::Machine;
use super::run::Vm;
use crate::explain::{Detail, Keys, Mark, COUNTED_LISTS};
use crate::fault::Halt;
use crate::language::Language;
use crate::program::Slot;
use ptc_term::heap::{Heap, Kind, Lookup};
use std::time::Instant;

/// Cost of a mark: most marks read a clock.
const NOTE: usize = 4;
/// Lists up to this length are counted each time.
const SHORT: usize = 16;

impl<H: Heap, L: Language> Vm<'_, H, L> {
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
    pub(super) fn note(&mut self, mark: Mark) -> Result<(), Halt<H::Term>> {
        if let (Mark::Keys(site), Some(watch)) = (mark, &self.watch) {
            // Work that is resumed ends where it began.
            if watch.has_all_keys(site) && self.machine.work.is_none() {
                return self.machine.consume_fuel(1);
            }
        }
        self.note_slowly(mark)
    }

    #[cold]
    fn note_slowly(&mut self, mark: Mark) -> Result<(), Halt<H::Term>> {
        self.machine.consume_fuel(NOTE)?;
        let Some(mut watch) = self.watch.take() else {
            return Ok(());
        };
        let noted = self.note_in(&mut watch, mark);
        self.watch = Some(watch);
        noted
    }

    fn note_in(&mut self, watch: &mut Watch, mark: Mark) -> Result<(), Halt<H::Term>> {
        match mark {
            Mark::Enter(site) => {
                watch.settle(self.machine.heap.words_built());
                watch.open.push(site);
                watch.counts[site as usize].runs += 1;
            }
            Mark::Leave(site) => {
                watch.settle(self.machine.heap.words_built());
                watch.open.pop();
                let value = self.machine.top();
                let counts = &mut watch.counts[site as usize];
                counts.ended += 1;
                counts.held += u64::from(self.machine.heap.truthy(value));
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
                let (Some(slot), keys) = (site.input, site.keys) else {
                    return Ok(());
                };
                let value = self.machine.slot(slot);
                let has_rows = self.machine.heap.kind(value) == Kind::List && keys.in_rows;
                match has_rows {
                    true => self.keys_in_rows(watch, number, keys, slot)?,
                    false => self.keys_in_value(watch, number, keys, value)?,
                }
            }
        }
        Ok(())
    }

    /// Returns the number of items of a list; `None` for any other term.
    fn items(&mut self, watch: &mut Watch, value: H::Term) -> Result<Option<usize>, Halt<H::Term>> {
        let machine = &mut self.machine;
        // Lists are remembered where all is recorded; the rounds of a run that forks have slots of their own.
        let remembers = watch.detail == Detail::All;
        let first = machine.slots.len().saturating_sub(COUNTED_LISTS as usize);
        if machine.work.is_none() {
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
            watch.settle(machine.heap.words_built());
        }
        watch.since = None;
        let items = machine.resumable_over(value, |machine, work| {
            while let Some((_, tail)) = machine.heap.uncons(work.walk.rest) {
                machine.consume_fuel(1)?;
                work.progress.count += 1;
                work.walk.rest = tail;
                machine.meter.advanced();
            }
            Ok(work.progress.count)
        })?;
        if !remembers {
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
    ) -> Result<(), Halt<H::Term>> {
        // Records nothing before all look-ups are done, so that nothing is counted twice.
        let mut found = Vec::new();
        for at in 0..keys.lookups() {
            found.push(has_key(&mut self.machine, value, keys, at)?);
        }
        for (seen, found) in watch.counts[site as usize].keys.iter_mut().zip(found) {
            seen.0 += 1;
            seen.1 += u64::from(found);
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
    ) -> Result<(), Halt<H::Term>> {
        let noted = &mut watch.counts[site as usize].keys;
        if self.machine.work.is_none() && noted.iter().all(|(_, found)| *found > 0) {
            return Ok(());
        }
        if self.machine.work.is_none() {
            watch.settle(self.machine.heap.words_built());
        }
        watch.since = None;
        let noted = &mut watch.counts[site as usize].keys;
        let list = self.machine.slot(list);
        self.machine.resumable_over(list, |machine, work| {
            while let Some(seen) = noted.get_mut(work.progress.count) {
                while let (Some((row, tail)), 0) = (machine.heap.uncons(work.walk.rest), seen.1) {
                    machine.consume_fuel(1)?;
                    let found = has_key(machine, row, keys, work.progress.count as u32)?;
                    (seen.0, seen.1) = (seen.0 + 1, seen.1 + u64::from(found));
                    work.walk.rest = tail;
                    machine.meter.advanced();
                }
                work.progress.count += 1;
                work.walk.rest = list;
            }
            Ok(())
        })?;
        watch.since = Some(Instant::now());
        Ok(())
    }
}

/// Returns whether a value has the key, or the whole path.
fn has_key<H: Heap>(
    machine: &mut Machine<'_, H>,
    value: H::Term,
    keys: Keys,
    at: u32,
) -> Result<bool, Halt<H::Term>> {
    if !keys.path {
        let found = machine.lookup(value, keys.first + at)?;
        return Ok(matches!(found, Lookup::Found(_)));
    }
    let mut value = value;
    for key in keys.first..keys.first + keys.count {
        machine.consume_fuel(1)?;
        match machine.lookup(value, key)? {
            Lookup::Found(inside) => value = inside,
            _ => return Ok(false),
        }
    }
    Ok(true)
}
