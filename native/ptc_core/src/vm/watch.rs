//! Counters of an observed run: how often each operation ran, how many items it had, how long it
//! took.
//!
//! A watch is plain data; it is taken out of the run while the run is suspended. The lists whose
//! items it has counted are in slots of their own, so that a list is counted once and not in every
//! iteration.

use super::machine::Machine;
use super::run::{Exit, Vm};
use crate::compile::COUNTED_LISTS;
use crate::explain::{Keys, Mark, Site};
use crate::fault::Halt;
use crate::heap::{Heap, Kind, Lookup};
use crate::ops::OpCode;
use crate::program::Slot;
use std::time::Instant;

/// Cost of a mark: most marks read a clock.
const NOTE: usize = 4;
/// Lists up to this length are counted each time.
const SHORT: usize = 16;

/// The counters of one operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// How often it began.
    pub runs: u64,
    /// How often it ended.
    pub ended: u64,
    /// How often its current value was a list.
    pub lists_in: u64,
    /// The number of items of these lists.
    pub items_in: u64,
    /// How often its value was a list.
    pub lists_out: u64,
    /// The number of items of these lists.
    pub items_out: u64,
    /// How often its value was neither nil nor false.
    pub held: u64,
    /// Nanoseconds that it took, without the operations inside it.
    pub nanos: u64,
    /// Words that it built, without the operations inside it.
    pub words: u64,
    /// How often it called a tool.
    pub calls: u64,
    /// Nanoseconds that the answers took.
    pub waited: u64,
    /// How often the run was suspended in it at the end of a slice or quantum.
    pub breaks: u64,
    /// For each of its look-ups: how many values were examined, and how many had the key. Rows are
    /// examined up to the first one that has it.
    pub keys: Vec<(u64, u64)>,
}

/// The counters of an observed run.
#[derive(Debug)]
pub struct Watch {
    counts: Vec<Counts>,
    /// The operations that have begun and not ended, innermost last.
    open: Vec<u32>,
    /// Start of the time that counts for the innermost one; `None` while the watch itself works.
    since: Option<Instant>,
    /// Number of words counted so far.
    words: usize,
    /// Start of the wait for a tool.
    away: Option<Instant>,
    /// The lengths of the remembered lists. `next` is the index that is overwritten next.
    lengths: [Option<usize>; COUNTED_LISTS as usize],
    next: usize,
}

impl Watch {
    /// Creates a watch for a run from its start.
    pub fn new(sites: &[Site]) -> Self {
        let counts = |site: &Site| Counts {
            keys: vec![(0, 0); site.keys.lookups() as usize],
            ..Counts::default()
        };
        Watch {
            counts: sites.iter().map(counts).collect(),
            open: Vec::new(),
            since: None,
            words: 0,
            away: None,
            lengths: [None; COUNTED_LISTS as usize],
            next: 0,
        }
    }

    /// Returns the counters, by the number of the operation.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Returns the operation in which the run is, or in which it ended early.
    pub fn innermost(&self) -> Option<u32> {
        self.open.last().copied()
    }

    /// Ends a run that will not resume: no process waits for the tool any more.
    pub fn end(&mut self) {
        self.come_back(Instant::now());
    }

    fn innermost_counts(&mut self) -> Option<&mut Counts> {
        self.counts.get_mut(*self.open.last()? as usize)
    }

    /// Assigns the time and words since the last call to the innermost operation.
    fn settle(&mut self, built: usize) -> Instant {
        let now = Instant::now();
        let since = self.since.replace(now);
        let words = built.saturating_sub(std::mem::replace(&mut self.words, built));
        if let Some(counts) = self.innermost_counts() {
            let nanos = since.map_or(0, |since| now.duration_since(since).as_nanos());
            counts.nanos += nanos as u64;
            counts.words += words as u64;
        }
        now
    }

    /// Records that the run resumes; with the answer of a tool, if it waited for one.
    #[cold]
    pub(super) fn go_on(&mut self) {
        let now = Instant::now();
        self.come_back(now);
        self.since = Some(now);
    }

    fn come_back(&mut self, now: Instant) {
        if let Some(away) = self.away.take() {
            if let Some(counts) = self.innermost_counts() {
                counts.waited += now.duration_since(away).as_nanos() as u64;
            }
        }
    }

    /// Records that the run is suspended.
    #[cold]
    pub(super) fn pause<T>(&mut self, exit: &Exit<T>, built: usize) {
        let now = self.settle(built);
        let Some(counts) = self.innermost_counts() else {
            return;
        };
        match exit {
            Exit::Call { .. } => {
                counts.calls += 1;
                self.away = Some(now);
            }
            Exit::Halted(Halt::SliceOver) => counts.breaks += 1,
            _ => {}
        }
    }
}

impl<H: Heap> Vm<'_, H> {
    /// Observes the run from here on.
    pub fn observe(&mut self, watch: Box<Watch>) {
        self.watch = Some(watch);
    }

    /// Takes the watch out when the run is suspended.
    pub fn take_watch(&mut self) -> Option<Box<Watch>> {
        self.watch.take()
    }

    /// Records what a mark asks for. Can be suspended and resumed while it counts.
    #[cold]
    pub(super) fn note(&mut self, mark: Mark) -> Result<(), Halt<H::Term>> {
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
                let (Some(slot), keys, op) = (site.input, site.keys, site.op) else {
                    return Ok(());
                };
                let value = self.machine.slot(slot);
                let has_rows = self.machine.heap.kind(value) == Kind::List && looks_at_rows(op);
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
        let first = machine.slots.len() - COUNTED_LISTS as usize;
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
                if length.is_some()
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

/// Returns whether an operation over a list looks its keys up in the items, and not in the list
/// itself.
fn looks_at_rows(op: OpCode) -> bool {
    use OpCode::*;
    !matches!(op, Get | Eq | Neq | Gt | Gte | Lt | Lte | Contains | In)
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
