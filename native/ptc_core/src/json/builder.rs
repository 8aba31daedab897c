//! JSON events to terms, without anything between.

use super::keys::{KeyId, Keys};
use super::{Sink, Text};
use crate::heap::Heap;
use crate::number::Number;

/// Builds one term out of the events of one value.
pub struct TermBuilder<'h, 't, H: Heap> {
    heap: &'h mut H,
    /// Finished values of the open containers; in an object, keys and values in turn.
    stack: Vec<H::Term>,
    /// Where each open container's part of the stack starts, and its part of `ids`.
    starts: Vec<(usize, usize)>,
    known: Keys<'t, H::Term>,
    /// The keys of the open objects, as far as they have ids.
    ids: Vec<KeyId>,
    // Reused by one object after another.
    keys: Vec<H::Term>,
    values: Vec<H::Term>,
    hyphens: bool,
    /// Keys are made with underscores for hyphens.
    underscored: bool,
    repeated: bool,
}

impl<'h, H: Heap> TermBuilder<'h, '_, H> {
    /// A builder that has seen nothing.
    pub fn new(heap: &'h mut H) -> Self {
        TermBuilder {
            heap,
            stack: Vec::new(),
            starts: Vec::new(),
            known: Keys::new(),
            ids: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
            hyphens: false,
            underscored: false,
            repeated: false,
        }
    }

    /// The same with underscores for the hyphens of keys.
    pub fn underscored(heap: &'h mut H) -> Self {
        TermBuilder {
            underscored: true,
            ..TermBuilder::new(heap)
        }
    }

    /// Whether two keys of an object became one; only known of underscored ones.
    pub fn has_repeated(&self) -> bool {
        self.repeated
    }

    /// Whether a key had a hyphen.
    pub fn has_hyphens(&self) -> bool {
        self.hyphens
    }

    /// The term, once its last event has been seen.
    pub fn finish(mut self) -> H::Term {
        self.stack.pop().unwrap_or(self.heap.nil())
    }

    fn push_number(&mut self, number: Number) {
        let term = self.heap.make_number(number);
        self.stack.push(term.unwrap_or(self.heap.nil()));
    }
}

impl<'t, H: Heap> Sink<'t> for TermBuilder<'_, 't, H> {
    fn null(&mut self) {
        self.stack.push(self.heap.nil());
    }

    fn boolean(&mut self, value: bool) {
        self.stack.push(self.heap.boolean(value));
    }

    fn integer(&mut self, value: i64) {
        self.push_number(Number::Int(value));
    }

    fn big_integer(&mut self, digits: &'t str) {
        self.push_number(Number::from_digits(digits.as_bytes()));
    }

    fn float(&mut self, value: f64) {
        self.push_number(Number::Float(value));
    }

    fn string(&mut self, text: Text<'t, '_>) {
        let term = self.heap.make_string(text.bytes());
        self.stack.push(term);
    }

    fn key(&mut self, text: Text<'t, '_>) {
        // A key with escapes is too rare to be looked for.
        let Text::Source(bytes) = text else {
            self.hyphens |= text.bytes().contains(&b'-');
            let term = make_key(self.heap, text.bytes(), self.underscored);
            return self.stack.push(term);
        };
        let (heap, hyphens, underscored) = (&mut *self.heap, &mut self.hyphens, self.underscored);
        let (id, term) = self.known.intern(bytes, || {
            *hyphens |= bytes.contains(&b'-');
            make_key(heap, bytes, underscored)
        });
        self.ids.extend(id);
        self.stack.push(term);
    }

    fn open(&mut self, _object: bool) {
        self.starts.push((self.stack.len(), self.ids.len()));
    }

    fn close(&mut self, object: bool) {
        let (start, first_id) = self.starts.pop().unwrap_or_default();
        let items = &self.stack[start..];
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
            let map = self.heap.make_map(&self.keys, &self.values);
            if self.underscored {
                self.repeated |= self.heap.map_size(map) != Some(self.keys.len());
            }
            map
        } else {
            self.heap.make_list(items)
        };
        self.ids.truncate(first_id);
        self.stack.truncate(start);
        self.stack.push(term);
    }
}

fn make_key<H: Heap>(heap: &mut H, key: &[u8], underscored: bool) -> H::Term {
    if !underscored || !key.contains(&b'-') {
        return heap.make_string(key);
    }
    let swap = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
    let key: Vec<u8> = key.iter().map(swap).collect();
    heap.make_string(&key)
}
