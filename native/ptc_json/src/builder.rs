//! Sink that builds terms directly from JSON events.

use super::digits::keeps_value;
use super::keys::{KeyId, Keys};
use super::{Sink, Text};
use ptc_term::digits::Digits;
use ptc_term::heap::Heap;
use ptc_term::names;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::roots::{room, Roots};
use ptc_term::stop::Stop;
use ptc_term::suspend::One;
use ptc_term::workspace::Workspace;

/// From this length on, in bytes, a string is counted separately.
const LONG: usize = 4096;
/// Maximum size of a map that is built in one call and counted with its text.
const FEW: usize = 1024;
/// Maximum number of items of a list that is built in one call and counted with its text.
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
    value: PartialValue<H::Term>,
    known: Keys<'t, H::Term>,
    /// The keys of the open objects that have ids.
    ids: Vec<KeyId>,
    // Reused for each object.
    keys: Vec<H::Term>,
    values: Vec<H::Term>,
}

/// A value that is partly built.
#[derive(Debug)]
pub struct PartialValue<T> {
    /// Finished values of the open containers; in an object, keys and values alternate.
    stack: Roots<T>,
    /// The end of a list that is being built from its end.
    tail: Option<One<T>>,
    /// The start of each open container's part of the stack, and of its part of the ids.
    starts: Vec<(usize, usize)>,
    /// Number of open containers without a part of the ids.
    forgotten: usize,
    hyphens: bool,
    /// Keys are built with underscores for hyphens.
    underscored: bool,
    repeated: bool,
    /// A number that is not the value of its double is the tuple of the double and its digits.
    exact: bool,
    /// An integer that is being read.
    digits: Option<Box<Digits>>,
}

rooted!(PartialValue { states: stack, tail; plain: starts, forgotten, hyphens, underscored, repeated, exact, digits });

impl<T> Default for PartialValue<T> {
    fn default() -> Self {
        PartialValue {
            stack: Roots::default(),
            tail: None,
            starts: Vec::new(),
            forgotten: 0,
            hyphens: false,
            underscored: false,
            repeated: false,
            exact: false,
            digits: None,
        }
    }
}

impl<T> PartialValue<T> {
    /// Creates a value before its first event. `exact`: a number with a fraction or an exponent that is not the value of its double is
    /// the tuple of the double and its digits; no JSON value is a tuple.
    pub fn new(exact: bool) -> Self {
        PartialValue {
            exact,
            ..PartialValue::default()
        }
    }
}

