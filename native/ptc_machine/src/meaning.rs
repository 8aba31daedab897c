//! Comparing and hashing terms that contain dates, times, decimals, names or structs, see [`ptc_term::value`].
//!
//! First the terms are searched for values, which gives the kinds of values at each position: the name
//! of the innermost field, or the top. A text or a number at a position that has values is read as
//! such a value, so that all terms of a position have one order and one hash. A name is a text at every
//! position, also as a key. A struct is a map of its fields. Terms that the heap orders and hashes alike
//! are left to it.

use super::cost::HASH;
use super::kinds::{fields, loaded, Kinds, NAMES};
use super::machine::Machine;
use crate::fault::Halt;
use memchr::memmem;
use ptc_term::heap::{Heap, Inside, Kind};
use ptc_term::value::{
    hash_of_text, mix, order_of_name, text_of_iso, with_text, Form, KindSet, Meaning, Value,
};
use std::cmp::Ordering;

/// Fuel to compare a name with a string, or to read it.
const NAME: usize = 4;

/// Fuel to write the text of a date or a time, and its words.
const ISO_TEXT: usize = 4;
const WORDS_OF_ISO_TEXT: usize = 8;

/// Returns the meaning of a term at a position with values of these kinds.
fn meaning<H: Heap>(heap: &H, term: H::Term, kinds: KindSet) -> Option<Meaning> {
    match heap.kind(term) {
        Kind::Map if heap.form(term) == Form::Value => Meaning::of_value(heap, heap.value(term)),
        _ if kinds.is_empty() => None,
        kind => Meaning::among(heap, term, kind, kinds),
    }
}

/// Returns the order of two terms by their meaning; `Equal` is `==`, or `===` if `strict`.
pub fn order<H: Heap>(heap: &H, kinds: &Kinds, a: H::Term, b: H::Term, strict: bool) -> Ordering {
    let mut todo = vec![(a, b, None)];
    while let Some((a, b, field)) = todo.pop() {
        if heap.identity(a) == heap.identity(b) {
            continue;
        }
        let (a, b) = (loaded(heap, a), loaded(heap, b));
        let here = kinds.below(heap, field);
        let (x, y) = (meaning(heap, a, here), meaning(heap, b, here));
        let of = (heap.kind(a), heap.kind(b));
        if let Some(order) = Meaning::order_of((x.as_ref(), of.0), (y.as_ref(), of.1)) {
            match order {
                Ordering::Equal => continue,
                order => return order,
            }
        }
        match order_of_name(heap, a, b) {
            Some(Ordering::Equal) => continue,
            Some(order) => return order,
            None => {}
        }
        let order = match of {
            (Kind::List, Kind::List) => match (heap.uncons(a), heap.uncons(b)) {
                (Some((head_a, tail_a)), Some((head_b, tail_b))) => {
                    todo.extend([(tail_a, tail_b, field), (head_a, head_b, field)]);
                    continue;
                }
                _ => heap.compare(a, b),
            },
            (Kind::Map, Kind::Map) => {
                let (a, b) = (sorted(heap, a), sorted(heap, b));
                let keys = a
                    .iter()
                    .zip(&b)
                    .map(|((a, _), (b, _))| key_order(heap, *a, *b));
                let order = a.len().cmp(&b.len());
                let order = order.then_with(|| keys.fold(Ordering::Equal, Ordering::then));
                if order.is_eq() {
                    let pairs = a.iter().zip(&b).rev();
                    todo.extend(pairs.map(|((key, a), (_, b))| (*a, *b, Some(*key))));
                    continue;
                }
                order
            }
            (Kind::Other, Kind::Other) => match (heap.inside(a), heap.inside(b)) {
                (Inside::Elements(a), Inside::Elements(b)) if a.len() == b.len() => {
                    let pairs = a.iter().zip(b).rev();
                    todo.extend(pairs.map(|(a, b)| (*a, *b, field)));
                    continue;
                }
                _ => heap.compare(a, b),
            },
            _ => heap.compare(a, b),
        };
        match order {
            Ordering::Equal if strict && !heap.identical(a, b) => return Ordering::Less,
            Ordering::Equal => {}
            order => return order,
        }
    }
    Ordering::Equal
}

/// Returns the entries of a map in the order in which maps are compared.
fn sorted<H: Heap>(heap: &H, map: H::Term) -> Vec<(H::Term, H::Term)> {
    let mut entries = fields(heap, map);
    // A name comes before its string.
    let rank = |key| !heap.is_name(key);
    entries.sort_by(|(a, _), (b, _)| key_order(heap, *a, *b).then(rank(*a).cmp(&rank(*b))));
    entries
}

