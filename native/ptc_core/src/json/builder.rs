//! Sink that builds terms directly from JSON events.

use super::keys::{KeyId, Keys};
use super::{Sink, Text};
use crate::digits::Digits;
use crate::heap::Heap;
use crate::names;
use crate::number::Number;
use crate::stop::Stop;
use crate::workspace::Workspace;

/// From this length on, in bytes, a string is counted separately.
const LONG: usize = 4096;
/// Maximum size of a map that is built in one call and counted with its text.
const FEW: usize = 1024;
/// Same for a list.
const FEW_ITEMS: usize = 16_384;
/// Fuel for an entry of a large map, which is a tree that is built in one call.
const MAP_ENTRY: usize = 32;
/// Minimum number of words that an entry of a large map takes.
const WORDS_OF_ENTRY: usize = 4;
/// Bytes of text that are copied per unit of fuel.
const BYTES_PER_UNIT: usize = 64;
/// Words that the state of an open container takes.
const WORDS_OF_OPEN: usize = 2;

/// Builds a term from the events of one value.
pub struct TermBuilder<'w, 't, H: Heap> {
    work: Workspace<'w, H>,
    /// Finished values of the open containers, as far as they were built since the builder was thawed;
    /// in an object, keys and values alternate.
    stack: Vec<H::Term>,
    parts: Parts,
    /// The values below those on the stack, last one first, and the end of a list that is being built
    /// from its end.
    frozen: FrozenTerms<H::Term>,
    known: Keys<'t, H::Term>,
    /// The keys of the open objects that have ids.
    ids: Vec<KeyId>,
    // Reused for each object.
    keys: Vec<H::Term>,
    values: Vec<H::Term>,
}

/// The state of a frozen builder, without its terms.
#[derive(Debug, Default)]
pub struct Parts {
    /// The start of each open container's part of the stack, and of its part of the ids.
    starts: Vec<(usize, usize)>,
    /// Number of open containers without a part of the ids.
    forgotten: usize,
    /// Number of frozen values.
    frozen: usize,
    hyphens: bool,
    /// Keys are built with underscores for hyphens.
    underscored: bool,
    repeated: bool,
    /// An integer that is being read.
    digits: Option<Box<Digits>>,
}

/// The terms of a frozen builder.
#[derive(Debug, Clone, Copy)]
pub struct FrozenTerms<T> {
    /// The finished values as a list, last one first.
    pub values: T,
    /// The end of a list that is being built, if there is one.
    pub tail: Option<T>,
}

