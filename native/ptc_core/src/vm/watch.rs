//! What an observed run notes about its operations: how often, how many items, how long.
//!
//! A watch is plain data, and taken out of the run while that is left. The lists whose items it has
//! counted stand in slots of their own, so that a list is counted once and not once a round.

use super::machine::Machine;
use super::run::{Exit, Vm};
use crate::compile::COUNTED_LISTS;
use crate::explain::{Keys, Mark, Site};
use crate::fault::Halt;
use crate::heap::{Heap, Kind, Lookup};
use crate::ops::OpCode;
use crate::program::Slot;
use std::time::Instant;

/// What a mark costs: most look at a clock.
const NOTE: usize = 4;
/// Up to so many items are counted each time.
const SHORT: usize = 16;

/// What was noted about one operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// How often it began, and how often it came to its end.
    pub runs: u64,
    /// See above.
    pub ended: u64,
    /// How often its current value was a list, and the items of these.
    pub lists_in: u64,
    /// See above.
    pub items_in: u64,
    /// How often its value was a list, and the items of these.
    pub lists_out: u64,
    /// See above.
    pub items_out: u64,
    /// How often its value was neither nil nor false.
    pub held: u64,
    /// Nanoseconds that it took, less those of the operations inside it.
    pub nanos: u64,
    /// Words that it built, likewise.
    pub words: u64,
    /// How often it called a tool, and how many nanoseconds the answers took.
    pub calls: u64,
    /// See above.
    pub waited: u64,
    /// How often the run left it to let others have their turn.
    pub breaks: u64,
    /// For each of its look-ups: how many values were looked at, and how many had the key. Rows are
    /// looked at up to the first one that has it.
    pub keys: Vec<(u64, u64)>,
}

/// What is noted in an observed run.
#[derive(Debug)]
pub struct Watch {
    counts: Vec<Counts>,
    /// The operations that have begun and not ended, innermost last.
    open: Vec<u32>,
    /// Since when time counts for the innermost of them; `None` while the watch itself is at work.
    since: Option<Instant>,
    /// The words that have been counted.
    words: usize,
    /// Since when the run waits for a tool.
    away: Option<Instant>,
    /// How many items the lists have that are remembered, and which place is the next one used.
    lengths: [Option<usize>; COUNTED_LISTS as usize],
    next: usize,
}

impl Watch {
    /// A watch for a run from its start.
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

    /// What was noted, by the number of the operation.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// The operation in which the run is, or in which it ended early.
    pub fn innermost(&self) -> Option<u32> {
        self.open.last().copied()
    }

    /// The run does not go on: nobody waits for the tool any more.
    pub fn end(&mut self) {
        self.come_back(Instant::now());
    }

    fn innermost_counts(&mut self) -> Option<&mut Counts> {
        self.counts.get_mut(*self.open.last()? as usize)
    }

    /// What was done so far is the innermost operation's.
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

    /// The run goes on; with the answer of a tool, if it waited for one.
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

    /// The run is left.
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
    /// The run is observed from here on.
    pub fn observe(&mut self, watch: Box<Watch>) {
        self.watch = Some(watch);
    }

    /// What has been noted, when the run is left.
    pub fn take_watch(&mut self) -> Option<Box<Watch>> {
        self.watch.take()
    }

    /// Notes what a mark asks for. Can be left and resumed where it counts.
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

    /// The items of a list; `None` for every other term.
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
        // Nothing is noted before everything has been looked up, so that nothing is noted twice.
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

    /// Looks for a row with each key that none was found with so far.
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

/// Whether an operation over a list looks its keys up in the items, and not in the list itself.
fn looks_at_rows(op: OpCode) -> bool {
    use OpCode::*;
    !matches!(op, Get | Eq | Neq | Gt | Gte | Lt | Lte | Contains | In)
}

/// Whether a value has the key, or the whole path.
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