/// Returns the order of two keys: integers come before floats, and no two keys are equal but a name and
/// its string.
fn key_order<H: Heap>(heap: &H, a: H::Term, b: H::Term) -> Ordering {
    if let Some(order) = order_of_name(heap, a, b) {
        return order;
    }
    match heap.compare(a, b) {
        Ordering::Equal if heap.identical(a, b) => Ordering::Equal,
        Ordering::Equal => match (heap.float(a).is_some(), heap.float(b).is_some()) {
            (false, true) => Ordering::Less,
            (true, false) => Ordering::Greater,
            // Parts of the keys differ only in the kind of a number.
            _ => heap.hash(a, NAMES).cmp(&heap.hash(b, NAMES)),
        },
        order => order,
    }
}

/// Returns a hash that is equal for terms that are equal by [`order`], strictly.
pub fn hash<H: Heap>(heap: &H, kinds: &Kinds, term: H::Term, seed: u64) -> u64 {
    let (mut sum, mut todo) = (0u64, vec![(term, None, seed)]);
    while let Some((term, field, path)) = todo.pop() {
        let term = loaded(heap, term);
        let part = match meaning(heap, term, kinds.below(heap, field)) {
            Some(meaning) => meaning.hash(seed),
            None => match heap.kind(term) {
                Kind::List => match heap.uncons(term) {
                    Some((head, tail)) => {
                        todo.push((tail, field, mix(path, 1)));
                        todo.push((head, field, mix(path, 2)));
                        3
                    }
                    None => heap.hash(term, seed),
                },
                Kind::Map => {
                    let entries = fields(heap, term);
                    todo.extend(entries.iter().map(|(key, value)| {
                        let path = mix(path, hash_of_text(heap, *key, seed));
                        (*value, Some(*key), path)
                    }));
                    5 + entries.len() as u64
                }
                _ => match heap.inside(term) {
                    Inside::Elements(elements) => {
                        let parts = elements.iter().enumerate();
                        let path = |place| mix(path, 16 + place as u64);
                        todo.extend(parts.map(|(place, part)| (*part, field, path(place))));
                        7 + elements.len() as u64
                    }
                    _ => hash_of_text(heap, term, seed),
                },
            },
        };
        // The entries of equal maps can come in different orders.
        sum = sum.wrapping_add(mix(path, part));
    }
    sum
}