impl<'w, H: Heap> TermBuilder<'w, '_, H> {
    /// Creates a builder before the first event.
    pub fn new(work: Workspace<'w, H>) -> Self {
        let values = work.heap.nil();
        TermBuilder::thaw(work, Parts::default(), FrozenTerms { values, tail: None })
    }

    /// Same as `new`, with underscores for the hyphens of keys.
    pub fn underscored(work: Workspace<'w, H>) -> Self {
        let mut builder = TermBuilder::new(work);
        builder.parts.underscored = true;
        builder
    }

    /// Rebuilds a frozen builder. Its cache of keys is empty.
    pub fn thaw(work: Workspace<'w, H>, parts: Parts, frozen: FrozenTerms<H::Term>) -> Self {
        TermBuilder {
            work,
            stack: Vec::new(),
            parts,
            frozen,
            known: Keys::new(),
            ids: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Freezes the builder; [`TermBuilder::thaw`] rebuilds it in another call of the heap. Each value
    /// is frozen at most once.
    pub fn freeze(mut self) -> (Parts, FrozenTerms<H::Term>) {
        self.parts.frozen += self.stack.len();
        for value in self.stack.drain(..) {
            self.frozen.values = self.work.heap.cons(value, self.frozen.values);
        }
        // The key order of an object is unknown if only some of its keys have ids: see `close`.
        self.parts.forgotten = self.parts.starts.len();
        (self.parts, self.frozen)
    }

    /// Returns whether two keys of an object became equal; known only for underscored keys.
    pub fn has_repeated(&self) -> bool {
        self.parts.repeated
    }

    /// Returns whether a key had a hyphen.
    pub fn has_hyphens(&self) -> bool {
        self.parts.hyphens
    }

    /// Returns the term after its last event.
    pub fn finish(mut self) -> H::Term {
        self.take()
    }

    /// Same as `finish`, but keeps the builder.
    pub fn take(&mut self) -> H::Term {
        let nil = self.work.heap.nil();
        self.pop().unwrap_or(nil)
    }

    /// Counts other work, at a point where the builder can be suspended.
    pub fn count_or_leave(&mut self, units: usize) -> Result<(), Stop> {
        self.work.consume_fuel_or_suspend(units)
    }

    /// Checks the heap limit for all terms built so far.
    pub fn check_heap_limit(&self) -> Result<(), Stop> {
        self.work.check_heap_limit(0)
    }

    /// Resets the builder.
    pub fn clear(&mut self) {
        self.stack.clear();
        self.ids.clear();
        // For a cached key, the hyphen is not reported again.
        self.known = Keys::new();
        self.frozen.values = self.work.heap.nil();
        self.frozen.tail = None;
        self.parts = Parts {
            underscored: self.parts.underscored,
            ..Parts::default()
        };
    }

    /// Returns the start of the innermost open container's parts of the stack and of the ids.
    #[inline]
    fn innermost(&self) -> (usize, usize) {
        let starts = &self.parts.starts;
        let (start, first_id) = starts.last().copied().unwrap_or_default();
        match starts.len() > self.parts.forgotten {
            true => (start, first_id),
            false => (start, 0),
        }
    }

    #[inline]
    fn leave_innermost(&mut self, first_id: usize) {
        self.ids.truncate(first_id);
        self.parts.starts.pop();
        self.parts.forgotten = self.parts.forgotten.min(self.parts.starts.len());
    }

    fn depth(&self) -> usize {
        self.parts.frozen + self.stack.len()
    }

    fn pop(&mut self) -> Option<H::Term> {
        self.stack.pop().or_else(|| self.pop_frozen())
    }

    #[cold]
    fn pop_frozen(&mut self) -> Option<H::Term> {
        let (value, rest) = self.work.heap.uncons(self.frozen.values)?;
        self.frozen.values = rest;
        self.parts.frozen -= 1;
        Some(value)
    }

    /// Moves the values from `start` on to the stack.
    #[cold]
    fn thaw_from(&mut self, start: usize) {
        let missing = self.parts.frozen.saturating_sub(start);
        let mut lower: Vec<_> = (0..missing).map_while(|_| self.pop_frozen()).collect();
        lower.reverse();
        lower.append(&mut self.stack);
        self.stack = lower;
    }

    fn push_number(&mut self, number: Number) {
        let heap = &mut *self.work.heap;
        let term = heap.make_number(number);
        self.stack.push(term.unwrap_or(heap.nil()));
    }

    /// Checks the heap limit and counts the fuel for a long text before it is copied.
    #[cold]
    fn check_long(&mut self, bytes: usize) -> Result<(), Stop> {
        self.work.consume_fuel(bytes / BYTES_PER_UNIT)?;
        self.work.check_heap_limit(bytes / 8)
    }

    /// Builds a list from its end; can be suspended.
    #[cold]
    fn close_long(&mut self, start: usize) -> Result<(), Stop> {
        let mut tail = match self.frozen.tail {
            Some(tail) => tail,
            None => {
                let words = 2 * (self.depth() - start);
                self.work.check_heap_limit(words)?;
                self.work.heap.make_list(&[])
            }
        };
        while self.depth() > start {
            self.frozen.tail = Some(tail);
            self.work.consume_fuel_or_suspend(FEW)?;
            let live = self.stack.len().min(self.depth() - start).min(FEW);
            if live > 0 {
                let from = self.stack.len() - live;
                tail = self.work.heap.make_list_onto(&self.stack[from..], tail);
                self.stack.truncate(from);
                continue;
            }
            for _ in 0..FEW.min(self.depth() - start) {
                if let Some(item) = self.pop_frozen() {
                    tail = self.work.heap.make_list_onto(&[item], tail);
                }
            }
        }
        self.frozen.tail = None;
        self.stack.push(tail);
        Ok(())
    }

    /// Checks the heap limit and counts the fuel for a map of this many entries.
    #[cold]
    fn check_large(&mut self, entries: usize) -> Result<(), Stop> {
        self.work.check_heap_limit(WORDS_OF_ENTRY * entries)?;
        self.work.consume_fuel_or_suspend(MAP_ENTRY * entries)
    }
}

impl<'t, H: Heap> Sink<'t> for TermBuilder<'_, 't, H> {
    #[inline]
    fn null(&mut self) {
        self.stack.push(self.work.heap.nil());
    }

    #[inline]
    fn boolean(&mut self, value: bool) {
        self.stack.push(self.work.heap.boolean(value));
    }

    #[inline]
    fn integer(&mut self, value: i64) {
        self.push_number(Number::Int(value));
    }

    fn big_integer(&mut self, token: &'t str) -> Result<(), Stop> {
        let count = token.len() - usize::from(token.starts_with('-'));
        let digits = match self.parts.digits.as_mut() {
            Some(digits) => digits,
            None => {
                self.work.check_heap_limit(Digits::words(count))?;
                self.work.check_time_left(Digits::least_time(count))?;
                self.parts.digits.insert(Box::new(Digits::new(count)))
            }
        };
        let work = &mut self.work;
        let value = digits.read(token.as_bytes(), |cost| work.consume_fuel_or_suspend(cost))?;
        self.parts.digits = None;
        self.push_number(Number::from_big(value));
        Ok(())
    }

    #[inline]
    fn float(&mut self, value: f64) {
        self.push_number(Number::Float(value));
    }

    #[inline]
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        let bytes = text.bytes();
        if bytes.len() > LONG {
            self.check_long(bytes.len())?;
        }
        let term = self.work.heap.make_string(bytes);
        self.stack.push(term);
        Ok(())
    }

    #[inline]
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        let parts = &mut self.parts;
        // A key with escapes is too rare for the cache.
        let Text::Source(bytes) = text else {
            parts.hyphens |= text.bytes().contains(&b'-');
            let term = make_key(self.work.heap, text.bytes(), parts.underscored);
            self.stack.push(term);
            return Ok(());
        };
        if bytes.len() > LONG {
            self.check_long(bytes.len())?;
        }
        let parts = &mut self.parts;
        let heap = &mut *self.work.heap;
        let (hyphens, underscored) = (&mut parts.hyphens, parts.underscored);
        let (id, term) = self.known.intern(bytes, || {
            *hyphens |= bytes.contains(&b'-');
            make_key(heap, bytes, underscored)
        });
        self.ids.extend(id);
        self.stack.push(term);
        Ok(())
    }

    #[inline]
    fn open(&mut self, _object: bool) {
        self.parts.starts.push((self.depth(), self.ids.len()));
    }

    #[inline]
    fn close(&mut self, object: bool) -> Result<(), Stop> {
        let (start, first_id) = self.innermost();
        if !object && (self.depth() - start > FEW_ITEMS || start < self.parts.frozen) {
            self.close_long(start)?;
            self.leave_innermost(first_id);
            return Ok(());
        }
        if object && self.depth() - start > 2 * FEW {
            self.check_large((self.depth() - start) / 2)?;
        }
        if start < self.parts.frozen {
            self.thaw_from(start);
        }
        let from = start - self.parts.frozen;
        let items = &self.stack[from..];
        let heap = &mut *self.work.heap;
        let term = if object {
            self.keys.clear();
            self.values.clear();
            let (pairs, _) = items.as_chunks();
            let ids = &self.ids[first_id..];
            let order = match ids.len() == pairs.len() {
                true => self.known.order(ids),
                false => None,
            };
            let mut push = |[key, value]: &[H::Term; 2]| {
                self.keys.push(*key);
                self.values.push(*value);
            };
            match order {
                Some(order) => order.iter().for_each(|at| push(&pairs[*at as usize])),
                None => pairs.iter().for_each(push),
            }
            let map = heap.make_map(&self.keys, &self.values);
            if self.parts.underscored {
                self.parts.repeated |= heap.map_size(map) != Some(self.keys.len());
            }
            map
        } else {
            heap.make_list(items)
        };
        self.stack.truncate(from);
        self.stack.push(term);
        self.leave_innermost(first_id);
        Ok(())
    }

    fn spend(&mut self, bytes: usize, held: usize) -> Result<(), Stop> {
        self.work.consume_fuel_or_suspend(bytes)?;
        let open = self.parts.starts.len() * WORDS_OF_OPEN;
        self.work.check_heap_limit(self.depth() + open + held / 8)
    }

    fn count(&mut self, bytes: usize) -> Result<(), Stop> {
        self.work.consume_fuel(bytes)
    }
}

fn make_key<H: Heap>(heap: &mut H, key: &[u8], underscored: bool) -> H::Term {
    match underscored && key.contains(&b'-') {
        true => heap.make_string(&names::underscored(key)),
        false => heap.make_string(key),
    }
}