impl<'w, H: Heap> TermBuilder<'w, '_, H> {
    /// Creates a builder before the first event.
    pub fn new(work: Workspace<'w, H>) -> Self {
        TermBuilder::resume(work, PartialValue::default())
    }

    /// Same as `new`, with underscores for the hyphens of keys.
    pub fn underscored(work: Workspace<'w, H>) -> Self {
        let mut builder = TermBuilder::new(work);
        builder.value.underscored = true;
        builder
    }

    /// Resumes the building of a value. The cache of keys is empty.
    pub fn resume(work: Workspace<'w, H>, value: PartialValue<H::Term>) -> Self {
        TermBuilder {
            work,
            value,
            known: Keys::new(),
            ids: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns what is built so far; [`TermBuilder::resume`] continues from there.
    pub fn into_partial(mut self) -> PartialValue<H::Term> {
        // The key order of an object is unknown if only some of its keys have ids: see `close`.
        self.value.forgotten = self.value.starts.len();
        self.value
    }

    /// Returns whether two keys of an object became equal; known only for underscored keys.
    pub fn has_repeated(&self) -> bool {
        self.value.repeated
    }

    /// Returns whether a key had a hyphen.
    pub fn has_hyphens(&self) -> bool {
        self.value.hyphens
    }

    /// Returns the term after its last event.
    pub fn finish(mut self) -> H::Term {
        self.take()
    }

    /// Same as `finish`, but keeps the builder.
    pub fn take(&mut self) -> H::Term {
        self.value.stack.pop(self.work.heap)
    }

    /// Counts other work; `leave`: at a point where the builder can be suspended.
    pub fn count(&mut self, units: usize, leave: bool) -> Result<(), Stop> {
        match leave {
            true => self.work.consume_fuel_or_suspend(units),
            false => self.work.consume_fuel(units),
        }
    }

    /// Checks the heap limit for all terms built so far.
    pub fn check_heap_limit(&self) -> Result<(), Stop> {
        self.work.check_heap_limit(0)
    }

    /// Resets the builder.
    pub fn clear(&mut self) {
        self.ids.clear();
        // For a cached key, the hyphen is not reported again.
        self.known = Keys::new();
        self.value = PartialValue {
            underscored: self.value.underscored,
            exact: self.value.exact,
            ..PartialValue::default()
        };
    }

    /// Returns the start of the innermost open container's parts of the stack and of the ids.
    #[inline]
    fn innermost(&self) -> (usize, usize) {
        let starts = &self.value.starts;
        let (start, first_id) = starts.last().copied().unwrap_or_default();
        match starts.len() > self.value.forgotten {
            true => (start, first_id),
            false => (start, 0),
        }
    }

    #[inline]
    fn leave_innermost(&mut self, first_id: usize) {
        self.ids.truncate(first_id);
        self.value.starts.pop();
        self.value.forgotten = self.value.forgotten.min(self.value.starts.len());
    }

    fn depth(&self) -> usize {
        self.value.stack.len()
    }

    #[inline]
    fn push(&mut self, term: H::Term) {
        self.value.stack.push(term);
    }

    fn push_number(&mut self, number: Number) {
        let heap = &mut *self.work.heap;
        let term = heap.make_number(number).unwrap_or(heap.nil());
        self.push(term);
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
        let mut tail = match self.value.tail {
            Some(One(tail)) => tail,
            None => {
                let words = 2 * (self.depth() - start);
                self.work.check_heap_limit(words)?;
                self.work.heap.make_list(&[])
            }
        };
        while self.depth() > start {
            self.value.tail = Some(One(tail));
            self.work.consume_fuel_or_suspend(FEW)?;
            let from = self.depth().saturating_sub(FEW).max(start);
            let items = self.value.stack.since(from, self.work.heap);
            tail = self.work.heap.make_list_onto(items, tail);
            self.value.stack.truncate(from, self.work.heap);
        }
        self.value.tail = None;
        self.push(tail);
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
        self.push(self.work.heap.nil());
    }

    #[inline]
    fn boolean(&mut self, value: bool) {
        self.push(self.work.heap.boolean(value));
    }

    #[inline]
    fn integer(&mut self, value: i64) {
        self.push_number(Number::Int(value));
    }

    fn big_integer(&mut self, token: &'t str) -> Result<(), Stop> {
        let count = token.len() - usize::from(token.starts_with('-'));
        let digits = match self.value.digits.as_mut() {
            Some(digits) => digits,
            None => {
                self.work.check_heap_limit(Digits::words(count))?;
                self.work.check_time_left(Digits::least_time(count))?;
                self.value.digits.insert(Box::new(Digits::new(count)))
            }
        };
        let work = &mut self.work;
        let value = digits.read(token.as_bytes(), |cost| work.consume_fuel_or_suspend(cost))?;
        self.value.digits = None;
        self.push_number(Number::from_big(value));
        Ok(())
    }

    #[inline]
    fn float(&mut self, value: f64) {
        self.push_number(Number::Float(value));
    }

    fn decimal(&mut self, digits: &str, value: f64) {
        self.push_number(Number::Float(value));
        if self.value.exact && !keeps_value(digits, value) {
            let heap = &mut *self.work.heap;
            let float = self.value.stack.pop(heap);
            let digits = heap.make_string(digits.as_bytes());
            let exact = heap.make_tuple(&[float, digits]);
            self.push(exact);
        }
    }

    #[inline]
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        let bytes = text.bytes();
        if bytes.len() > LONG {
            self.check_long(bytes.len())?;
        }
        let term = self.work.heap.make_string(bytes);
        self.push(term);
        Ok(())
    }

    #[inline]
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        let value = &mut self.value;
        // A key with escapes is too rare for the cache.
        let Text::Source(bytes) = text else {
            value.hyphens |= text.bytes().contains(&b'-');
            let term = make_key(self.work.heap, text.bytes(), value.underscored);
            self.push(term);
            return Ok(());
        };
        if bytes.len() > LONG {
            self.check_long(bytes.len())?;
        }
        let value = &mut self.value;
        let heap = &mut *self.work.heap;
        let (hyphens, underscored) = (&mut value.hyphens, value.underscored);
        let (id, term) = self.known.intern(bytes, || {
            *hyphens |= bytes.contains(&b'-');
            make_key(heap, bytes, underscored)
        });
        self.ids.extend(id);
        self.push(term);
        Ok(())
    }

    #[inline]
    fn open(&mut self, _object: bool) {
        self.value.starts.push((self.depth(), self.ids.len()));
    }

    #[inline]
    fn close(&mut self, object: bool) -> Result<(), Stop> {
        let (start, first_id) = self.innermost();
        let count = self.depth() - start;
        // A list that is partly built may be short by now.
        if !object && (count > FEW_ITEMS || self.value.tail.is_some()) {
            self.close_long(start)?;
            self.leave_innermost(first_id);
            return Ok(());
        }
        if object && count > 2 * FEW {
            self.check_large(count / 2)?;
        }
        let items = &*self.value.stack.since(start, self.work.heap);
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
            if self.value.underscored {
                self.value.repeated |= heap.map_size(map) != Some(self.keys.len());
            }
            map
        } else {
            heap.make_list(items)
        };
        self.value.stack.truncate(start, self.work.heap);
        self.push(term);
        self.leave_innermost(first_id);
        Ok(())
    }

    fn consume_fuel(&mut self, bytes: usize, held: usize) -> Result<(), Stop> {
        self.work.consume_fuel_or_suspend(bytes)?;
        let open = room(&self.value.starts) * WORDS_OF_OPEN;
        let ids = room(&self.ids) * size_of::<KeyId>() / 8;
        let stack = self.value.stack.words();
        self.work.check_heap_limit(stack + open + ids + held / 8)
    }
}

fn make_key<H: Heap>(heap: &mut H, key: &[u8], underscored: bool) -> H::Term {
    match underscored && key.contains(&b'-') {
        true => heap.make_string(&names::underscored(key)),
        false => heap.make_string(key),
    }
}