impl<H: Heap> Machine<'_, H> {
    /// Returns the kind of a term: a date, a time or a decimal is not a map where it is a value.
    #[inline]
    pub fn kind(&self, term: H::Term) -> Kind {
        match self.heap.kind(term) {
            Kind::Map if self.values && self.heap.form(term) == Form::Value => Kind::Other,
            kind => kind,
        }
    }

    /// See [`Program::values`](crate::program::Program::values).
    #[inline]
    pub fn values(&self) -> bool {
        self.values
    }

    /// Returns whether the term is a date, a time or a decimal, and these are values.
    #[inline]
    pub fn is_value(&self, term: H::Term) -> bool {
        self.values && self.heap.kind(term) == Kind::Map && self.heap.form(term) == Form::Value
    }

    /// Returns the value if the term is one.
    pub fn value(&self, term: H::Term) -> Option<Value<H::Term>> {
        self.is_value(term).then(|| self.heap.value(term))
    }

    /// Returns whether an order of two terms says something: both are numbers, strings, booleans, lists or maps. Where
    /// there are values, a name is a string, and a value is like what has the same meaning beside it.
    pub fn are_alike(&self, a: H::Term, b: H::Term) -> bool {
        let text = |term| match self.kind(term) {
            Kind::Other if self.values && self.heap.is_name(term) => Kind::String,
            kind => kind,
        };
        let has = |kinds, other| meaning(self.heap, other, kinds).is_some();
        match (self.kinds_of(a), self.kinds_of(b)) {
            (Some(a), Some(b)) => a == b,
            (Some(kinds), None) => has(kinds, b),
            (None, Some(kinds)) => has(kinds, a),
            (None, None) => {
                let kind = text(a);
                kind == text(b) && !matches!(kind, Kind::Nil | Kind::Other)
            }
        }
    }

    /// Returns the kind of a value; `None` if the term is none.
    fn kinds_of(&self, term: H::Term) -> Option<KindSet> {
        self.value(term).map(|value| value.kinds())
    }

    /// Returns whether a map is a struct some of whose keys are not fields.
    pub fn hides(&self, map: H::Term) -> bool {
        self.values && self.heap.form(map) != Form::Plain
    }

    /// Returns the order of two terms by their meaning, see [`Machine::order_by_meaning`]; `None` if the
    /// heap has the same order.
    #[inline(never)]
    pub(super) fn order_of_both(
        &mut self,
        a: H::Term,
        b: H::Term,
        strict: bool,
    ) -> Result<Option<Ordering>, Halt<H::Term>> {
        let is_value = self.is_value(a) || self.is_value(b);
        if !is_value && self.heap.is_name(a) != self.heap.is_name(b) {
            self.consume_fuel(NAME)?;
            self.consume_fuel_to_copy(a)?;
            self.consume_fuel_to_copy(b)?;
            return Ok(order_of_name(self.heap, a, b));
        }
        let has_parts = |kind| matches!(kind, Kind::List | Kind::Map | Kind::Other);
        let (x, y) = (self.heap.kind(a), self.heap.kind(b));
        if !is_value && (x != y || !has_parts(x)) {
            return Ok(None);
        }
        let mut kinds = Kinds::default();
        self.search(&mut kinds, a)?;
        self.search(&mut kinds, b)?;
        match kinds.is_empty() {
            true => Ok(None),
            false => self.order_by_meaning(&kinds, a, b, strict).map(Some),
        }
    }

    /// Returns whether `whole`, which is a name, contains `part`; `None` unless both are texts.
    pub(super) fn name_has_part(
        &mut self,
        whole: H::Term,
        part: H::Term,
    ) -> Result<Option<bool>, Halt<H::Term>> {
        self.consume_fuel(NAME)?;
        self.consume_fuel_to_copy(part)?;
        let heap = &*self.heap;
        Ok(with_text(heap, part, |part| {
            heap.with_name(whole, |whole| {
                part.len() <= whole.len() && memmem::find(whole, part).is_some()
            })
        }))
    }

    /// Returns the string of a name, and every other term itself.
    pub fn string_of_name(&mut self, term: H::Term) -> H::Term {
        if !self.heap.is_name(term) {
            return term;
        }
        let name = self.heap.with_name(term, <[u8]>::to_vec);
        self.heap.make_string(&name)
    }

    /// Returns the string that a term is where structs are values: the name of an atom, the ISO 8601 text of a date or a time;
    /// `None` for all other terms, and where structs are no values.
    pub fn text_of_value(&mut self, term: H::Term) -> Result<Option<H::Term>, Halt<H::Term>> {
        if !self.values {
            return Ok(None);
        }
        if self.heap.is_name(term) {
            return Ok(Some(self.string_of_name(term)));
        }
        let Some(text) = self.iso_text(term) else {
            return Ok(None);
        };
        self.consume_fuel_at_once(ISO_TEXT)?;
        self.check_heap_limit(WORDS_OF_ISO_TEXT)?;
        Ok(Some(self.heap.make_string(&text)))
    }

    /// Returns whether [`Machine::text_of_value`] has a string for the term.
    pub fn has_text(&self, term: H::Term) -> bool {
        self.values && (self.heap.is_name(term) || self.iso_text(term).is_some())
    }

    fn iso_text(&self, term: H::Term) -> Option<Vec<u8>> {
        match self.value(term) {
            Some(Value::Iso(iso)) => text_of_iso(iso),
            _ => None,
        }
    }

    /// Returns the order of two terms of which one is a date or a time, and the other one a text that an ISO 8601 text begins with
    /// (`2024-02`). `None` for all other terms, and where structs are no values.
    pub fn order_of_beginning(
        &mut self,
        a: H::Term,
        b: H::Term,
    ) -> Result<Option<Ordering>, Halt<H::Term>> {
        let (iso, text, turned) = match (self.value(a), self.value(b)) {
            (Some(Value::Iso(iso)), None) => (iso, b, false),
            (None, Some(Value::Iso(iso))) => (iso, a, true),
            _ => return Ok(None),
        };
        self.consume_fuel(NAME)?;
        self.consume_fuel_to_copy(text)?;
        let order = |text: &[u8]| Meaning::order_of_beginning(iso, text);
        let order = with_text(self.heap, text, order).flatten();
        Ok(match turned {
            true => order.map(Ordering::reverse),
            false => order,
        })
    }

    /// Returns the order of two terms that have values of these kinds; `Equal` is `==`, or `===` if
    /// `strict`.
    pub(crate) fn order_by_meaning(
        &mut self,
        kinds: &Kinds,
        a: H::Term,
        b: H::Term,
        strict: bool,
    ) -> Result<Ordering, Halt<H::Term>> {
        let cost = self.weigh(a)? + self.weigh(b)?;
        self.consume_fuel_at_once(2 * HASH * cost)?;
        Ok(order(self.heap, kinds, a, b, strict))
    }

    /// Returns the cost of the meaning of a term itself, and its meaning.
    pub(crate) fn meaning_at_top(
        &mut self,
        kinds: &Kinds,
        term: H::Term,
    ) -> Result<Option<Meaning>, Halt<H::Term>> {
        let cost = self.weigh(term)?;
        self.consume_fuel_at_once(HASH * cost)?;
        Ok(meaning(self.heap, term, kinds.at_top()))
    }
}
